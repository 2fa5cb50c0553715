//! Every rule of a declaration has a program in `ui/fail` that breaks it, and the text of the error beside it; the
//! programs in `ui/pass` keep to the rules in unusual ways.
//!
//! `TRYBUILD=overwrite cargo test -p dahl-macros --test ui` writes the texts anew; read the difference.

#[test]
fn declarations() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}
