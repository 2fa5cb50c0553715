//! The atomics of this crate: the standard library's, or loom's when the models in `tests/loom.rs` explore them.

#[cfg(not(dahl_loom))]
pub(crate) use std::sync::atomic;

#[cfg(dahl_loom)]
pub(crate) use loom::sync::atomic;
