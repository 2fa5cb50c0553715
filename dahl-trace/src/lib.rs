//! Traces of dahl's runs: reads trace files, and converts them.
//!
//! A runtime with `DAHL_TRACE=run.json` writes the file while it runs ([`mod@format`]). Perfetto and `chrome://tracing`
//! open it as it is. [`Trace::read`] makes a model of the run from it, and the model can be
//!
//! * summarised ([`Trace::summary`]): where the time went;
//! * shown: a report in HTML ([`Trace::write_html`]);
//! * exported: to ViTE and StarVZ ([`Trace::write_paje`]), to Graphviz ([`Trace::write_dot`]), and as a complete file
//!   to Perfetto ([`Trace::write_chrome`]).
//!
//! ```no_run
//! let trace = dahl_trace::Trace::read("run.json")?;
//! let summary = trace.summary();
//! println!("{summary}");
//! for worker in &summary.workers {
//!     println!("{}: idle for {} us because of transfers", worker.name, worker.idle.transfer_us);
//! }
//! trace.write_html(std::fs::File::create("run.html")?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The traces of several ranks are joined to one ([`Trace::join`]).
//!
//! Not here: recording (`dahl-core`), and the command that reads files (`dahl-cli`).

mod critical_path;
pub mod format;
mod graph;
mod html;
mod join;
mod palette;
mod read;
mod summary;
mod trace;
mod write;

pub use critical_path::CriticalPath;
pub use graph::Graph;
pub use html::PAGE_STYLE;
pub use join::JoinError;
pub use palette::color as codelet_color;
pub use read::Error;
pub use summary::{
    CodeletSummary, CriticalPathSummary, EnergyPart, EnergySummary, IdleSummary, MemorySummary, PathCodelet,
    Summary, TransferSummary, WorkerSummary,
};
pub use trace::{
    ArrayUse, ClockSample, Cut, Idle, Link, MemorySample, Message, Node, PowerSample, Task, Text, Trace,
    Transfer, Worker,
};
