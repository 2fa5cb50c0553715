//! Statistics of a run: workers, codelets, transfers, memory. They can be read at any time, and are printed at the end
//! of the run if the settings say so.
//!
//! Most figures exist anyway: the runtime counts tasks, performance models have durations, memory nodes and links have
//! bytes. So a successful task costs nothing here. The [counters](Counters) of this module have the tasks that fail or
//! are cancelled, and, if the settings ask for it, how long workers look for tasks. A worker counts that at the
//! beginning and the end of each such time, and nothing while it has tasks.
//!
//! `figures` has what users see, `runtime::account` computes it, `text` prints it, `output` says where it goes.
//!
//! Not here: predicted durations (`perf`), and why calls of one codelet differ (`explain`).

mod counters;
mod energy;
mod figures;
mod output;
mod quantity;
mod text;
mod text_energy;

pub(crate) use counters::{Counters, Loss, Losses};
pub use energy::{EnergyMark, EnergyStatistics, NodeEnergy};
pub use figures::{
    ArenaStatistics, CodeletStatistics, GraphStatistics, HostStatistics, KernelStatistics, MemoryStatistics,
    Statistics, TaskCounts, TransferStatistics, WorkerStatistics,
};
pub(crate) use output::Output;
