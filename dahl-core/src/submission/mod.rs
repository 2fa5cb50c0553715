//! Tasks before their submission: arrays, arguments and options.
//!
//! Not here: tasks that have been submitted (`task`).

mod builder;
mod external;
mod gate;
mod options;
mod replay;
mod shapes;
mod tag;

pub use builder::Task;
pub(crate) use builder::check_error;
pub use gate::Gate;
pub(crate) use gate::{GateId, current as current_gate, within as within_gate};
pub use replay::Replay;
pub use tag::Tag;
