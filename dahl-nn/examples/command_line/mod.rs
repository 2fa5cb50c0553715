//! What examples do around their work: help, errors, and a runtime with the settings of the command line.

use std::process::ExitCode;

use dahl::prelude::*;

/// Runs an example with the settings of its command line. If there are none, help is asked for.
pub(crate) fn main<S>(
    name: &str,
    help: &str,
    settings: Result<Option<S>, lexopt::Error>,
    run: impl FnOnce(&S) -> dahl::Result<()>,
) -> ExitCode {
    let settings = match settings {
        Ok(Some(settings)) => settings,
        Ok(None) => {
            println!("{help}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("{name}: {error}; --help lists the settings");
            return ExitCode::from(2);
        }
    };
    match run(&settings) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{name}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A runtime of so many CPU workers, the usual number if that is not set.
pub(crate) fn runtime(workers: Option<usize>, seed: u64) -> dahl::Result<Runtime> {
    let builder = Runtime::builder().rand_seed(seed);
    match workers {
        Some(workers) => builder.cpu_workers(workers).build(),
        None => builder.build(),
    }
}
