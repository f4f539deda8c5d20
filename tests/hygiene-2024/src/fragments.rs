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

macro_rules! options {
    ($name:ident, $id:expr, $algorithm:literal, $window:literal, $most:expr, $least:tt, $($dropped:pat),*) => {
        #[adaptive_limit(
            name = $id,
            algorithm = $algorithm,
            window = $window,
            max_limit = $most,
            min_limit = $least,
            drop_on = [$($dropped),*]
        )]
        pub async fn $name() -> Result<u32, Error> {
            Ok(1)
        }
    };
}

const NAME: &str = "options";
const MOST: u32 = 40;

options!(options, NAME, "aimd", "1.5s", MOST, 2, _, _);

macro_rules! paths {
    ($name:ident, $library:path, $rejected:path, $overload:path) => {
        #[adaptive_limit(crate = $library, rejected = $rejected, drop_if = $overload)]
        pub fn $name() -> Option<u32> {
            Some(1)
        }
    };
}

paths!(paths, ::resilience, none, Option::is_none);

fn none(_: Error) -> Option<u32> {
    None
}

pub struct Client(pub u32);

macro_rules! receiver {
    ($self:ident, $more:ident: $type:ty, $body:block) => {
        impl Client {
            #[adaptive_limit]
            pub fn sync(&$self, $more: $type) -> Result<u32, Error> $body

            #[adaptive_limit]
            pub async fn later(mut $self, mut $more: $type) -> Result<u32, Error> {
                $self.0 += 1;
                $more += 1;
                $body
            }

            #[adaptive_limit]
            pub fn future(&$self, $more: $type) -> impl Future<Output = Result<u32, Error>> {
                async move $body
            }
        }
    };
}

receiver!(self, more: u32, { Ok(self.0 + more) });
