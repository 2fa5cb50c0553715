//! What a program says of a task: its arrays, arguments and options, until it is submitted.
//!
//! Not here: a task that has been submitted (`task`).

mod builder;
mod external;
mod options;
mod replay;
mod shapes;
mod tag;

pub use builder::Task;
pub(crate) use builder::check_error;
pub use replay::Replay;
pub use tag::Tag;
