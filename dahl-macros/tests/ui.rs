//! Every rule of a declaration has a program in `ui/fail` that breaks it, and the text of the error beside it. Those that keep to
//! the rules in unusual ways are `forms.rs` and `renamed.rs`: with a program that is to compile, all of dahl would be built anew.
//!
//! `TRYBUILD=overwrite cargo test -p dahl-macros --test ui` writes the texts anew; read the difference.

#[test]
fn declarations() {
    trybuild::TestCases::new().compile_fail("tests/ui/fail/*.rs");
}
