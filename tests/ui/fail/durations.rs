//! Windows that are no durations or out of range.

use resilience::{Error, adaptive_limit};

macro_rules! windows {
    ($($name:ident: $window:expr;)*) => {
        $(
            #[adaptive_limit(window = $window)]
            fn $name() -> Result<(), Error> {
                Ok(())
            }
        )*
    };
}

windows! {
    bare: 1000;
    fraction: 1.5;
    exponent: 1e3;
    no_quotes: 500ms;
    no_quotes_fraction: 1.5s;
    no_quotes_grouped: 1_000ms;
    no_quotes_unknown_unit: 1d;
    no_unit: "10";
    no_number: "s";
    unknown_unit: "1d";
    space: "1 s";
    negative: "-1s";
    empty: "";
    too_short: "999us";
    too_long: "1.1h";
    overflow: "99999999999h";
    inexact: "0.0000000001s";
    no_string: b"1s";
    no_literal: WINDOW;
}

fn main() {}
