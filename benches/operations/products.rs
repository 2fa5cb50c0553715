//! Small products of a batch.

use dahl::Result;
use dahl::ops;
use dahl::prelude::*;

use crate::clock::{Clock, Measured};
use crate::request::Request;

/// Extents: batch, rows, inner, columns.
pub(crate) fn batched<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [batch, rows, inner, cols] = request.extents();
    let a = clock.numbers::<T, 3>([batch, rows, inner])?;
    let b = clock.numbers::<T, 3>([batch, inner, cols])?;
    let mut out = clock.rt.zeros::<T, 3>([batch, rows, cols])?;
    clock.calls(|| ops::matmul_batched(&a, &b, &mut out))
}
