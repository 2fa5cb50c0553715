//! The worker of a CUDA device, on the fake CUDA driver: the work in its streams runs in an order that a seed draws
//! from those that streams and events permit, and accesses that are not ordered are found.
//!
//! The random programs also run there: `random_programs` beside this folder.

mod bed;
mod compiled;
mod energy;
mod failures;
mod libraries;
mod memory;
mod partitions;
mod peers;
mod work;
