//! What a run has done, in figures: workers, codelets, transfers, memory. Read at any time, and printed at the end of the
//! run if the settings say so.
//!
//! Most of it is counted anyway: tasks by the runtime, durations by the performance models, bytes by memory nodes and
//! links. A task that ends well is therefore not counted here at all. What is [gathered](Counters) here are tasks that
//! fail or are cancelled, and, if the settings ask for it, how long workers look for tasks: at the begin and at the end of
//! each such time, so not while they have tasks.
//!
//! `figures` has what users see, `runtime::account` makes it, `text` prints it, `output` says where it goes.
//!
//! Not here: what is expected of tasks (`perf`), and why calls of one codelet differ (`explain`).

mod counters;
mod figures;
mod output;
mod quantity;
mod text;

pub(crate) use counters::{Counters, Loss, Losses};
pub use figures::{
    ArenaStatistics, CodeletStatistics, GraphStatistics, HostStatistics, KernelStatistics, MemoryStatistics,
    Statistics, TaskCounts, TransferStatistics, WorkerStatistics,
};
pub(crate) use output::Output;
