//! What several studies run: the training of a small network, a factorisation in tiles, and the machines that are
//! simulated.

mod calibrated;
mod cholesky;
mod cnn;
mod machine;
mod pinned;

pub(crate) use calibrated::first_and_known;
pub(crate) use cholesky::Cholesky;
pub(crate) use cnn::{Cnn, First};
pub(crate) use machine::{DEVICE, beside_cpu, of_cpu, of_tiles};
pub(crate) use pinned::Pinned;
