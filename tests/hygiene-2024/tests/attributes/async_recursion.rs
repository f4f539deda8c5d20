//! `#[async_recursion]`.

use ::async_recursion::async_recursion;
use resilience::{Error, adaptive_limit};

use crate::{counters, fill, now, scoped};

#[async_recursion]
#[adaptive_limit(name = "above")]
async fn above(text: &str, mut depth: u32) -> Result<usize, Error> {
    if depth == 0 {
        return Ok(text.len());
    }
    depth -= 1;
    Ok(above(text, depth).await? + 1)
}

#[adaptive_limit(name = "below")]
#[async_recursion]
async fn below(text: &str, mut depth: u32) -> Result<usize, Error> {
    if depth == 0 {
        return Ok(text.len());
    }
    depth -= 1;
    Ok(below(text, depth).await? + 1)
}

struct Tree(Vec<Tree>);

impl Tree {
    #[async_recursion(?Send)]
    #[adaptive_limit(name = "above_of_self")]
    async fn above(&self) -> Result<usize, Error> {
        let mut count = 1;
        for branch in &self.0 {
            count += branch.above().await?;
        }
        Ok(count)
    }

    #[adaptive_limit(name = "below_of_self")]
    #[async_recursion(?Send)]
    async fn below(&self) -> Result<usize, Error> {
        let mut count = 1;
        for branch in &self.0 {
            count += branch.below().await?;
        }
        Ok(count)
    }
}

#[test]
fn each_level_is_a_call() {
    scoped(|registry| {
        assert_eq!(now(above("ab", 3)).unwrap(), 5);
        assert_eq!(now(below("ab", 3)).unwrap(), 5);
        for id in ["above", "below"] {
            assert_eq!(counters(registry, id).succeeded, 4, "{id}");
            drop(fill(registry, id));
        }
        // One level more than there are slots.
        assert!(now(above("ab", 20)).unwrap_err().is_limit_exceeded());
        assert!(now(below("ab", 20)).unwrap_err().is_limit_exceeded());
    });
}

#[test]
fn methods() {
    scoped(|registry| {
        let tree = Tree(vec![Tree(vec![]), Tree(vec![Tree(vec![])])]);
        assert_eq!(now(tree.above()).unwrap(), 4);
        assert_eq!(now(tree.below()).unwrap(), 4);
        assert_eq!(counters(registry, "above_of_self").succeeded, 4);
        assert_eq!(counters(registry, "below_of_self").succeeded, 4);
    });
}
