//! The atomics of the lock-free parts. `tests/loom.rs` compiles those parts with loom's in this module's place.

pub(crate) use std::sync::atomic;
