//! Fns that `macro_rules` make of fragments, which reach the attribute in invisible groups.

use ::resilience::{Error, adaptive_limit};

macro_rules! block {
    ($name:ident, $later:ident, $body:block) => {
        #[adaptive_limit]
        pub fn $name() -> Result<u32, Error> $body

        #[adaptive_limit]
        pub async fn $later() -> Result<u32, Error> $body
    };
}

block!(block, block_later, {
    let site = 3;
    Ok(site)
});

macro_rules! expression {
    ($name:ident, $later:ident, $expression:expr) => {
        #[adaptive_limit]
        pub fn $name() -> Result<u32, Error> {
            Ok($expression * 2)
        }

        #[adaptive_limit]
        pub async fn $later() -> Result<u32, Error> {
            std::future::ready(()).await;
            Ok(2 * $expression)
        }
    };
}

expression!(expression, expression_later, 1 + 2);

// The argument's name is of the caller's and the body's own is not: they are two.
macro_rules! apart {
    ($name:ident, $later:ident, $site:ident, $expression:expr) => {
        #[adaptive_limit]
        pub fn $name($site: u32) -> Result<u32, Error> {
            let site = 100;
            let output = $expression;
            Ok(output + site)
        }

        #[adaptive_limit]
        pub async fn $later(mut $site: u32, held: Vec<u32>) -> Result<u32, Error> {
            let site = 100;
            std::future::ready(()).await;
            $site += held.len() as u32;
            let output = $expression;
            Ok(output + site)
        }
    };
}

apart!(apart, apart_later, site, site * 2);

macro_rules! whole {
    ($item:item) => {
        #[adaptive_limit]
        $item
    };
}

whole! {
    pub fn whole(output: u32) -> Result<u32, Error> {
        Ok(output)
    }
}

macro_rules! types {
    ($vis:vis $name:ident<$life:lifetime>, $pattern:pat => $value:expr, $argument:ty, $output:ty, $id:literal, $most:expr) => {
        #[adaptive_limit(name = $id, max_limit = $most)]
        $vis fn $name<$life>($pattern: $argument) -> $output {
            Ok($value)
        }

        pub mod later {
            #[super::adaptive_limit]
            pub fn $name<$life>(
                $pattern: $argument,
            ) -> std::pin::Pin<Box<dyn Future<Output = $output> + $life>> {
                Box::pin(async move { Ok($value) })
            }
        }
    };
}

types!(pub types<'a>, (first, second) => (first, second), (&'a str, u32), Result<(&'a str, u32), ::resilience::Error>, "types", 40 + 2);
