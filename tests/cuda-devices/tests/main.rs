//! What runs on CUDA devices: on the fake CUDA driver, or, where the environment says `FAKE_CUDA=0`, on those of the machine.
//! One program, in which one test at a time has the driver.

mod networks;
mod operations;
mod programs;
mod random_programs;
mod runtime;
