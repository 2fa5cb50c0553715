//! Performance models: what is expected of tasks, and what is stored from run to run. In virtual time durations are
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
