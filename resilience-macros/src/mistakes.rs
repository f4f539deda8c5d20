//! Whatever stands in the attribute and under it, the item is still there afterwards and nothing panics.

use proc_macro2::TokenStream;

use crate::{delegated, expansion};

const ARGS: &[&str] = &[
    "",
    ",",
    ",,,",
    "=",
    "name",
    "name =",
    "name = name = name",
    "name = \"a\" \"b\"",
    "name(\"a\")",
    "name: \"a\"",
    "\"a\"",
    "skip",
    "skip = 1, skip",
    "drop_on = [,]",
    "drop_on = [A |]",
    "drop_on = [A if b]",
    "drop_on = []]",
    "drop_on",
    "drop_if = Vec::<",
    "crate = <A as B>::c",
    "crate = crate",
    "registry = { let x = ; }",
    "registry = a, b, c",
    "max_limit = { 5 }",
    "max_limit = 1..2",
    "max_limit = --1",
    "window = \"\u{661}s\"",
    "window = \".\"",
    "window = \"340282366920938463463374607431768211456.9999999999999999h\"",
    "enabled = tru",
    "r#name = \"a\"",
    "async = 1",
    "_ = 1",
    "#[a] name = \"a\"",
    "{ } [ ] ( )",
];

const ITEMS: &[&str] = &[
    "fn f() {}",
    "fn f();",
    "fn f() { let x = ; }",
    "async fn f(mut self, _: A, (b, mut c): D, mut e: E, f: F) -> ! { self . }",
    "fn f() -> Pin<Box<dyn Future<Output = T>>> { Box::pin(async move {}) }",
    "fn f() -> Pin<Box<dyn Future<Output = T>>> { :: pin(async move {}) }",
    "fn f() -> BoxFuture<T> { pin(async {}) }",
    "fn f() -> impl Future { }",
    "fn f() { #![a] #![b] }",
    "fn f() { # }",
    "fn f() {} fn g() {}",
    "fn f(",
    "fn",
    "pub",
    "struct S;",
    "const X: u32 = 1;",
    "const fn f() {}",
    "extern crate x;",
    "extern \"C\" { fn f(); }",
    "impl S {}",
    "unsafe impl S {}",
    "impl S { const A: [u8; { 1 }] = [{ 2 }; 1]; type B = C; m! {} m!(); #[a] pub }",
    "impl S { fn f() {} }",
    "#[a] unsafe impl<const N: usize> S<{ N }> for T { #![a] fn f(&self) -> S<{ 1 }> { # } fn g(); }",
    "impl S { const fn f() {} fn g() -> ! {} }",
    "impl S { #[adaptive_limit = 1] fn f() {} #[cfg_attr] fn g() {} #[cfg_attr()] fn h() {} }",
    "impl S { # fn f( }",
    "impl S { fn }",
    "impl { } impl",
    "let x = 1;",
    "x",
    "1",
    "",
    "macro_rules! m { () => {} }",
    "trait A {}",
    "trait A = B;",
    "pub(in a::b) unsafe auto trait A<B = C, const D: usize = { 1 }>: E<F = Self::G> + ?Sized where { type H<'a>: I where Self: 'a; }",
    "trait A { fn f(&self); fn g(self: A<Self>) -> Vec<Self> { } m! {} n!(); const A: B; }",
    "trait A: { # }",
    "trait A { fn }",
    "trait A { fn f(, ); const ; type ; }",
    "#[a] #[cfg_attr] #[cfg_attr()] #[expect] pub trait A where Self: B { }",
    "trait { }",
    "trait A: + { }",
    "#[a",
    "#[a]",
];

#[test]
fn the_item_is_always_there() {
    let tokens = |text: &str| text.parse::<TokenStream>().ok();
    for args in ARGS.iter().filter_map(|args| tokens(args)) {
        for item in ITEMS.iter().filter_map(|item| tokens(item)) {
            let expanded = expansion(args.clone(), &item).to_string();
            assert!(
                !expanded.contains("report it as a bug"),
                "panicked: #[adaptive_limit({args})] {item}"
            );
            let limited = expanded.contains("__private") || expanded.contains(":: adaptive_limit");
            let refused = expanded.contains("compile_error");
            assert!(
                limited != refused,
                "#[adaptive_limit({args})] {item}\n{expanded}"
            );
            assert!(
                limited || expanded.starts_with(&item.to_string()),
                "{expanded}"
            );
        }
    }
}

const METHODS: &[&str] = &[
    "fn f(&self)",
    "async unsafe fn f<'a, T: A, const N: usize>(mut self: Box<Self>, _: T, #[cfg(a)] #[cfg(b)] (b, c): (T, &Self)) -> Option<Self> where Self: A",
    "fn f(#[cfg] a: A, self: &'a Self, ..)",
    "fn f(self: Pin<&mut Self>) -> [Self; 2]",
    "fn f() -> impl Future<Output = Self>",
    "fn f",
];

#[test]
fn the_trait_is_always_there() {
    let tokens = |text: &str| text.parse::<TokenStream>().ok();
    for args in ARGS.iter().filter_map(|args| tokens(args)) {
        for item in ITEMS.iter().filter_map(|item| tokens(item)) {
            let expanded = delegated(args.clone(), &item).to_string();
            assert!(!expanded.contains("report it as a bug"), "panicked: {item}");
            // None of these has a limit.
            assert!(expanded.contains("compile_error"), "{expanded}");
        }
        for method in METHODS {
            let item = format!(
                "pub trait A {{ #[a] #[cfg_attr(b, c, d::adaptive_limit({args}))] {method} ; }}"
            );
            let expanded = delegated(TokenStream::new(), &tokens(&item).expect("tokens"));
            let expanded = expanded.to_string();
            assert!(!expanded.contains("report it as a bug"), "panicked: {item}");
            let kept = tokens(&format!(
                "pub trait A {{ #[a] #[cfg_attr(b, c)] {method} ; }}"
            ));
            let kept = kept.expect("tokens").to_string();
            assert!(expanded.starts_with(&kept), "{expanded}");
            let limited = expanded.contains("CallSite");
            assert!(limited != expanded.contains("compile_error"), "{expanded}");
        }
    }
}
