//! Programs on several ranks.

mod data_parallel;
mod failures;
mod kernels;
mod random;
