//! Programs that several studies run: the training of a small network, a factorisation in tiles, and the simulated
//! machines.

mod cholesky;
mod cnn;
mod learned;
mod machine;
mod models;
mod pinned;
mod unchecked;

pub(crate) use cholesky::Cholesky;
pub(crate) use cnn::{Cnn, First, Trained};
pub(crate) use learned::learned;
pub(crate) use machine::{DEVICE, beside_cpu, of_cpu, of_tiles};
pub(crate) use models::Models;
pub(crate) use pinned::Pinned;
pub(crate) use unchecked::unchecked;
