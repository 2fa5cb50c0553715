//! Several ranks that run the same program of dahl.
//!
//! [`threads`] starts ranks as threads of this process, each with a runtime of its own. Messages between them are delayed
//! and reordered by a seed, so that tests see what a network may do. Other networks implement
//! [`Transport`](dahl_core::ranks::Transport).

mod launcher;
mod network;

pub use launcher::{RankFailed, threads};

/// The program in the page on ranks, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../docs/ranks.md")]
struct Page;
