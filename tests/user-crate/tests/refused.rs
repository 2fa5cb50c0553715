//! Every rule of a declaration has a program in `declarations` that breaks it, and one in `mismatch` whose codelet does not fit its
//! C or CUDA kernel. The text of the error is beside each. Those that keep to the rules in unusual ways are `forms` and `renamed`: a
//! program that is to compile would build all of dahl anew.
//!
//! `TRYBUILD=overwrite cargo test -p user-crate refused` writes the texts anew; read the difference.

#[test]
fn messages_name_what_is_wrong() {
    let programs = trybuild::TestCases::new();
    programs.compile_fail("tests/declarations/*.rs");
    programs.compile_fail("tests/mismatch/*.rs");
}
