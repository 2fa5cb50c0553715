//! Traces: what happened in a run, and when, written to a file while the program runs.
//!
//! The runtime reports to a [`Recorder`]: a task's submission and its end, a transfer, an array that is gone, reserved
//! memory. [`Trace`] turns these events into the lines of the file. `README.md`, beside this file, says who writes
//! what, why without locks, and what a crash loses.
//!
//! Not here: the lines themselves (`dahl_trace::format`), and what is made of a file (`dahl-trace`).

mod chains;
mod clock_probe;
mod event;
mod file;
mod idle;
mod lanes;
mod lines;
mod memory;
mod own_time;
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
