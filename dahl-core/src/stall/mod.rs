//! The stall report: why nothing goes on, printed by a thread that has waited in vain.
//!
//! A thread that waits for tasks [watches](Watch) whether any is completed. If none is for as long as the settings say,
//! it takes a [`Snapshot`] of what is submitted and not finished and prints it, once for each stall. Nothing is done to
//! end the stall: what is listed may still go on.
//!
//! Not here: how threads wait (`executor::waiting`, `sleep`).

mod report;
mod running;
mod snapshot;
mod watch;

pub(crate) use running::{OnStall, Stall};
pub(crate) use watch::Watch;
