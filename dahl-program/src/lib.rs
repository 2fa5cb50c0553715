//! Programs: a function of arrays whose tasks are recorded once, as data, and then replayed without calling the function.
//!
//! `#[program]` declares one. A [`Graph`] is what it consists of, [`Passes`] make the graph smaller, and a [`MemoryPlan`]
//! says where each of its arrays is. [`Program`] keeps them for the shapes that it was called with.
//!
//! Not here: how recordings and replays work (`dahl_core`'s room `program`), and the attribute (`dahl-macros`).

mod argument;
mod call;
mod graph;
mod listing;
mod pass;
mod plan;
mod planner;
mod returned;
mod scope;

pub use argument::{Arguments, ProgramArgument, Slots, Value};
pub use call::{Body, Program};
pub use dahl_core::__program::Numbers;
pub use dahl_core::Recording;
pub use graph::{Array, Graph, Origin, Task, Use};
pub use listing::{Change, Difference, Field, ListedAccess, ListedTask, Listing, ListingError, StepRow};
pub use pass::{PassReport, Passes};
pub use plan::{Effort, MemoryPlan, PlannedArray};
pub use returned::Returned;
pub use scope::ProgramScope;

#[doc(hidden)]
pub use argument::argument;
#[doc(hidden)]
pub use dahl_core::__program::{Bindings, Draws, Outputs, refusal, with_slot};
