//! Joins arrays: [`concat()`], [`stack`], and its reverse, [`unstack`].
//!
//! A task of its own copies each array to or from its part of the whole. So the copies run in parallel, and a task that
//! uses one of the arrays need not wait for the others. The gradient of [`concat()`] is [`split`](super::split()), that of
//! [`stack`] is [`unstack`].

use dahl::__private::{Codelet, Composite, Gradient, Parameter, Repeat, Rule, RuleCall};
use dahl::ndarray::Axis;
use dahl::prelude::*;
use dahl::{ElementType, Error, Result};

use super::copy::copy;

/// The extents of `arrays` at `axis`, and the shape of their concatenation.
#[track_caller]
pub(super) fn joined<const N: usize>(
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
pub(super) fn require_shape<const N: usize>(
    op: &'static str,
    whole: [usize; N],
    expected: [usize; N],
) -> Result<()> {
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

/// [`concat()`] into a new array of `scope`.
///
/// # Errors
/// As [`concat()`], or if memory cannot be allocated.
#[track_caller]
pub fn concat_init<'m, T: Element, const N: usize>(
    scope: &'m impl Scope<Concat>,
    inputs: &[&Array<'_, T, N>],
    axis: usize,
) -> Result<Array<'m, T, N>> {
    let shapes = inputs.iter().map(|input| input.shape()).collect::<Vec<_>>();
    let mut out = scope.arena().zeros(joined("concat", &shapes, axis)?.0)?;
    concat(inputs, &mut out, axis)?;
    scope.remember(|| {
        let call = Composite::new(&CONCAT, Concat::gradient::<T, N>(), concat_again::<T, N>)
            .array(&out)
            .argument(axis);
        Ok(inputs.iter().fold(call, |call, input| call.array(input)))
    })?;
    Ok(out)
}

/// What [`concat_init`] is for a tape: an operation of several tasks.
#[derive(Clone, Copy, Debug)]
pub struct Concat;

impl dahl::Differentiable for Concat {}

/// The names of its arrays: the output, and any number of inputs.
static CONCAT: Codelet = Codelet::new("concat", module_path!(), 1).parameters(JOINED);
static STACK: Codelet = Codelet::new("stack", module_path!(), 1).parameters(JOINED);
const JOINED: &[Parameter] = &[
    Parameter::new("out", AccessMode::W, ElementType::of::<f32>()),
    Parameter::new("inputs", AccessMode::R, ElementType::of::<f32>()),
];

/// The gradient of an operation that joins inputs: its output is the first array, and its inputs follow.
const fn of_joined(rule: fn(&mut RuleCall<'_>) -> Result<()>) -> Gradient {
    Gradient {
        inputs: !1,
        outputs: 1,
        reads: 0,
        rule: Rule::Function(rule),
        addition: crate::gradient::addition,
    }
}

impl Concat {
    fn gradient<T: Element, const N: usize>() -> &'static Gradient {
        fn of<T: Real, const N: usize>() -> &'static Gradient {
            const { &of_joined(concat_gradient::<T, N>) }
        }
        Gradient::of_real::<T>([of::<f16, N>, of::<bf16, N>, of::<f32, N>, of::<f64, N>])
    }
}

/// Joins again, into another output.
fn concat_again<T: Element, const N: usize>(arrays: &Repeat<'_>) -> Result<()> {
    let inputs: Vec<Array<'_, T, N>> = (1..arrays.arrays()).map(|index| arrays.array(index)).collect();
    concat(&inputs.iter().collect::<Vec<_>>(), &mut arrays.array(0), arrays.argument())
}

/// Each input gets its part of the gradient.
fn concat_gradient<T: Real, const N: usize>(call: &mut RuleCall<'_>) -> Result<()> {
    let Some(gradient) = call.gradient::<T, N>(0) else { return Ok(()) };
    let (axis, scope) = (call.argument::<usize>(), call.scope());
    let mut start = 0;
    for input in 1..call.arrays() {
        let len = call.extents(input)[axis];
        let mut by = call.by::<T, N>(input)?;
        if let Some(by) = by.lend() {
            *by = super::slice_init(&scope, &gradient, axis, start, len)?;
        }
        call.add(input, by)?;
        start += len;
    }
    Ok(())
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

/// [`stack`] into a new array of `scope`.
///
/// # Errors
/// As [`stack`], or if memory cannot be allocated.
#[track_caller]
pub fn stack_init<'m, T: Element, const N: usize, const M: usize>(
    scope: &'m impl Scope<Stack>,
    inputs: &[&Array<'_, T, N>],
    axis: usize,
) -> Result<Array<'m, T, M>> {
    let shapes = inputs.iter().map(|input| input.shape()).collect::<Vec<_>>();
    let [_, all] = stacked::<N, M>("stack", &shapes, axis)?;
    let mut out = scope.arena().zeros(all)?;
    stack(inputs, &mut out, axis)?;
    scope.remember(|| {
        let call = Composite::new(&STACK, Stack::gradient::<T, N, M>(), stack_again::<T, N, M>)
            .array(&out)
            .argument(axis);
        Ok(inputs.iter().fold(call, |call, input| call.array(input)))
    })?;
    Ok(out)
}

/// What [`stack_init`] is for a tape: an operation of several tasks.
#[derive(Clone, Copy, Debug)]
pub struct Stack;

impl dahl::Differentiable for Stack {}

impl Stack {
    fn gradient<T: Element, const N: usize, const M: usize>() -> &'static Gradient {
        fn of<T: Real, const N: usize, const M: usize>() -> &'static Gradient {
            const { &of_joined(stack_gradient::<T, N, M>) }
        }
        Gradient::of_real::<T>([of::<f16, N, M>, of::<bf16, N, M>, of::<f32, N, M>, of::<f64, N, M>])
    }
}

/// Stacks again, into another output.
fn stack_again<T: Element, const N: usize, const M: usize>(arrays: &Repeat<'_>) -> Result<()> {
    let inputs: Vec<Array<'_, T, N>> = (1..arrays.arrays()).map(|index| arrays.array(index)).collect();
    stack(&inputs.iter().collect::<Vec<_>>(), &mut arrays.array::<T, M>(0), arrays.argument())
}

/// Each input gets its index of the gradient.
fn stack_gradient<T: Real, const N: usize, const M: usize>(call: &mut RuleCall<'_>) -> Result<()> {
    let Some(gradient) = call.gradient::<T, M>(0) else { return Ok(()) };
    let (axis, scope) = (call.argument::<usize>(), call.scope());
    for input in 1..call.arrays() {
        let mut by = call.by::<T, N>(input)?;
        if let Some(by) = by.lend() {
            *by = super::slice_init(&scope, &gradient, axis, input - 1, 1)?.reshape(by.shape())?;
        }
        call.add(input, by)?;
    }
    Ok(())
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
