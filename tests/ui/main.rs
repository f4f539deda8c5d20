//! What the attribute says about mistakes, and where it points.

use std::process::Command;

/// The compiler whose own words stand beside the attribute's in the recorded messages.
const RECORDED_WITH: &str = "rustc 1.95.";

#[test]
fn messages() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .expect("cargo ran rustc before")
        .stdout;
    let version = String::from_utf8_lossy(&version);
    let cases = trybuild::TestCases::new();
    cases.pass("ui/pass/*.rs");
    if version.starts_with(RECORDED_WITH) {
        cases.compile_fail("ui/fail/*.rs");
    } else {
        // Other compilers word and place their part differently.
        eprintln!(
            "the messages were recorded with {RECORDED_WITH}x and are not compared with those of {version}"
        );
    }
}
