//! Joins and splits arrays: [`concat()`], [`stack`], [`split`], [`unstack`].
//!
//! A task of its own copies each array to or from its part of the whole. So the copies run in parallel, and a task that
//! uses one of the arrays need not wait for the others. The gradient of [`concat()`] is [`split`], that of [`stack`] is
//! [`unstack`], and the reverse.

use dahl::ndarray::Axis;
use dahl::prelude::*;
use dahl::{Error, Result};

use super::copy::{copy, copy_init};

/// The extents of `arrays` at `axis`, and the shape of their concatenation.
#[track_caller]
fn joined<const N: usize>(
    op: &'static str,
    shapes: &[[usize; N]],
    axis: usize,
) -> Result<([usize; N], Vec<usize>)> {
    let Some(mut shape) = shapes.first().copied() else {
        return Err(Error::invalid_shape(op, "there are no arrays".to_owned()));
    };
    if axis >= N {
        return Err(Error::invalid_shape(op, format!("there is no axis {axis} in the shape {shape:?}")));
    }
    for other in shapes {
        if (0..N).any(|i| i != axis && other[i] != shape[i]) {
            let fact = format!("the shapes differ along another axis than {axis}: {shapes:?}");
            return Err(Error::invalid_shape(op, fact));
        }
    }
    let lengths = shapes.iter().map(|shape| shape[axis]).collect::<Vec<_>>();
    shape[axis] = lengths.iter().sum();
    Ok((shape, lengths))
}

#[track_caller]
fn require_shape<const N: usize>(op: &'static str, whole: [usize; N], expected: [usize; N]) -> Result<()> {
    if whole == expected {
        return Ok(());
    }
    let fact = format!("the whole has shape {whole:?}, but its parts together have shape {expected:?}");
    Err(Error::invalid_shape(op, fact))
}

/// `out = ` the concatenation of `inputs` along `axis`.
///
/// # Shapes
/// `inputs`: at least one; all extents but those at `axis` are equal. `out`: the same, with the sum of these.
///
/// # Errors
/// If the shapes do not agree.
#[track_caller]
pub fn concat<T: Element, const N: usize>(
    inputs: &[&Array<'_, T, N>],
    out: &mut Array<'_, T, N>,
    axis: usize,
) -> Result<()> {
    let shapes = inputs.iter().map(|input| input.shape()).collect::<Vec<_>>();
    let (shape, lengths) = joined("concat", &shapes, axis)?;
    require_shape("concat", out.shape(), shape)?;
    for (input, part) in inputs.iter().zip(out.partition_mut_by(Axis(axis), &lengths)?.iter_mut()) {
        copy(input, part)?;
    }
    Ok(())
}

/// [`concat()`] into an array in `arena`.
///
/// # Errors
/// As [`concat()`], or if memory cannot be allocated.
#[track_caller]
pub fn concat_init<'m, T: Element, const N: usize>(
    arena: &'m Arena,
    inputs: &[&Array<'_, T, N>],
    axis: usize,
) -> Result<Array<'m, T, N>> {
    let shapes = inputs.iter().map(|input| input.shape()).collect::<Vec<_>>();
    let mut out = arena.zeros(joined("concat", &shapes, axis)?.0)?;
    concat(inputs, &mut out, axis)?;
    Ok(out)
}

/// Splits `input` along `axis` into `outs`, each with the extent that the output has there.
///
/// # Shapes
/// As for [`concat()`], with `input` in place of `out`.
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

/// [`split`] into arrays in `arena`, of `lengths` along `axis`.
///
/// # Errors
/// If there is no such axis, the lengths do not sum to its extent, or memory cannot be allocated.
#[track_caller]
pub fn split_init<'m, T: Element, const N: usize>(
    arena: &'m Arena,
    input: &Array<'_, T, N>,
    axis: usize,
    lengths: &[usize],
) -> Result<Vec<Array<'m, T, N>>> {
    let mut outs = Vec::with_capacity(lengths.len());
    for part in input.partition_by(Axis(axis), lengths)?.iter() {
        outs.push(copy_init(arena, part)?);
    }
    Ok(outs)
}

