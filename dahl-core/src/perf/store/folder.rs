//! [`Store`]: the folder of one machine.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::super::warnings::Warnings;
use super::aside::{free_name, set_aside};
use super::change::Change;
use super::energy_file::{EnergyFile, EnergyOfKind};
use super::file::{CodeletFile, CopyTime, Places, TransferFile, examine, read};
use super::library::Library;
use super::machine::MachineFacts;
use crate::error::{Error, ErrorKind, Result};
use crate::machine::Machine;
use crate::sync::thread;

/// How long a thread waits for a lock. It is held for milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// How often a file is merged before it is locked, if other processes write it meanwhile.
const TRIES: usize = 3;

const LOCK: &str = "lock";
pub(super) const MACHINE: &str = "machine.toml";
pub(super) const TRANSFERS: &str = "transfers.toml";
pub(super) const ENERGY: &str = "energy.toml";

/// The store of a machine's performance models.
#[derive(Debug)]
pub(crate) struct Store {
    /// The setting that names it.
    setting: &'static str,
    /// The folder of all machines with this host's name.
    host: PathBuf,
    /// The folder of this machine.
    folder: PathBuf,
    machine: MachineFacts,
}

impl Store {
    /// Opens the folder of this machine, or of a simulated one, in `directory`; creates it if necessary.
    #[track_caller]
    pub(crate) fn open(setting: &'static str, directory: &Path, simulated: Option<&Machine>) -> Result<Self> {
        let machine = MachineFacts::new(simulated);
        let host = directory.join(&machine.host);
        if let Err(error) = fs::create_dir_all(&host) {
            return Err(unusable(setting, &host, &error));
        }
        let folder = host.join(machine.folder());
        Ok(Self { setting, host, folder, machine })
    }

    /// Locks out all other writers until it is dropped, or this process ends in any way.
    fn lock(&self) -> io::Result<File> {
        self.lock_within(PATIENCE)
    }

