//! Programs on several ranks.

mod failures;
mod kernels;
mod random;
