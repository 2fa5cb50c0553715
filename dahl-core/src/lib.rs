//! The core of dahl: arrays, tasks and the runtime that orders them.

pub mod argument;
pub mod element;
pub mod simd;
