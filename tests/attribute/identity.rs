//! The ids of limits without a name.

use resilience::adaptive_limit;

use crate::support::{Fail, scoped};

struct Generic<T>(T);

trait Call {
    fn call(&self) -> Result<(), Fail>;
    #[adaptive_limit]
    fn default_call(&self) -> Result<(), Fail> {
        Ok(())
    }
}

impl<T> Generic<T> {
    #[adaptive_limit]
    fn call(&self) -> Result<&T, Fail> {
        Ok(&self.0)
    }
}

impl<T> Call for Generic<T> {
    #[adaptive_limit]
    fn call(&self) -> Result<(), Fail> {
        Ok(())
    }
}

impl Call for u32 {
    #[adaptive_limit]
    fn call(&self) -> Result<(), Fail> {
        Ok(())
    }
}

#[adaptive_limit]
fn call() -> Result<(), Fail> {
    Ok(())
}

#[test]
fn every_fn_has_its_path() {
    let paths = scoped(|registry| {
        let _ = call();
        let _ = Generic(1).call();
        let _ = Generic("a").call();
        let _ = Call::call(&Generic(1));
        let _ = Call::call(&1_u32);
        let _ = 1_u32.default_call();
        let _ = Generic(1).default_call();
        registry
            .snapshot()
            .limits
            .iter()
            .map(|limit| limit.id.to_string())
            .collect::<Vec<_>>()
    });
    let expected = [
        "<attribute::identity::Generic<_> as attribute::identity::Call>::call",
        "<u32 as attribute::identity::Call>::call",
        "attribute::identity::Call::default_call",
        "attribute::identity::Generic<_>::call",
        "attribute::identity::call",
    ];
    assert_eq!(paths, expected);
}