    /// As [`lock`](Self::lock). An error if another process has not released it within `patience`: it may have been
    /// stopped.
    pub(in super::super) fn lock_within(&self, patience: Duration) -> io::Result<File> {
        let path = self.host.join(LOCK);
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let lock = OpenOptions::new().create(true).append(true).open(&path).map_err(named)?;
        let end = Instant::now() + patience;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(TryLockError::Error(error)) => return Err(named(error)),
                Err(TryLockError::WouldBlock) if Instant::now() < end => thread::sleep(LOOK_EVERY),
                Err(TryLockError::WouldBlock) => {
                    let held = format!("another process has held {} for {patience:?}", path.display());
                    return Err(io::Error::new(io::ErrorKind::TimedOut, held));
                }
            }
        }
    }

    /// Loads the stored histories. Unusable files are set aside.
    pub(in super::super) fn load(&self, warnings: &Warnings) -> Library {
        let load = || {
            let lock = self.lock()?;
            self.begin(warnings)?;
            drop(lock);
            // Files are replaced as a whole, so they are read without the lock. Unusable files are examined again with
            // it.
            let mut files = Vec::new();
            for path in codelet_files(&self.folder)? {
                match examine::<CodeletFile>(&path)? {
                    Some(Ok(file)) => files.push(file),
                    None => {}
                    Some(Err(_)) => {
                        let _lock = self.lock()?;
                        files.extend(read::<CodeletFile>(&path, warnings)?);
                    }
                }
            }
            io::Result::Ok(Library::new(files))
        };
        load().unwrap_or_else(|error| {
            warnings.warn(format!(
                "performance models: {}: {error}; they are measured anew",
                self.folder.display()
            ));
            Library::default()
        })
    }

    /// Ensures that the folder exists, and is this machine's.
    fn begin(&self, warnings: &Warnings) -> io::Result<()> {
        let path = self.folder.join(MACHINE);
        let own = self.machine.text();
        if !self.folder.exists() {
            self.warn_of_other_machines(warnings)?;
        } else if path.exists() || !codelet_files(&self.folder)?.is_empty() {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let fact = match toml::from_str::<MachineFacts>(&text) {
                Ok(machine) if machine == self.machine => return Ok(()),
                Ok(_) => self.machine.difference(&text),
                Err(error) => format!("nothing says of which machine it is: {MACHINE}: {error}"),
            };
            set_aside(&self.folder, "outdated", fact.trim_end(), warnings)?;
        }
        fs::create_dir_all(&self.folder)?;
        dahl_files::save(&path, &own)
    }

    /// Warns if there are models of other machines, and none of this one.
    fn warn_of_other_machines(&self, warnings: &Warnings) -> io::Result<()> {
        let mut others = Vec::new();
        for entry in fs::read_dir(&self.host)? {
            let folder = entry?.path();
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(self.machine.kind()) && folder.extension().is_none() {
                others.extend(fs::read_to_string(folder.join(MACHINE)).map(|text| (folder, text)));
            }
        }
        if let [(folder, text), more @ ..] = &others[..] {
            let more = if more.is_empty() { String::new() } else { format!(" (and {} more)", more.len()) };
            warnings.warn(format!(
                "performance models: {}: {}{more}; it is left alone, and this one is measured anew",
                folder.display(),
                self.machine.difference(text)
            ));
        }
        Ok(())
    }

    /// The stored durations of copies between memory nodes.
    pub(in super::super) fn transfers(&self, warnings: &Warnings) -> Vec<CopyTime> {
        let load = || {
            let _lock = self.lock()?;
            read::<TransferFile>(&self.folder.join(TRANSFERS), warnings)
        };
        load().ok().flatten().unwrap_or_default().transfer
    }

    /// The stored windows from which the energy of codelets is estimated.
    pub(in super::super) fn energies(&self, warnings: &Warnings) -> Vec<EnergyOfKind> {
        let load = || {
            let _lock = self.lock()?;
            read::<EnergyFile>(&self.folder.join(ENERGY), warnings)
        };
        load().ok().flatten().unwrap_or_default().energy
    }

    /// Adds to the stored windows, or replaces them.
    #[track_caller]
    pub(in super::super) fn save_energies(
        &self,
        energies: &[EnergyOfKind],
        replaces: bool,
        warnings: &Warnings,
    ) -> Result<()> {
        if energies.is_empty() {
            return Ok(());
        }
        let write = || {
            let _lock = self.lock()?;
            self.begin(warnings)?;
            let path = self.folder.join(ENERGY);
            let mut file = read(&path, warnings)?.unwrap_or_else(EnergyFile::new);
            file.add(energies, replaces);
            dahl_files::save(&path, file.text())
        };
        write().map_err(|error| unusable(self.setting, &self.folder, &error))
    }

    /// Adds to the stored histories. What cannot be written remains unsaved.
    #[track_caller]
    pub(in super::super) fn save(
        &self,
        changes: Vec<Change>,
        transfers: &[CopyTime],
        warnings: &Warnings,
    ) -> Result<()> {
        if changes.is_empty() && transfers.is_empty() {
            return Ok(());
        }
        match self.write(changes, transfers, warnings) {
            Ok(()) => Ok(()),
            Err(error) => Err(unusable(self.setting, &self.folder, &error)),
        }
    }

    fn write(&self, mut changes: Vec<Change>, transfers: &[CopyTime], warnings: &Warnings) -> io::Result<()> {
        let lock = self.lock()?;
        self.begin(warnings)?;
        drop(lock);
        changes.sort_by_key(|change| (change.module, change.codelet));
        while let Some(first) = changes.first() {
            let (module, codelet) = (first.module, first.codelet);
            let others =
                changes.partition_point(|change| (change.module, change.codelet) == (module, codelet));
            let others = changes.split_off(others);
            self.write_codelet(codelet, module, std::mem::replace(&mut changes, others), warnings)?;
        }
        if !transfers.is_empty() {
            let _lock = self.lock()?;
            let path = self.folder.join(TRANSFERS);
            let mut file = read(&path, warnings)?.unwrap_or_else(|| TransferFile::new(Vec::new()));
            for copy in transfers {
                file.transfer.retain(|stored| (&stored.from, &stored.to) != (&copy.from, &copy.to));
                file.transfer.push(copy.clone());
            }
            dahl_files::save(&path, file.text())?;
        }
        Ok(())
    }

    /// Adds changes to the file of a codelet. Reading, merging and formatting happen without the lock; with it, the
    /// file is written if it is still the one that was read.
    fn write_codelet(
        &self,
        codelet: &str,
        module: &str,
        changes: Vec<Change>,
        warnings: &Warnings,
    ) -> io::Result<()> {
        let path = self.folder.join(CodeletFile::name(codelet, module));
        for left in (0..=TRIES).rev() {
            let early = if left == 0 { Some(self.lock()?) } else { None };
            let version = Version::of(&path);
            let stored = match (&early, examine(&path)?) {
                (_, None) => None,
                (_, Some(Ok(file))) => Some(file),
                (Some(_), Some(Err(_))) => read(&path, warnings)?,
                (None, Some(Err(_))) => {
                    let _lock = self.lock()?;
                    read::<CodeletFile>(&path, warnings)?; // set aside, so that the next look finds none
                    continue;
                }
            };
            let mut file = stored.unwrap_or_else(|| CodeletFile::new(codelet, module));
            let stored = file.history.len();
            let declarations: HashSet<&str> = changes.iter().map(Change::declaration).collect();
            file.history.retain(|history| declarations.contains(&*history.declaration));
            let is_outdated = file.history.len() < stored;
            let mut places = Places::of(&file.history);
            changes.iter().for_each(|change| change.apply(&mut file, &mut places));
            let text = file.text();
            let (_lock, is_late) = match early {
                Some(lock) => (lock, false),
                None => (self.lock()?, true),
            };
            if is_late && Version::of(&path) != version {
                continue; // another process has written it
            }
            if is_outdated {
                let outdated = free_name(&path, "outdated");
                fs::copy(&path, &outdated)?;
                warnings.warn(format!(
                    "performance models: {}: what it has of another declaration is set aside as {}",
                    path.display(),
                    outdated.display()
                ));
            }
            dahl_files::save(&path, &text)?;
            changes.iter().for_each(Change::note_saved);
            return Ok(());
        }
        unreachable!("with the lock the last try writes or fails")
    }
}

/// The version of a file, to detect changes: each version is a file of its own.
#[derive(PartialEq, Eq)]
struct Version(Option<(u64, Option<SystemTime>, u64)>);

impl Version {
    /// The version of the current file, if there is one.
    fn of(path: &Path) -> Self {
        #[cfg(unix)]
        let number = |metadata: &fs::Metadata| std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let number = |_: &fs::Metadata| 0;
        let metadata = fs::metadata(path).ok();
        Self(metadata.map(|metadata| (metadata.len(), metadata.modified().ok(), number(&metadata))))
    }
}

/// The files of codelets in a folder, in the order of their names.
pub(super) fn codelet_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let is_of_codelet = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default();
        let is_other = [MACHINE, TRANSFERS, ENERGY].iter().any(|other| name == *other);
        path.extension().is_some_and(|extension| extension == "toml") && !is_other
    };
    let paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    let mut paths: Vec<_> = paths.into_iter().filter(is_of_codelet).collect();
    paths.sort();
    Ok(paths)
}

#[track_caller]
fn unusable(setting: &'static str, folder: &Path, error: &io::Error) -> Error {
    Error::new(ErrorKind::Config {
        setting,
        value: folder.display().to_string(),
        expected: format!("a folder that can be written: {error}"),
    })
}
