//! Whatever stands in the attribute and under it, the item is still there afterwards and nothing panics.

use proc_macro2::TokenStream;

use crate::expansion;

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
