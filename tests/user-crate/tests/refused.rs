//! A codelet that does not fit its C kernel does not compile, and the message names both.

#[test]
fn messages_name_kernel_and_codelet() {
    trybuild::TestCases::new().compile_fail("tests/mismatch/*.rs");
}
