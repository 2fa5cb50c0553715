//! Splits arrays: [`split`], and [`split_init`], whose gradient joins those of the parts once for all.

use dahl::__private::{Codelet, Composite, Gradient, Parameter, Repeat, Rule, RuleCall};
use dahl::ndarray::Axis;
use dahl::prelude::*;
use dahl::{ElementType, Error, Result};

use super::concat::{concat_init, joined, require_shape};
use super::copy::copy;

/// Splits `input` along `axis` into `outs`, each with the extent that the output has there.
///
/// # Shapes
/// As for [`concat()`](super::concat()), with `input` in place of `out`.
///
/// # Errors
/// If the shapes do not agree.
#[track_caller]
pub fn split<T: Element, const N: usize>(
    input: &Array<'_, T, N>,
    outs: &mut [&mut Array<'_, T, N>],
    axis: usize,
) -> Result<()> {
    let shapes = outs.iter().map(|out| out.shape()).collect::<Vec<_>>();
    let (shape, lengths) = joined("split", &shapes, axis)?;
    require_shape("split", input.shape(), shape)?;
    for (part, out) in input.partition_by(Axis(axis), &lengths)?.iter().zip(outs) {
        copy(part, out)?;
    }
    Ok(())
}

/// [`split`] into new arrays of `scope`, of `lengths` along `axis`: a [`slice`](super::slice) for each. The gradient joins
/// theirs, once for all.
///
/// # Errors
/// If there is no such axis, the lengths do not sum to its extent, or memory cannot be allocated.
#[track_caller]
pub fn split_init<'m, T: Element, const N: usize>(
    scope: &'m impl Scope<Split>,
    input: &Array<'_, T, N>,
    axis: usize,
    lengths: &[usize],
) -> Result<Vec<Array<'m, T, N>>> {
    let shape = input.shape();
    let Some(&extent) = shape.get(axis) else {
        return Err(Error::invalid_shape("split", format!("there is no axis {axis} in the shape {shape:?}")));
    };
    let sum = lengths.iter().try_fold(0_usize, |sum, &len| sum.checked_add(len));
    if sum != Some(extent) {
        let sum = sum.map_or("more than memory holds".to_owned(), |sum| sum.to_string());
        let fact = format!(
            "lengths of {lengths:?} sum to {sum}, not to the extent {extent} of axis {axis} of the shape {shape:?}"
        );
        return Err(Error::invalid_shape("split", fact));
    }
    let mut start = 0;
    let mut outs = Vec::with_capacity(lengths.len());
    for &len in lengths {
        outs.push(super::slice_init(scope.arena(), input, axis, start, len)?);
        start += len;
    }
    scope.remember(|| {
        let call = Composite::new(&SPLIT, Split::gradient::<T, N>(), split_again::<T, N>)
            .array(input)
            .argument(axis);
        Ok(outs.iter().fold(call, |call, out| call.array(out)))
    })?;
    Ok(outs)
}

/// The names of its arrays: the input, and any number of outputs.
static SPLIT: Codelet = Codelet::new("split", module_path!(), 1).parameters(&[
    Parameter::new("input", AccessMode::R, ElementType::of::<f32>()),
    Parameter::new("outs", AccessMode::W, ElementType::of::<f32>()),
]);

/// What [`split_init`] is for a tape: an operation of several tasks.
#[derive(Clone, Copy, Debug)]
pub struct Split;

impl dahl::Differentiable for Split {}

impl Split {
    fn gradient<T: Element, const N: usize>() -> &'static Gradient {
        fn of<T: Real, const N: usize>() -> &'static Gradient {
            const {
                &Gradient {
                    inputs: 1,
                    outputs: !1,
                    reads: 0,
                    rule: Rule::Function(split_gradient::<T, N>),
                    addition: crate::gradient::addition,
                }
            }
        }
        Gradient::of_real::<T>([of::<f16, N>, of::<bf16, N>, of::<f32, N>, of::<f64, N>])
    }
}

/// Splits again, into other outputs.
fn split_again<T: Element, const N: usize>(arrays: &Repeat<'_>) -> Result<()> {
    let mut outs: Vec<Array<'_, T, N>> = (1..arrays.arrays()).map(|index| arrays.array(index)).collect();
    split(&arrays.array(0), &mut outs.iter_mut().collect::<Vec<_>>(), arrays.argument())
}

/// The input gets the gradients by the outputs, side by side. An output that the loss does not depend on has one of zero.
fn split_gradient<T: Real, const N: usize>(call: &mut RuleCall<'_>) -> Result<()> {
    let (axis, scope) = (call.argument::<usize>(), call.scope());
    let mut by = call.by::<T, N>(0)?;
    if let Some(by) = by.lend() {
        let mut parts = Vec::with_capacity(call.arrays() - 1);
        for out in 1..call.arrays() {
            parts.push(match call.gradient::<T, N>(out) {
                Some(gradient) => gradient,
                None => {
                    let mut shape = by.shape();
                    shape[axis] = call.extents(out)[axis];
                    scope.detached().zeros(shape)?
                }
            });
        }
        *by = concat_init(&scope, &parts.iter().collect::<Vec<_>>(), axis)?;
    }
    call.add(0, by)
}
