//! Programs: recordings of what a function submits, and their replays. `README.md` says why both are sound.
//!
//! Not here: programs as data, passes and plans (the crate `dahl-program`), for which this is the interface. It is not for
//! other use, and changes without notice.

mod bindings;
mod check;
mod fusion;
mod instance;
mod record;

pub use bindings::{Bindings, Detached, Signature};
pub use fusion::{Map, fuse, is_map};
pub use instance::{ArraySpec, Engine, Instance, Place, Step, StepKind};
pub use record::{Outputs, Recorded, Recording, record, require_no_recording};

pub use crate::codelet::FusedOperand;
pub use crate::graph::{Initial, LoggedArray, LoggedPartition, LoggedStep, PartOf};
