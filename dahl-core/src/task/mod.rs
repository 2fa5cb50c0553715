//! Tasks: how they are submitted, and how they wait for each other. `README.md`, beside this file, describes the
//! design.
//!
//! Not here: where a ready task goes (`scheduler`), and how it runs (`worker`).

mod access;
mod builder;
mod callback;
mod chain;
mod commute_lock;
mod countdown;
mod draft;
mod external;
mod options;
mod pinned;
mod ready;
mod record;
mod replay;
mod shapes;
mod step;
mod tag;
mod wait;

pub(crate) use access::Access;
pub use builder::Task;
pub(crate) use builder::check_error;
pub(crate) use chain::{Chain, Link, LinkKind};
pub(crate) use commute_lock::CommuteLock;
pub(crate) use draft::Draft;
pub(crate) use pinned::Pinned;
pub use ready::ReadyTask;
pub(crate) use record::{Party, Record, Submitted};
pub use replay::Replay;
pub(crate) use step::Step;
pub use tag::Tag;
pub(crate) use wait::wait_for_access;
