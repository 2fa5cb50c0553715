//! [`Energies`]: the energy of each codelet, by regression.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use dahl_energy::Windows;
use serde::Serialize;

use super::store::{EnergyOfKind, Store};
use super::warnings::Warnings;
use crate::sync::{Mutex, MutexGuard};

/// The energy of a codelet's tasks on a kind of worker, or the power while no task runs, estimated by linear regression
/// over windows of time: `energy = idle watts x seconds + sum over codelets of (joules a task x tasks)`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EnergyEstimate {
    /// The kind of worker whose memory node was measured.
    pub worker_kind: String,
    /// The codelet, with its module. None for the power of the node in which no task need run.
    pub codelet: Option<String>,
    /// The joules of a task; or the watts, if there is no codelet. At least 0.
    pub value: f64,
    /// The 95 % confidence interval. None if the estimate cannot be told from others: there are too few windows, or the
    /// codelet always runs with another one.
    pub interval: Option<(f64, f64)>,
    /// The number of windows, stored ones included.
    pub windows: u64,
}

/// The windows of each kind of worker.
#[derive(Debug, Default)]
pub(crate) struct Energies {
    own: Mutex<Own>,
}

#[derive(Debug, Default)]
struct Own {
    /// Whether the stored ones are to be replaced.
    replaces: bool,
    /// Loaded, and saved since.
    stored: BTreeMap<String, Windows>,
    unsaved: BTreeMap<String, Windows>,
    /// The tasks that had ended at the end of the last window of each memory node.
    ended: BTreeMap<usize, BTreeMap<String, f64>>,
}

impl Energies {
    /// With the stored windows, unless they are to be measured anew.
    pub(super) fn new(store: Option<&Store>, calibrates: bool, warnings: &Warnings) -> Self {
        let stored = store.filter(|_| !calibrates).map(|store| store.energies(warnings)).unwrap_or_default();
        let stored = stored.into_iter().map(|EnergyOfKind { worker_kind, windows }| (worker_kind, windows));
        let own = Own { replaces: calibrates, stored: stored.collect(), ..Own::default() };
        Self { own: Mutex::new(own) }
    }

    fn own(&self) -> MutexGuard<'_, Own> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a window of a memory node whose workers are of this kind. `ended` has the tasks of each codelet that have
    /// ended there until the end of the window.
    pub(crate) fn add(
        &self,
        kind: &str,
        node: usize,
        (seconds, joules): (f64, f64),
        ended: &BTreeMap<String, f64>,
    ) {
        let mut own = self.own();
        let before = own.ended.insert(node, ended.clone()).unwrap_or_default();
        let since =
            |(codelet, count): (&'_ String, &f64)| count - before.get(codelet).copied().unwrap_or(0.0);
        let tasks = ended.iter().map(|one| (one.0.as_str(), since(one)));
        let tasks: Vec<_> = tasks.filter(|(_, tasks)| *tasks > 0.0).collect();
        own.unsaved.entry(kind.to_owned()).or_default().add(seconds, joules, tasks);
    }

    /// The estimates of each kind of worker.
    pub(crate) fn estimates(&self) -> Vec<EnergyEstimate> {
        let own = self.own();
        let mut all = own.stored.clone();
        for (kind, windows) in &own.unsaved {
            all.entry(kind.clone()).or_default().merge(windows);
        }
        all.iter().flat_map(|(kind, windows)| EnergyEstimate::of_kind(kind, windows)).collect()
    }

    /// Takes the windows that are not saved, to be saved or given back; and whether they replace the stored ones.
    pub(super) fn take_unsaved(&self) -> (Vec<EnergyOfKind>, bool) {
        let mut own = self.own();
        let unsaved = std::mem::take(&mut own.unsaved).into_iter();
        let unsaved = unsaved.map(|(worker_kind, windows)| EnergyOfKind { worker_kind, windows });
        (unsaved.collect(), own.replaces)
    }

    /// Takes windows back: they are saved, or cannot be.
    pub(super) fn give_back(&self, taken: &[EnergyOfKind], are_saved: bool) {
        let mut own = self.own();
        own.replaces &= !are_saved;
        let windows = if are_saved { &mut own.stored } else { &mut own.unsaved };
        for one in taken {
            windows.entry(one.worker_kind.clone()).or_default().merge(&one.windows);
        }
    }
}

impl EnergyEstimate {
    /// The estimates of a kind of worker.
    pub(super) fn of_kind(kind: &str, windows: &Windows) -> Vec<Self> {
        let estimates = windows.estimates().into_iter().map(|estimate| Self {
            worker_kind: kind.to_owned(),
            codelet: estimate.kind,
            value: estimate.value,
            interval: estimate.interval,
            windows: windows.count(),
        });
        estimates.collect()
    }
}
