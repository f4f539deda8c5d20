//! Options that do not exist, are given twice or have no value.

use resilience::{Error, adaptive_limit};

#[adaptive_limit(nmae = "a", maxLimit = 5, max_wayt = "1s", colour = "red")]
fn unknown() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(min_window_samples = 5, latency_treshold = "1s", smoothing)]
fn configured() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(name = "a", max_limit = 5, name = "b")]
fn twice() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit("orders")]
fn no_key() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(name, config =, max_limit(5), min_limit = 1 initial_limit = 0, enabled = +)]
fn no_value() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(name = "", config = "  ", algorithm = "")]
fn empty() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(name = 5, config = !"a", algorithm = "gradient", enabled = "yes")]
fn wrong_kind() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(algorithm = "Gradient_2", window = "2s")]
fn algorithms_ignore_case() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(algorithm = "pid")]
fn unknown_algorithm() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(drop_on = Error, drop_if = |_| true, rejected = "path", crate = "resilience")]
fn no_paths() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(
    drop_if = |output: &Result<_, _>| {
        output.is_err()
    },
    enabled = cfg!(test) && !cfg!(miri)
)]
fn shown_as_written() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(backoff_ratio = 0.5, algorithm = "aimd", alpha = 3, min_window_sampels = 5)]
fn options_of_an_algorithm() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(drop_on = [1 +, Error])]
fn no_pattern() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(drop_on = [Error::Status(s) if s >= 500], max_limit = 0)]
fn pattern_with_a_guard() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(max_limit = 5, drop_on = [Error |], enabled = true)]
fn half_a_pattern() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(name = "a"b, config = "c"d, algorithm = "aimd"e, window = "1s"f)]
fn suffixes() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(crate = some thing)]
fn no_crate() -> Result<(), Error> {
    Ok(())
}

#[adaptive_limit(crate = <u32 as Trait>::module)]
fn no_module() -> Result<(), Error> {
    Ok(())
}

fn main() {
    let _ = algorithms_ignore_case();
    let _ = (shown_as_written(), options_of_an_algorithm(), no_crate(), no_module());
}
