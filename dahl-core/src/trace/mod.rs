//! Traces: what happened in a run, and when, written to a file while the program runs.
//!
//! [`Recorder`] is what the rest of the runtime tells of a task's submission, its end, a transfer, an array that is
//! gone, memory that is reserved. [`Trace`] makes the lines of the file of that. `README.md`, beside this file, says
//! who writes what, why without locks, and what a crash loses.
//!
//! Not here: the lines themselves (`dahl_trace::format`), and what is made of a file (`dahl-trace`).

mod chains;
mod event;
mod file;
mod idle;
mod lanes;
mod lines;
mod memory;
mod recorder;
mod session;
mod task_times;
mod transfers;
mod waiting;
mod writer;

pub(crate) use file::TraceFile;
pub(crate) use recorder::Recorder;
pub(crate) use session::Trace;
pub(crate) use task_times::TaskTimes;
