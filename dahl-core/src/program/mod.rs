//! Programs: recordings of what a function submits, and their replays. `README.md` says why both are sound.
//!
//! Not here: programs as data, passes and plans (the crate `dahl-program`), for which this is the interface. It is not for
//! other use, and changes without notice.

mod apart;
mod array_spec;
mod bindings;
mod bodies;
mod bound;
mod check;
mod compute;
mod device_plan;
mod engine;
mod first_value;
mod flow;
mod fusion;
mod in_place;
mod instance;
mod moved;
mod on_device;
mod over_ranks;
mod part;
mod program_memory;
mod record;
mod region;
mod step_kind;
mod steps;
mod target;
mod target_choice;
mod varying;

pub use array_spec::{ArraySpec, Begins, Place};
pub use bindings::{Bindings, Detached, Signature};
pub use compute::compute;
pub use engine::Engine;
pub use flow::ControlFlow;
pub use fusion::{FusedTask, fuse, is_map, is_map_on_devices, is_reduction};
pub use in_place::{InPlaceMap, in_place};
pub use instance::Instance;
pub use moved::{moved, reading};
pub use part::{Kind, Part};
pub use program_memory::ProgramMemory;
pub use record::{Outputs, Recorded, Recording, record, refusal, require_no_recording};
pub use step_kind::StepKind;
pub use steps::Step;
pub use varying::{Draws, Numbers, Varying, with_slot};

pub use crate::codelet::{FusedOperand, Moved, TILE_BYTES, stretched};
pub use crate::graph::{
    Flow, Initial, LoggedArray, LoggedFlow, LoggedPartition, LoggedRegion, LoggedStep, PartOf,
};
pub use crate::perf::work;
