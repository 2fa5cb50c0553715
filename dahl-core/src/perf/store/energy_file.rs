//! [`EnergyFile`]: the stored windows from which the energy of codelets is estimated.

use dahl_energy::Windows;
use serde::{Deserialize, Serialize};

use super::file::{Stored, VERSION};

/// The windows of each kind of worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EnergyFile {
    pub(super) version: u32,
    #[serde(default)]
    pub(super) energy: Vec<EnergyOfKind>,
}

/// The windows of a kind of worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct EnergyOfKind {
    pub(in super::super) worker_kind: String,
    pub(in super::super) windows: Windows,
}

impl Stored for EnergyFile {
    fn wrong(&self) -> Option<String> {
        let of_kind = |one: &EnergyOfKind| Some(format!("{}: {}", one.worker_kind, one.windows.wrong()?));
        self.energy.iter().find_map(of_kind)
    }
}

impl EnergyFile {
    pub(super) fn new() -> Self {
        Self { version: VERSION, energy: Vec::new() }
    }

    /// Adds windows, or replaces those of the same kinds.
    pub(super) fn add(&mut self, energies: &[EnergyOfKind], replaces: bool) {
        for one in energies {
            match self.energy.iter_mut().find(|stored| stored.worker_kind == one.worker_kind) {
                Some(stored) if replaces => stored.windows = one.windows.clone(),
                Some(stored) => stored.windows.merge(&one.windows),
                None => self.energy.push(one.clone()),
            }
        }
    }

    pub(super) fn text(&self) -> String {
        toml::to_string(self).expect("windows are plain data")
    }
}
