//! Running a program on a simulated machine when performance models know its tasks from earlier runs.

use dahl::{Machine, Runtime, RuntimeBuilder};

use crate::trouble::Trouble;

/// Runs before the one that counts: the first one measures every task on every kind of worker.
const EARLIER: usize = 4;

/// Runs `program` on `machine`, with `settings`, after earlier runs have been measured.
pub(crate) fn calibrated<R>(
    machine: &Machine,
    cpu_workers: usize,
    settings: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder,
    program: impl Fn(&Runtime) -> Result<R, Trouble>,
) -> Result<R, Trouble> {
    let folder =
        tempfile::tempdir().map_err(|error| Trouble::Failed(format!("a temporary folder: {error}")))?;
    let builder = || {
        let builder = Runtime::builder().cpu_workers(cpu_workers).virtual_machine(machine.clone());
        builder.performance_dir(folder.path())
    };
    for earlier in 0..EARLIER {
        let first = earlier == 0;
        let rt = builder().scheduler(if first { "dm" } else { "dmda" }).calibrate(first).build()?;
        program(&rt)?;
    }
    program(&settings(builder()).build()?)
}
