//! Several ranks that run one program of dahl, as processes that `mpirun` starts.
//!
//! ```no_run
//! use dahl_core::Runtime;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mpi = dahl_mpi::init()?;
//! let sum = mpi.run(Runtime::builder(), |rt| {
//!     let x = rt.from_vec([2], vec![1.0_f32, 2.0])?;
//!     Ok(x.read()?.sum())
//! })?;
//! # Ok(())
//! # }
//! ```
//!
//! A thread of its own makes all calls to MPI, so the program needs no particular level of MPI's threads. It sends small
//! messages at once; of a large one only a header, until the receiver knows the array that it is for, and then the
//! elements from array to array, in chunks. `README.md` describes this, and what happens when a rank fails.

mod communication;
mod communicator;
mod discarded;
mod header;
mod launcher;
mod pulse;
mod run;
mod settings;

pub use dahl_ranks::RankFailed;
pub use launcher::{Mpi, NotInitialised, init};
pub use settings::Settings;
