//! Networks on a CUDA device: on the fake CUDA driver, or, if the environment says `FAKE_CUDA=0`, on a device of the
//! machine.

mod architectures;
mod bed;
mod data_loader;
mod optimizers;
mod training;
mod transformer;

pub(crate) use bed::{Bed, on_device};
