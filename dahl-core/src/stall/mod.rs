//! The stall report: why a run makes no progress. A thread that has waited too long prints it.
//!
//! A thread that waits for tasks [watches](Watch) whether any task completes. If none does for as long as the settings
//! say, the thread takes a [`Snapshot`](snapshot::Snapshot) of the tasks that are submitted and not finished and prints it, once for each
//! stall. It does nothing to end the stall: the listed tasks may still continue.
//!
//! Not here: how threads wait (`executor::waiting`, `sleep`).

mod report;
mod running;
mod snapshot;
mod watch;

pub(crate) use running::{OnStall, Stall};
pub(crate) use watch::Watch;
