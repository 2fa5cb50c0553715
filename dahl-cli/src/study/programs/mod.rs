//! Programs that several studies run: the training of small networks, a factorisation and a product in tiles; and the simulated
//! machines.

mod cholesky;
mod cnn;
mod gpt;
mod learned;
mod machine;
mod models;
mod pinned;
mod products;
mod unchecked;
mod workload;

pub(crate) use cholesky::Cholesky;
pub(crate) use cnn::{Cnn, First, Trained};
pub(crate) use gpt::Gpt;
pub(crate) use learned::learned;
pub(crate) use machine::{DEVICE, beside_cpu, of_cpu, of_tiles};
pub(crate) use models::Models;
pub(crate) use pinned::Pinned;
pub(crate) use products::Products;
pub(crate) use unchecked::unchecked;
pub(crate) use workload::Workload;
