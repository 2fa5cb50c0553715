//! Tests of networks, in one program, so that shared code is compiled once.

mod dataset;
mod determinism;
mod gradients;
mod losses;
mod metrics;
mod names;
pub mod placement;
mod records;
mod settings;
mod training;
mod trajectories;
mod user_traits;
