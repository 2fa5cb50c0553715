//! Schedulers: which worker runs a ready task.
//!
//! Not here: when a task is ready (`task`), and how it runs (`worker`).

mod deque_model;
mod eager;
mod lws;
mod named;
mod plan;
mod policy;
mod prio;
mod queues;
mod random;
mod sequential;
mod shuffled;
mod sorted;
mod workers;
mod ws;

pub(crate) use deque_model::{EnergyWeight, Power};
pub use eager::Eager;
pub(crate) use named::{NAMES, STATIC, by_name, weighs_energy};
pub(crate) use plan::{Plan, PlanDivergences, Recorded, Recording, Static};
pub use policy::Scheduler;
use policy::suits;
use queues::{Queue, WorkerQueues};
pub(crate) use shuffled::Shuffled;
pub use workers::Workers;
pub use ws::WorkStealing;
