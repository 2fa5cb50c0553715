//! [`Checkpoints`]: the folder in which a trainer keeps checkpoints, and when it writes them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::monitor::Monitor;
use crate::error::{Error, Result};
use crate::setting::Settings;

/// When a trainer writes checkpoints, and how many it keeps.
///
/// A checkpoint is the file `step-N.safetensors` after N steps; the best one, if it is asked for, is `best.safetensors`.
/// Each is written whole or not at all: a process that is killed leaves the one before, and perhaps a file `.dahl-*`,
/// which nothing reads.
///
/// ```
/// use dahl_nn::prelude::*;
///
/// let checkpoints = Checkpoints::new("runs/first").every_steps(500).keep(2).best(Monitor::ValidationAccuracy);
/// # drop(checkpoints);
/// ```
#[derive(Clone, Debug)]
pub struct Checkpoints {
    folder: PathBuf,
    every_steps: Option<usize>,
    every_epochs: usize,
    keep: usize,
    pub(super) best: Option<Monitor>,
    pub(super) settings: Settings,
}

impl Checkpoints {
    /// Writes a checkpoint after each epoch into `folder`, which is made if it is not there, and keeps the last three.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        let (folder, settings) = (folder.into(), Settings::default());
        Self { folder, every_steps: None, every_epochs: 1, keep: 3, best: None, settings }
    }

    /// Also writes one after every `steps` steps.
    #[track_caller]
    pub fn every_steps(mut self, steps: usize) -> Self {
        self.settings.require(steps > 0, "Checkpoints: every_steps", steps, "a number from 1");
        self.every_steps = Some(steps);
        self
    }

    /// Writes one after every `epochs` epochs, 1 by default.
    #[track_caller]
    pub fn every_epochs(mut self, epochs: usize) -> Self {
        self.settings.require(epochs > 0, "Checkpoints: every_epochs", epochs, "a number from 1");
        self.every_epochs = epochs;
        self
    }

    /// Sets how many of the last ones are kept, 3 by default.
    #[track_caller]
    pub fn keep(mut self, checkpoints: usize) -> Self {
        self.settings.require(checkpoints > 0, "Checkpoints: keep", checkpoints, "a number from 1");
        self.keep = checkpoints;
        self
    }

    /// Also keeps the checkpoint of the epoch whose result is the best.
    pub fn best(mut self, monitor: Monitor) -> Self {
        self.best = Some(monitor);
        self
    }

    /// Whether there is to be a checkpoint after so many steps, within an epoch.
    pub(super) fn is_due_after_step(&self, steps: usize) -> bool {
        self.every_steps.is_some_and(|every| steps.is_multiple_of(every))
    }

    /// Whether there is to be a checkpoint after epoch number `epoch`, from 1, with so many steps in all.
    pub(super) fn is_due_after_epoch(&self, epoch: usize, steps: usize) -> bool {
        epoch.is_multiple_of(self.every_epochs) || self.is_due_after_step(steps)
    }

    /// Makes the folder. A training that does not go on from a checkpoint must not find any: they would be mixed with its
    /// own.
    pub(super) fn prepare(&self, resumes: bool) -> Result<()> {
        fs::create_dir_all(&self.folder).map_err(|error| self.failed(error))?;
        match latest(&self.folder)? {
            Some(path) if !resumes => Err(Error::OtherRun { path }),
            _ => Ok(()),
        }
    }

    /// The file of the checkpoint after so many steps.
    pub(super) fn path(&self, steps: usize) -> PathBuf {
        self.folder.join(format!("{PREFIX}{steps:010}{SUFFIX}"))
    }

    /// The file of the best checkpoint.
    pub(super) fn best_path(&self) -> PathBuf {
        self.folder.join(format!("best{SUFFIX}"))
    }

    /// Removes all but the last checkpoints of those up to this number of steps.
    pub(super) fn prune(&self, steps: usize) -> Result<()> {
        let mut found = steps_in(&self.folder)?;
        found.retain(|(of_file, _)| *of_file <= steps);
        found.sort_unstable();
        let surplus = found.len().saturating_sub(self.keep);
        for (_, path) in found.into_iter().take(surplus) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::Io { path, error });
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::Io { path: self.folder.clone(), error }
    }
}

const PREFIX: &str = "step-";
const SUFFIX: &str = ".safetensors";

/// The checkpoint in a folder with the most steps, if there is one.
pub(super) fn latest(folder: &Path) -> Result<Option<PathBuf>> {
    Ok(steps_in(folder)?.into_iter().max().map(|(_, path)| path))
}

/// The checkpoints in a folder, with their steps. A folder that is not there has none.
fn steps_in(folder: &Path) -> Result<Vec<(usize, PathBuf)>> {
    let failed = |error| Error::Io { path: folder.to_owned(), error };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let steps = name.and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.parse().ok());
        found.extend(steps.map(|steps| (steps, path)));
    }
    Ok(found)
}
