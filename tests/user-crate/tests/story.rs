//! The crate's program, story 01, runs to its end.

use std::process::Command;

#[test]
fn the_program_runs() {
    let run = Command::new(env!("CARGO_BIN_EXE_user-crate")).output().expect("the program starts");
    let (out, error) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{error}");
    assert_eq!(out.trim(), "axpy [R, R, W]");
}
