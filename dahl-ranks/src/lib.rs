//! Several ranks that run the same program of dahl.
//!
//! [`threads`] starts ranks as threads of this process, each with a runtime of its own. Messages between them are delayed
//! and reordered by a seed, so that tests see what a network may do. Other networks implement
//! [`Transport`](dahl_core::ranks::Transport), and start each rank with [`as_rank`]. The crate `dahl-mpi` does.
//!
//! [`cluster`](cluster()) runs ranks in virtual time, on a cluster that need not exist.

mod cluster;
mod launcher;
mod network;
mod ports;

pub use cluster::{cluster, run};
pub use launcher::{RankFailed, as_rank, panic_message, threads};
