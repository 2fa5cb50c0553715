//! The worker of a CUDA device, on the fake CUDA driver: what its streams hold is done in an order that a seed draws from
//! those that streams and events allow, and whatever nothing orders is found.
//!
//! The random programs run there too: `random_programs` beside this folder.

mod bed;
mod compiled;
mod failures;
mod graphs;
mod libraries;
mod memory;
mod partitions;
mod peers;
mod work;
