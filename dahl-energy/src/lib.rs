//! The energy that a machine uses, as its counters have it.
//!
//! * [`Joules`]: an energy and its [`Source`]: measured, simulated, or unavailable with the reason and the remedy. An
//!   energy that is not known is never 0.
//! * [`EnergyMeter`]: reads counters of energy. [`Powercap`] and [`PowerPmu`] read RAPL, the counters of processors and
//!   main memory; [`Nvml`] reads NVIDIA's devices. A program can have its own, such as one at the wall.
//! * [`Meters`]: all meters of a machine, and why parts have none. [`Tally`]: what they have counted since a start.
//! * [`Windows`]: the energy of each kind of task, by regression.
//!
//! `README.md` says how counters wrap and fail. Not here: who reads when (`dahl-core`).

mod absence;
mod counter;
mod joules;
mod least_squares;
mod meter;
mod meters;
mod nvml;
mod power_pmu;
mod powercap;
mod regression;
mod student;
mod tally;

pub use absence::Absence;
pub use joules::{Joules, Source};
pub use meter::{Domain, EnergyMeter, Fault, Part, Reading};
pub use meters::{Meters, Places};
pub use nvml::Nvml;
pub use power_pmu::{PowerEvent, PowerPmu};
pub use powercap::Powercap;
pub use regression::{Estimate, Windows};
pub use tally::{DomainEnergy, Mark, Sample, Tally};
