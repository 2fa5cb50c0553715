//! [`StoredModels`]: the contents of a folder of performance models, of all machines, for users.
//!
//! Reading locks nothing and changes nothing. Writers replace files atomically, so a reader finds complete ones, and
//! running programs continue. An unusable file stays where it is and is reported.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::energy_file::EnergyFile;
use super::file::{CodeletFile, Stored, TransferFile, examine};
use super::folder::{ENERGY, MACHINE, TRANSFERS, codelet_files};
use super::machine::MachineFacts;
use crate::error::{Error, ErrorKind, Result};
use crate::machine::Machine;
use crate::perf::energies::EnergyEstimate;
use crate::perf::history::History;

/// The performance models in a folder ([`performance_dir`](crate::RuntimeBuilder::performance_dir)).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct StoredModels {
    /// The models of each host and machine, by name.
    pub machines: Vec<StoredMachine>,
    /// Unusable files.
    pub unusable: Vec<UnusableFile>,
}

/// The performance models of a machine.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StoredMachine {
    /// The name of the host.
    pub host: String,
    /// The name of its folder: `real-` or `simulated-` and a number.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// The processor, if the machine is real.
    pub processor: Option<StoredProcessor>,
    /// The model of a simulated machine.
    pub simulated: Option<Machine>,
    /// The histories of each codelet, kernel, kind of worker, element types and footprint.
    pub histories: Vec<History>,
    /// The durations of copies between memories.
    pub transfers: Vec<StoredTransfer>,
    /// The energy of each codelet and kind of worker, and the idle power of each kind.
    pub energies: Vec<EnergyEstimate>,
}

/// The processor that durations were measured on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredProcessor {
    /// Its name.
    pub name: String,
    /// The processors of the system, one for each hardware thread.
    pub processors: usize,
    /// The instructions that kernels were compiled for.
    pub simd: String,
    /// `debug` if dahl had debug assertions, otherwise `release`.
    pub build: String,
}

/// The duration of copies from one kind of memory to another: `latency_us + bytes / gbytes_per_s`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StoredTransfer {
    /// The source: `host` is the main memory.
    pub from: String,
    /// The destination.
    pub to: String,
    /// The latency of every copy, in microseconds.
    pub latency_us: f64,
    /// Bytes copied per nanosecond.
    pub gbytes_per_s: f64,
}

/// An unusable file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnusableFile {
    /// Its path.
    pub path: PathBuf,
    /// The reason, with the place in the file.
    pub fact: String,
}

impl StoredModels {
    /// Reads the models in `directory`, without locking out writers.
    ///
    /// # Errors
    /// If it is not a readable folder. An unusable file in it is not an error: it is among
    /// [`unusable`](Self::unusable).
    #[track_caller]
    pub fn read(directory: impl AsRef<Path>) -> Result<Self> {
        let directory = directory.as_ref();
        let mut stored = Self::default();
        stored.read_hosts(directory).map_err(|error| {
            Error::new(ErrorKind::Config {
                setting: "performance_dir",
                value: directory.display().to_string(),
                expected: format!("a folder that can be read: {error}"),
            })
        })?;
        Ok(stored)
    }

    /// The names of the codelets, with their modules, each once.
    pub fn codelets(&self) -> Vec<String> {
        let histories = self.machines.iter().flat_map(|machine| &machine.histories);
        let mut names: Vec<_> =
            histories.map(|history| format!("{}::{}", history.module, history.codelet)).collect();
        names.sort();
        names.dedup();
        names
    }

    fn read_hosts(&mut self, directory: &Path) -> io::Result<()> {
        for host in folders(directory)? {
            for folder in folders(&host)? {
                // A folder that was set aside has an extension.
                if folder.extension().is_none() && folder.join(MACHINE).exists() {
                    self.read_machine(name_of(&host), folder)?;
                }
            }
        }
        Ok(())
    }

    fn read_machine(&mut self, host: String, folder: PathBuf) -> io::Result<()> {
        let Some(facts) = self.file::<MachineFacts>(folder.join(MACHINE))? else { return Ok(()) };
        let mut histories = Vec::new();
        for path in codelet_files(&folder)? {
            let file = self.file::<CodeletFile>(path)?;
            histories.extend(file.iter().flat_map(CodeletFile::histories));
        }
        let transfers = self.file::<TransferFile>(folder.join(TRANSFERS))?.unwrap_or_default();
        let transfers = transfers.transfer.into_iter().map(|copy| StoredTransfer {
            from: copy.from,
            to: copy.to,
            latency_us: copy.latency_us,
            gbytes_per_s: copy.gbytes_per_s,
        });
        let energies = self.file::<EnergyFile>(folder.join(ENERGY))?.unwrap_or_default().energy;
        let energies =
            energies.iter().flat_map(|one| EnergyEstimate::of_kind(&one.worker_kind, &one.windows));
        let energies = energies.collect();
        let (processor, simulated) = (facts.processor(), facts.simulated());
        let (name, transfers) = (name_of(&folder), transfers.collect());
        self.machines.push(StoredMachine {
            host,
            name,
            folder,
            processor,
            simulated,
            histories,
            transfers,
            energies,
        });
        Ok(())
    }

    /// The content of a file, if it exists and is usable.
    fn file<F: Stored>(&mut self, path: PathBuf) -> io::Result<Option<F>> {
        match examine(&path)? {
            None => Ok(None),
            Some(Ok(file)) => Ok(Some(file)),
            Some(Err((_, fact))) => {
                self.unusable.push(UnusableFile { path, fact });
                Ok(None)
            }
        }
    }
}

/// The folders in a folder, in the order of their names.
fn folders(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let paths =
        fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    let mut folders: Vec<_> = paths.into_iter().filter(|path| path.is_dir()).collect();
    folders.sort();
    Ok(folders)
}

fn name_of(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