/// `shape` with a new axis of `extent` at `axis`.
#[track_caller]
fn with_axis<const N: usize, const M: usize>(
    op: &'static str,
    shape: [usize; N],
    axis: usize,
    extent: usize,
) -> Result<[usize; M]> {
    const { assert!(M == N + 1, "a stack has one axis more than what is stacked") };
    if axis > N {
        return Err(Error::invalid_shape(op, format!("there is no place {axis} for an axis in {shape:?}")));
    }
    Ok(std::array::from_fn(|i| match i {
        i if i < axis => shape[i],
        i if i == axis => extent,
        i => shape[i - 1],
    }))
}

/// The shape of one array with the new axis, and of the stack.
#[track_caller]
fn stacked<const N: usize, const M: usize>(
    op: &'static str,
    shapes: &[[usize; N]],
    axis: usize,
) -> Result<[[usize; M]; 2]> {
    let Some(&shape) = shapes.first() else {
        return Err(Error::invalid_shape(op, "there are no arrays".to_owned()));
    };
    if shapes.iter().any(|other| *other != shape) {
        return Err(Error::invalid_shape(op, format!("the shapes differ: {shapes:?}")));
    }
    Ok([with_axis(op, shape, axis, 1)?, with_axis(op, shape, axis, shapes.len())?])
}

/// `out = ` the stack of `inputs` along a new axis: `out[.., i, ..] = inputs[i]`.
///
/// # Shapes
/// `inputs`: at least one, of one shape; `out`: the same with their number as a further extent, at `axis`.
///
/// # Errors
/// If the shapes do not agree, or an input is a part whose elements are not contiguous ([`Array::reshaped`]).
#[track_caller]
pub fn stack<T: Element, const N: usize, const M: usize>(
    inputs: &[&Array<'_, T, N>],
    out: &mut Array<'_, T, M>,
    axis: usize,
) -> Result<()> {
    let shapes = inputs.iter().map(|input| input.shape()).collect::<Vec<_>>();
    let [one, all] = stacked("stack", &shapes, axis)?;
    require_shape("stack", out.shape(), all)?;
    let mut views = Vec::with_capacity(inputs.len());
    for input in inputs {
        views.push(input.reshaped(one)?);
    }
    for (input, part) in views.iter().zip(out.partition_mut(Axis(axis), 1)?.iter_mut()) {
        copy(input, part)?;
    }
    Ok(())
}

/// [`stack`] into an array in `arena`.
///
/// # Errors
/// As [`stack`], or if memory cannot be allocated.
#[track_caller]
pub fn stack_init<'m, T: Element, const N: usize, const M: usize>(
    arena: &'m Arena,
    inputs: &[&Array<'_, T, N>],
    axis: usize,
) -> Result<Array<'m, T, M>> {
    let shapes = inputs.iter().map(|input| input.shape()).collect::<Vec<_>>();
    let [_, all] = stacked::<N, M>("stack", &shapes, axis)?;
    let mut out = arena.zeros(all)?;
    stack(inputs, &mut out, axis)?;
    Ok(out)
}

/// `outs[i] = input[.., i, ..]`, with `i` at `axis`.
///
/// # Shapes
/// As for [`stack`], with `input` in place of `out`.
///
/// # Errors
/// As [`stack`].
#[track_caller]
pub fn unstack<T: Element, const N: usize, const M: usize>(
    input: &Array<'_, T, M>,
    outs: &mut [&mut Array<'_, T, N>],
    axis: usize,
) -> Result<()> {
    let shapes = outs.iter().map(|out| out.shape()).collect::<Vec<_>>();
    let [one, all] = stacked("unstack", &shapes, axis)?;
    require_shape("unstack", input.shape(), all)?;
    let mut views = Vec::with_capacity(outs.len());
    for out in outs {
        views.push(out.reshaped_mut(one)?);
    }
    for (part, out) in input.partition(Axis(axis), 1)?.iter().zip(&mut views) {
        copy(part, out)?;
    }
    Ok(())
}
