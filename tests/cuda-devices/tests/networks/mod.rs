//! Networks on a CUDA device: on the stand-in for CUDA, or, where the environment says `CUDA_STAND_IN=0`, on one of the machine's own.

mod bed;
mod feeder;
mod training;
