//! What a body may do, and what stands on the fn and its arguments.

use std::error::Error as StdError;

use resilience::{Error, adaptive_limit};

use crate::support::{block_on, pause, scoped};

#[adaptive_limit]
fn labels_and_items(steps: u32) -> Result<u32, Error> {
    use std::cmp::Ordering::*;
    fn nested() -> Option<u32> {
        None?;
        Some(1)
    }
    let closure = |value: u32| -> Option<u32> {
        if value == 0 {
            return None;
        }
        Some(value)
    };
    let mut step = 0;
    let found = 'outer: loop {
        loop {
            step += 1;
            if step > steps {
                break 'outer step;
            }
            if step.cmp(&3) == Equal {
                continue 'outer;
            }
        }
    };
    Ok(found + nested().unwrap_or(0) + closure(1).unwrap_or(0))
}

#[adaptive_limit]
async fn nested_blocks(value: u32) -> Result<u32, Error> {
    let inner = async {
        if value > 1 {
            return Err(());
        }
        pause().await;
        Ok(value)
    };
    Ok(inner.await.unwrap_or(9))
}

#[adaptive_limit]
async fn converts(
    text: &str,
) -> Result<Box<dyn Fn() -> u32 + Send>, Box<dyn StdError + Send + Sync>> {
    if text.is_empty() {
        return Err("empty".into());
    }
    let value: u32 = text.parse()?;
    Ok(Box::new(move || value))
}

#[adaptive_limit(rejected = boxed)]
async fn coerces(value: u32) -> Box<dyn Fn() -> u32> {
    if value == 0 {
        return Box::new(|| 0);
    }
    Box::new(move || value)
}

fn boxed(_: Error) -> Box<dyn Fn() -> u32> {
    Box::new(|| 0)
}

#[adaptive_limit]
async fn attributes_on_arguments(
    #[cfg(not(test))] absent: String,
    #[cfg(test)] mut present: String,
    #[allow(unused_variables)] unused: String,
    last: String,
) -> Result<String, Error> {
    present.push_str(&last);
    Ok(present)
}

#[adaptive_limit]
async fn raw_identifiers(r#type: String, mut r#fn: usize, last: String) -> Result<usize, Error> {
    r#fn += 1;
    Ok(r#type.len() + r#fn + last.len())
}

#[adaptive_limit]
async fn in_a_format_string(name: String, other: String) -> Result<String, Error> {
    pause().await;
    Ok(format!("{other}{name}"))
}

#[adaptive_limit]
fn returns_what_it_borrows<'a, 'b: 'a>(
    items: &'a mut Vec<&'b str>,
    item: &'b str,
) -> Result<&'a mut &'b str, Error> {
    items.push(item);
    Ok(items.last_mut().expect("just pushed"))
}

#[adaptive_limit]
fn higher_ranked(
    pick: &dyn for<'a> Fn(&'a str) -> &'a str,
    then: &mut dyn FnMut(),
    take: Box<dyn FnOnce() -> String>,
) -> Result<usize, Error> {
    then();
    Ok(pick(&take()).len())
}

#[track_caller]
#[adaptive_limit]
#[inline]
fn tracked(value: Option<u32>) -> Result<u32, Error> {
    Ok(value.expect("given"))
}

/// Passes as it is, and is a test as well.
#[adaptive_limit]
#[test]
fn a_test_is_a_fn() -> Result<(), Error> {
    Ok(())
}

#[test]
fn bodies_do_as_they_like() {
    scoped(|_| {
        assert_eq!(labels_and_items(5).ok(), Some(7));
        assert_eq!(block_on(nested_blocks(1)).ok(), Some(1));
        assert_eq!(block_on(nested_blocks(2)).ok(), Some(9));
        assert_eq!(block_on(converts("7")).expect("a number")(), 7);
        assert!(block_on(converts("")).is_err());
        assert!(block_on(converts("x")).is_err());
        assert_eq!(block_on(coerces(3))(), 3);
        assert_eq!(
            block_on(attributes_on_arguments(
                "a".into(),
                String::new(),
                "b".into()
            ))
            .ok()
            .as_deref(),
            Some("ab")
        );
        assert_eq!(
            block_on(raw_identifiers("a".into(), 1, "b".into())).ok(),
            Some(4)
        );
        assert_eq!(
            block_on(in_a_format_string("a".into(), "b".into()))
                .ok()
                .as_deref(),
            Some("ba")
        );
        assert_eq!(
            returns_what_it_borrows(&mut vec![], "a").ok(),
            Some(&mut "a")
        );
        let mut called = false;
        assert_eq!(
            higher_ranked(
                &|text| &text[1..],
                &mut || called = true,
                Box::new(|| "abc".into())
            )
            .ok(),
            Some(2)
        );
        assert!(called);
        assert_eq!(tracked(Some(1)).ok(), Some(1));
    });
}
