//! A training that is killed at any moment and goes on has the bits of one that was not; a checkpoint is never half written.
//!
//! This program is both sides: run with `TRAIN_IN_FOLDER=FOLDER` it trains, prints a line after each step, and at the end its
//! results. Without it, it kills such programs by SIGKILL.

mod events;
mod killing;
mod training;

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    if let Some(folder) = std::env::var_os(training::FOLDER) {
        return training::run(Path::new(&folder));
    }
    let trials = vec![
        Trial::test("killed_after_steps", killing::after_steps),
        Trial::test("killed_while_it_writes_a_checkpoint", killing::while_it_writes),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
