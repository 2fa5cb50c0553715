//! Performance models: the expected durations of tasks, and the files that store them. In virtual time durations are
//! exact; in real time none is asserted.

mod calibration;
mod expectation;
mod machines;
mod program;
mod storage;
mod stored;
mod transfers;
mod unusable;
mod writers;
