//! What the attribute says about mistakes, and where it points.

#[test]
fn messages() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("ui/fail/*.rs");
}
