//! [`Models`]: performance models that know a program's tasks on every kind of worker.

use std::path::Path;

use dahl::{Machine, Runtime, RuntimeBuilder};
use tempfile::TempDir;

use super::{Pinned, unchecked};
use crate::trouble::Trouble;

/// The folder of Linux for files in memory: models are stored durably, which on a disk takes longer than a short run.
const IN_MEMORY: &str = "/dev/shm";

/// The models of a simulated machine with CPU workers and one device, stored for the time of a study.
pub(crate) struct Models {
    machine: Machine,
    cpu_workers: usize,
    folder: TempDir,
}

impl Models {
    /// Measures the tasks of `program` on one CPU worker alone and on the device alone. Also returns the results of
    /// these runs.
    pub(crate) fn of<R>(
        machine: Machine,
        cpu_workers: usize,
        program: impl Fn(&Runtime) -> Result<R, Trouble>,
    ) -> Result<(Self, [R; 2]), Trouble> {
        let folder = Path::new(IN_MEMORY);
        let folder = if folder.is_dir() { tempfile::tempdir_in(folder) } else { tempfile::tempdir() };
        let folder = folder.map_err(|error| Trouble::Failed(format!("a folder for models: {error}")))?;
        let models = Self { machine, cpu_workers, folder };
        let run = |worker| program(&models.builder().custom_scheduler(Pinned::to(worker)).build()?);
        let shown = [run(0)?, run(cpu_workers)?];
        Ok((models, shown))
    }

    /// The settings of a runtime of this machine with these models.
    pub(crate) fn builder(&self) -> RuntimeBuilder {
        let builder = unchecked().cpu_workers(self.cpu_workers).virtual_machine(self.machine.clone());
        builder.performance_dir(self.folder.path())
    }
}
