//! [`EnergyStatistics`]: the energy of a run.

use dahl_energy::{DomainEnergy, Joules, Mark};
use serde::Serialize;

use crate::perf::EnergyEstimate;

/// The energy of a run until now: measured, simulated, or unavailable with the reason (`docs/energy.md`).
///
/// Counters measure a part of the machine, not a process: what other programs use is in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EnergyStatistics {
    /// That of all memory nodes.
    pub run: Joules,
    /// That of each memory node, with the processors that work in it.
    pub nodes: Vec<NodeEnergy>,
    /// What each counter says. Empty in virtual time.
    pub domains: Vec<DomainEnergy>,
    /// The energy of each codelet's tasks, by regression, stored windows included.
    pub estimates: Vec<EnergyEstimate>,
}

/// A moment of a runtime from which energy is counted: [`Runtime::energy_since`](crate::Runtime::energy_since).
#[derive(Clone, Debug)]
pub struct EnergyMark {
    /// In real time, if energy is measured.
    pub(crate) measured: Option<Mark>,
    /// In virtual time, the energy until then.
    pub(crate) simulated: Option<Joules>,
}

/// The energy of a memory node and the processors that work in it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NodeEnergy {
    /// Its number; 0 is the main memory.
    pub node: usize,
    /// Its name.
    pub name: String,
    /// Its energy.
    pub energy: Joules,
}
