//! What runs on CUDA devices: on the stand-in for CUDA, or, where the environment says `CUDA_STAND_IN=0`, on those of the machine.
//! One program, in which one test at a time has the driver.

mod networks;
mod operations;
mod random_programs;
mod runtime;
