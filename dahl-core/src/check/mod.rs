//! Checked mode: compares what a kernel did with its declaration.
//!
//! * [`unwritten`]: every element of a `W` output was written.
//! * [`read_only`]: a kernel in C did not change its inputs. (One in Rust cannot.)
//! * [`not_finite`]: a NaN or an infinity came out where none went in. That is a [note](CheckNote), not a failure.
//!
//! A worker of a checked runtime [begins](Inspection::begin) the inspection before the kernel and
//! [ends](Inspection::end) it after. What the first two find fails the task, as a panic does. `scheduler::Shuffled`
//! permutes the order of independent tasks.
#![allow(unsafe_code, reason = "looks at a task's arrays before and after its kernel")]

mod elements;
mod inspected;
mod inspection;
mod not_finite;
mod note;
mod pattern;
mod read_only;
mod substitute;
mod unwritten;

pub(crate) use inspected::Inspected;
use inspected::is_overwritten;
pub(crate) use inspection::Inspection;
pub use note::CheckNote;
pub(crate) use note::CheckNotes;
