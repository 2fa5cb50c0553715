//! Performance models: how long a codelet's kernels take, by kind of worker, element type and footprint.
//!
//! A worker that has run a task adds the duration to its own samples, without a lock. An entry joins the samples of all
//! workers of a kind, and caches the prediction, because schedulers ask for it for every ready task: the median of the
//! last durations, or if there are none, a curve through the entries of other footprints. A store keeps entries from
//! run to run.
//!
//! Not here: decisions by these durations (`scheduler`).

mod energies;
mod entry;
mod estimate;
mod family;
mod history;
mod measured;
mod measurement;
mod models;
mod prediction;
mod regression;
mod samples;
mod statistics;
mod store;
mod table;
#[cfg(test)]
mod tests;
mod transfers;
mod warnings;
mod work;

pub use energies::EnergyEstimate;
pub use estimate::{Basis, Estimate};
pub use history::{History, WorkerHistory};
pub(crate) use measured::Measured;
pub use measurement::Measurement;
pub(crate) use models::{ModelCache, Models, Settings};
pub use prediction::{CodeletPredictionError, PredictionError, PredictionErrors};
pub use regression::Curve;
pub(crate) use samples::Totals;
pub(crate) use store::Store;
pub use store::{StoredMachine, StoredModels, StoredProcessor, StoredTransfer, UnusableFile};
pub use transfers::TransferTime;
pub use work::work;
pub(crate) use work::{kernel_of, parts};
