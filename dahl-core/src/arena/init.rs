//! What a function `.._init` does before it submits a task: it determines the output's shape, checks preconditions, and
//! allocates the output.

use std::fmt::Debug;
use std::panic::Location;

use super::Arena;
use crate::array::Array;
use crate::codelet::Codelet;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::Content;
use crate::shape::broadcast_shape;
use crate::submission::check_error;

/// Requires a precondition before there is a task (`_init` creates its outputs first).
#[doc(hidden)]
#[track_caller]
pub fn require(
    codelet: &Codelet,
    holds: bool,
    expression: &'static str,
    values: &[(&'static str, &dyn Debug)],
) -> Result<()> {
    if holds { Ok(()) } else { Err(check_error(codelet, expression, values, Location::caller())) }
}

/// An array without a value yet, whose first task must write every element, or reduces into it.
#[track_caller]
pub(crate) fn output<T: Element, const N: usize>(
    arena: &Arena,
    shape: [usize; N],
    reduces: bool,
) -> Result<Array<'_, T, N>> {
    let array = arena.array(shape, Content::Unset)?;
    if reduces {
        array.state().reductions().forget(array.state(), Location::caller());
    }
    Ok(array)
}

/// The shape of a map's output from those of its inputs.
#[doc(hidden)]
#[track_caller]
pub fn map_shape<const N: usize>(
    codelet: &Codelet,
    inputs: &[(&'static str, [usize; N])],
    broadcast: bool,
) -> Result<[usize; N]> {
    let shapes = || inputs.iter().map(|(_, shape)| *shape);
    let common = if broadcast {
        broadcast_shape(shapes())
    } else {
        shapes().next().filter(|first| shapes().all(|shape| shape == *first))
    };
    if let Some(common) = common {
        return Ok(common);
    }
    // Not in a closure, since its caller would be in this file.
    let shapes =
        inputs.iter().map(|(name, shape)| format!("{name}: {shape:?}")).collect::<Vec<_>>().join(", ");
    let remedy = if broadcast { "; an extent of 1 stretches, others must be equal" } else { "" };
    Err(Error::new(ErrorKind::Shapes { codelet: codelet.name, shapes, remedy }))
}
