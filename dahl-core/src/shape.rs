//! Shapes, of the crate `dahl-element`: what declarations see is public, layouts are the runtime's own.

pub use dahl_element::shape::{DynExtents, Extents, IntoShape, MAX_RANK};
pub(crate) use dahl_element::shape::{Layout, broadcast_shape, checked_len, row_major_strides};
