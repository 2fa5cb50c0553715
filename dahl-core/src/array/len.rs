//! The number of bytes and of elements of an array, from its shape.

use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::shape::checked_len;

/// Bytes of an array of `shape`.
#[track_caller]
pub(crate) fn byte_len<T: Element>(shape: &[usize]) -> Result<usize> {
    let bytes = checked_len(shape).and_then(|len| len.checked_mul(size_of::<T>()));
    match bytes.filter(|&bytes| isize::try_from(bytes).is_ok()) {
        Some(bytes) => Ok(bytes),
        None => {
            let fact = format!("an array of shape {shape:?} of {} is larger than any memory", T::NAME);
            Err(Error::new(ErrorKind::InvalidShape { subject: "allocate", fact }))
        }
    }
}

/// Requires that `shape` has `len` elements.
#[track_caller]
pub(crate) fn require_len(subject: &'static str, shape: &[usize], len: usize) -> Result<()> {
    if checked_len(shape) == Some(len) {
        return Ok(());
    }
    let fact = format!("{len} elements do not fill the shape {shape:?}");
    Err(Error::new(ErrorKind::InvalidShape { subject, fact }))
}
