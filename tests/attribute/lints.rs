//! What the compiler and clippy say about a fn, they say about the limited one: nothing more and nothing less.
//!
//! An `expect` is fulfilled by a warning, and complained of where there is none.
#![allow(
    clippy::unnecessary_wraps,
    reason = "what is limited returns a `Result`"
)]

use resilience::adaptive_limit;

use crate::support::{Fail, block_on, scoped};

/// The same fns with and without the attribute.
macro_rules! both {
    ($($(#[$attr:meta])* $([$asyncness:tt])? fn $name:ident($($args:tt)*) $body:block)*) => {
        #[allow(dead_code)]
        mod plain {
            use super::*;
            $($(#[$attr])* $($asyncness)? fn $name($($args)*) -> Result<u32, Fail> $body)*
        }
        mod limited {
            use super::*;
            $(
                $(#[$attr])*
                #[adaptive_limit]
                pub(super) $($asyncness)? fn $name($($args)*) -> Result<u32, Fail> $body
            )*
        }
    };
}

both! {
    fn unused(#[expect(unused_variables)] id: u32, other: String) {
        drop(other);
        Ok(1)
    }
    fn unused_mut(#[expect(unused_mut)] mut id: u32) {
        Ok(id)
    }
    #[expect(unused_variables, unused_assignments)]
    fn never_read(mut id: u32) {
        id = 1;
        Ok(1)
    }
    #[expect(unused_assignments)]
    fn replaced(mut id: u32) {
        id = 1;
        Ok(id)
    }
    #[expect(unused_assignments)]
    fn replaced_at_last(mut id: u32, mut text: &str) {
        let length = text.len() as u32 + id;
        id = length;
        text = "";
        Ok(length)
    }
    [async] fn unused_later(#[expect(unused_variables)] id: String, other: String) {
        drop(other);
        Ok(1)
    }
    [async] fn unused_behind_later(other: String, #[expect(unused_variables)] id: String) {
        drop(other);
        Ok(1)
    }
    [async] fn unused_mut_later(#[expect(unused_mut, reason = "a test")] mut id: String, _other: String) {
        Ok(id.len() as u32)
    }
    #[expect(unused_assignments)]
    [async] fn never_read_later(
        #[expect(unused_variables)] mut id: u32,
        #[expect(unused)] mut text: String,
    ) {
        id = 1;
        text = String::new();
        Ok(1)
    }
    [async] fn replaced_later(#[expect(unused_assignments)] mut id: u32) {
        id = 1;
        Ok(id)
    }
    // One of the two is enough.
    [async] fn pattern_later(#[expect(unused_mut)] (mut first, mut last): (String, String)) {
        last.push('a');
        Ok((first.len() + last.len()) as u32)
    }
    // A lint of the argument's name, beside one of its use.
    [async] fn of_the_name_later(
        #[cfg_attr(all(), expect(non_snake_case, unused_mut))] mut First: Vec<u32>,
        #[expect(non_snake_case)] Other: String,
        #[expect(non_snake_case)] mut Last: String,
    ) {
        Last.push_str(&Other);
        Ok((First.len() + Last.len()) as u32)
    }
}

// What may have something to drop stays outside of the body, where the compiler is silent about it. This is documented.
#[adaptive_limit]
fn never_read_and_dropped(mut text: String) -> Result<u32, Fail> {
    text = String::new();
    Ok(1)
}

#[test]
fn warnings_stay() {
    let s = String::new;
    scoped(|_| {
        assert_eq!(limited::unused(1, s()).ok(), Some(1));
        assert_eq!(limited::unused_mut(2).ok(), Some(2));
        assert_eq!(limited::never_read(2).ok(), Some(1));
        assert_eq!(limited::replaced(2).ok(), Some(1));
        assert_eq!(limited::replaced_at_last(1, "ab").ok(), Some(3));
        assert_eq!(block_on(limited::unused_later(s(), s())).ok(), Some(1));
        assert_eq!(
            block_on(limited::unused_behind_later(s(), s())).ok(),
            Some(1)
        );
        assert_eq!(block_on(limited::unused_mut_later(s(), s())).ok(), Some(0));
        assert_eq!(block_on(limited::never_read_later(2, s())).ok(), Some(1));
        assert_eq!(block_on(limited::replaced_later(2)).ok(), Some(1));
        assert_eq!(block_on(limited::pattern_later((s(), s()))).ok(), Some(1));
        let of_the_name = limited::of_the_name_later(vec![1], s(), s());
        assert_eq!(block_on(of_the_name).ok(), Some(1));
        assert_eq!(never_read_and_dropped(s()).ok(), Some(1));
    });
}
