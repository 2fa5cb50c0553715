//! [`Selection`]: the stored models that a command reads.

use std::path::{Path, PathBuf};

use dahl::ErrorKind;
use dahl::perf::{StoredMachine, StoredModels};
use serde::Serialize;

use super::From;
use super::family::{Family, families};
use crate::choices::unknown;
use crate::trouble::Trouble;

/// The models in a folder, of the selected machines.
pub(super) struct Selection {
    pub(super) folder: PathBuf,
    pub(super) models: StoredModels,
}

/// A machine, as reports name it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct MachineName {
    pub(super) host: String,
    /// The name of its folder.
    pub(super) name: String,
    /// Its description: the processor, or the model's devices.
    pub(super) what: String,
    /// Whether its time is virtual.
    pub(super) simulated: bool,
}

/// The histories of one codelet on one machine.
pub(super) struct Known<'s> {
    pub(super) machine: MachineName,
    /// Its module and name.
    pub(super) codelet: String,
    pub(super) families: Vec<Family<'s>>,
}

impl Selection {
    pub(super) fn read(from: &From) -> Result<Self, Trouble> {
        let folder = from.folder().ok_or_else(|| {
            Trouble::Input(
                "no folder of performance models: give `--dir FOLDER`, or set DAHL_PERF_DIR as for the program that stored them"
                    .to_owned(),
            )
        })?;
        let mut models = StoredModels::read(folder).map_err(|error| no_folder(folder, error))?;
        for unusable in &models.unusable {
            let fact = unusable.fact.trim_end();
            anstream::eprintln!("dahl: warning: {}: {fact}; it is left out", unusable.path.display());
        }
        if models.machines.is_empty() {
            return Err(no_models(folder));
        }
        if let Some(name) = &from.machine {
            keep_machine(&mut models, name, folder)?;
        }
        Ok(Self { folder: folder.to_owned(), models })
    }

    /// The histories of the codelet with this name, with or without its modules, by machine.
    pub(super) fn codelet(&self, name: &str) -> Result<Vec<Known<'_>>, Trouble> {
        let is_meant = |full: &String| full == name || full.ends_with(&format!("::{name}"));
        let names: Vec<_> = self.models.codelets().into_iter().filter(is_meant).collect();
        if names.is_empty() {
            let place = self.folder.display().to_string();
            return Err(unknown("codelet", name, &place, &self.models.codelets()));
        }
        let mut known = Vec::new();
        for codelet in names {
            for machine in &self.models.machines {
                let families = families(machine, &codelet);
                if !families.is_empty() {
                    known.push(Known {
                        machine: MachineName::of(machine),
                        codelet: codelet.clone(),
                        families,
                    });
                }
            }
        }
        Ok(known)
    }
}

fn keep_machine(models: &mut StoredModels, name: &str, folder: &Path) -> Result<(), Trouble> {
    let full = |machine: &StoredMachine| format!("{}/{}", machine.host, machine.name);
    let names: Vec<_> = models.machines.iter().map(full).collect();
    models.machines.retain(|machine| machine.name.starts_with(name) || full(machine).starts_with(name));
    match models.machines.is_empty() {
        true => Err(unknown("machine", name, &folder.display().to_string(), &names)),
        false => Ok(()),
    }
}

fn no_folder(folder: &Path, error: dahl::Error) -> Trouble {
    match error.kind() {
        ErrorKind::Config { expected, .. } => Trouble::Input(format!(
            "{}: expected {expected}; `--dir FOLDER` or DAHL_PERF_DIR names it",
            folder.display()
        )),
        _ => error.into(),
    }
}

fn no_models(folder: &Path) -> Trouble {
    let place = "HOST/real-NUMBER/machine.toml or HOST/simulated-NUMBER/machine.toml";
    Trouble::Input(format!(
        "{}: there are no performance models in it; they would be in {place}, and programs store them with \
         DAHL_PERF_DIR={}",
        folder.display(),
        folder.display()
    ))
}

impl MachineName {
    pub(super) fn of(machine: &StoredMachine) -> Self {
        let what = match (&machine.processor, &machine.simulated) {
            (Some(processor), _) => {
                let [name, simd, build] = [&processor.name, &processor.simd, &processor.build];
                format!("{name}, {} processors, simd {simd}, {build} build", processor.processors)
            }
            (None, Some(simulated)) => {
                let devices: Vec<_> =
                    simulated.devices.iter().map(|device| format!("`{}`", device.name)).collect();
                match devices.is_empty() {
                    true => "virtual time, no devices".to_owned(),
                    false => format!("virtual time, devices {}", devices.join(", ")),
                }
            }
            (None, None) => String::new(),
        };
        let (host, name) = (machine.host.clone(), machine.name.clone());
        Self { host, name, what, simulated: machine.simulated.is_some() }
    }
}

impl std::fmt::Display for MachineName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { host, name, what, .. } = self;
        write!(f, "{host}/{name} ({what})")
    }
}
