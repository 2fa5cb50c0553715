//! What several studies run: the training of a small network, a factorisation in tiles, and the machines that are
//! simulated.

mod cholesky;
mod cnn;
mod machine;
mod pinned;

pub(crate) use cholesky::Cholesky;
pub(crate) use cnn::{Cnn, First};
pub(crate) use machine::{DEVICE, beside_cpu, link_of_tiles, of_cpu, of_tiles};
pub(crate) use pinned::Pinned;
