//! Networks on a CUDA device: on the fake CUDA driver, or, where the environment says `FAKE_CUDA=0`, on one of the machine's own.

mod bed;
mod data_loader;
mod training;
