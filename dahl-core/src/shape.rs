//! Shapes, from the crate `dahl-element`: what declarations use is public, layouts are internal to the runtime.

pub use dahl_element::shape::{DynExtents, Extents, IntoShape, MAX_RANK};
pub(crate) use dahl_element::shape::{Layout, broadcast_shape, checked_len, row_major_strides};
