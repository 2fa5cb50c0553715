//! The number type of references that are not given: for now `f64`.

/// In what a declaration is compared with itself.
pub(super) type DoubleDouble = f64;
