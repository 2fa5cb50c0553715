//! [`in_compute`]: elements in their compute type, copied only if they have another type.

use bytemuck::cast_slice;
use dahl_core::{ElementType, Real};

/// Whether `T` computes in itself, so that no conversion is needed.
pub(crate) fn computes_in_itself<T: Real>() -> bool {
    ElementType::of::<T>() == ElementType::of::<T::Compute>()
}

/// `values` themselves if they are in the compute type, else widened into `buffer`.
pub(super) fn in_compute<'a, T: Real>(values: &'a [T], buffer: &'a mut [T::Compute]) -> &'a [T::Compute] {
    if computes_in_itself::<T>() {
        cast_slice(values)
    } else {
        T::widen_slice(values, buffer);
        buffer
    }
}

/// The length of the buffer that [`in_compute`] needs.
pub(super) fn widened_len<T: Real>(length: usize) -> usize {
    if computes_in_itself::<T>() { 0 } else { length }
}
