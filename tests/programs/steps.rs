//! The random programs of `random`: what they do, and how one is checked.

use std::panic::Location;

use dahl::ops::codelets::{
    Add, Concat, Exp, Greater, Matmul, MaxAxis, MeanAxis, Mul, Neg, Permute, Relu, Slice, Softmax, Sub, Sum,
    SumAxis, VarianceAxis,
};
use dahl::ops::{
    add_init, add_self, axpy_self, concat_init, exp_init, greater_init, matmul_init, max_axis_init,
    mean_axis_init, mul_init, mul_self, neg_init, permute_init, relu_init, slice_init, softmax_init,
    sub_init, sum_axis_init, sum_init, variance_axis_init,
};
use dahl::prelude::*;
use dahl::program::{Body, Program};
use dahl::{Codelet, Result};
use proptest::prelude::*;

static BODY: Body = Body {
    codelet: Codelet::new("random", module_path!(), 1),
    parameters: &["inputs", "total"],
    draws: false,
};

/// What a program does with two arrays that it has, by number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    Add,
    Sub,
    Mul,
    Relu,
    Exp,
    Neg,
    Matmul,
    Sum,
    SumAxis(usize),
    MaxAxis(usize),
    MeanAxis(usize),
    VarianceAxis(usize),
    Softmax(usize),
    AddToTotal,
    Permuted,
    Half(usize, bool),
    Joined(usize, usize, bool),
    Computed(usize),
    Transposed,
    Constant(usize),
    /// Changes the total in one of two ways, by which of two sums is larger.
    Branch,
    /// Changes the total so many times, each time in one of two ways.
    Loop(usize),
}

pub(crate) fn actions() -> impl Strategy<Value = Vec<(Action, usize, usize)>> {
    let action = prop_oneof![
        2 => Just(Action::Add),
        2 => Just(Action::Sub),
        2 => Just(Action::Mul),
        2 => Just(Action::Relu),
        1 => Just(Action::Exp),
        1 => Just(Action::Neg),
        1 => Just(Action::Matmul),
        2 => Just(Action::Sum),
        2 => (0..2_usize).prop_map(Action::SumAxis),
        1 => (0..2_usize).prop_map(Action::MaxAxis),
        1 => (0..2_usize).prop_map(Action::MeanAxis),
        1 => (0..2_usize).prop_map(Action::VarianceAxis),
        1 => (0..2_usize).prop_map(Action::Softmax),
        1 => Just(Action::AddToTotal),
        2 => Just(Action::Permuted),
        1 => (0..2_usize, any::<bool>()).prop_map(|(axis, last)| Action::Half(axis, last)),
        2 => (0..2_usize, 1..6_usize, any::<bool>()).prop_map(|(axis, at, turned)| Action::Joined(axis, at, turned)),
        1 => (0..2_usize).prop_map(Action::Computed),
        1 => Just(Action::Transposed),
        1 => (0..2_usize).prop_map(Action::Constant),
        1 => Just(Action::Branch),
        1 => (0..4_usize).prop_map(Action::Loop),
    ];
    prop::collection::vec((action, any::<usize>(), any::<usize>()), 1..24)
}

/// How a program's arrays share memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    Shared,
    Tight,
    /// From the second call on, in so many percent of what a tight plan needs.
    #[allow(dead_code, reason = "programs on devices have no limit")]
    Within(usize),
}

#[allow(dead_code, reason = "as above")]
pub(crate) fn memory() -> impl Strategy<Value = Memory> {
    prop_oneof![Just(Memory::Shared), Just(Memory::Tight), (40..100_usize).prop_map(Memory::Within)]
}

/// All operations of the programs.
trait Scopes:
    ControlFlow
    + Scope<Add>
    + Scope<Greater>
    + Scope<Sub>
    + Scope<Mul>
    + Scope<Relu>
    + Scope<Exp>
    + Scope<Neg>
    + Scope<Matmul>
    + Scope<Sum>
    + Scope<SumAxis>
    + Scope<MaxAxis>
    + Scope<MeanAxis>
    + Scope<VarianceAxis>
    + Scope<Softmax>
    + Scope<Permute>
    + Scope<Slice>
    + Scope<Concat>
{
}

impl<S> Scopes for S where
    S: ControlFlow
        + Scope<Add>
        + Scope<Greater>
        + Scope<Sub>
        + Scope<Mul>
        + Scope<Relu>
        + Scope<Exp>
        + Scope<Neg>
        + Scope<Matmul>
        + Scope<Sum>
        + Scope<SumAxis>
        + Scope<MaxAxis>
        + Scope<MeanAxis>
        + Scope<VarianceAxis>
        + Scope<Softmax>
        + Scope<Permute>
        + Scope<Slice>
        + Scope<Concat>
{
}

/// Runs the actions; the last two arrays that were made.
fn run<'s, T: Real>(
    arena: &'s Arena,
    scope: &'s impl Scopes,
    actions: &[(Action, usize, usize)],
    inputs: &[Matrix<'_, T>],
    total: &mut Matrix<'_, T>,
) -> Result<(Matrix<'s, T>, Matrix<'s, T>)> {
    let n = inputs[0].shape()[0];
    let mut made: Vec<Matrix<'s, T>> = vec![neg_init(scope, &inputs[0])?, relu_init(scope, &inputs[1])?];
    for &(action, one, other) in actions {
        let count = inputs.len() + made.len();
        let pick = |index: usize| {
            let index = index % count;
            if index < inputs.len() { &inputs[index] } else { &made[index - inputs.len()] }
        };
        let (x, y) = (pick(one), pick(other));
        let other_half = other % 2 == 1;
        let stretches = x.shape().iter().zip(y.shape()).all(|(&x, y)| x == y || x == 1 || y == 1);
        let is_full = |array: &Matrix<'_, T>| array.shape() == [n, n];
        let stretches_to_all =
            |array: &Matrix<'_, T>| array.shape().iter().all(|&extent| [1, n].contains(&extent));
        let new = match action {
            Action::Add if stretches => add_init(scope, x, y)?,
            Action::Sub if stretches => sub_init(scope, x, y)?,
            Action::Mul if stretches => mul_init(scope, x, y)?,
            Action::Relu => relu_init(scope, x)?,
            Action::Exp => exp_init(scope, x)?,
            Action::Neg => neg_init(scope, x)?,
            Action::Matmul if x.shape()[1] == y.shape()[0] => matmul_init(scope, x, y)?,
            Action::Sum => neg_init(scope, &*sum_init(scope, x)?.reshaped([1, 1])?)?,
            Action::SumAxis(axis) => sum_axis_init(scope, x, axis)?,
            Action::MaxAxis(axis) => max_axis_init(scope, x, axis)?,
            Action::MeanAxis(axis) => mean_axis_init(scope, x, axis)?,
            Action::VarianceAxis(axis) => variance_axis_init(scope, x, axis, 0)?,
            Action::Softmax(axis) => softmax_init(scope, x, axis)?,
            Action::Permuted => permute_init(scope, x, [1, 0])?,
            Action::Half(axis, last) if x.shape()[axis] > 1 => {
                let half = x.shape()[axis] / 2;
                slice_init(scope, x, axis, if last { x.shape()[axis] - half } else { 0 }, half)?
            }
            Action::Joined(axis, at, turned) if x.shape()[axis] > at => {
                let rest = x.shape()[axis] - at;
                let (one, other) =
                    (slice_init(scope, x, axis, 0, at)?, slice_init(scope, x, axis, at, rest)?);
                let joined = if turned { [&other, &one] } else { [&one, &other] };
                let joined = concat_init(scope, &joined, axis)?;
                if other_half { slice_init(scope, &joined, axis, 0, at.min(rest))? } else { joined }
            }
            Action::Computed(seed) => {
                let values: Vec<T> = (0..n).map(|i| T::from_f64((i % 5 + seed) as f64 - 2.0)).collect();
                let constant = arena.from_slice([1, n], &values)?;
                relu_init(scope, &softmax_init(scope, &constant, 1)?)?
            }
            Action::AddToTotal if is_full(x) => {
                add_self(total, x)?;
                continue;
            }
            Action::Branch if stretches && stretches_to_all(x) && stretches_to_all(y) => {
                let is_larger = greater_init(scope, &sum_init(scope, x)?, &sum_init(scope, y)?)?;
                scope.branch(&is_larger, |scope, holds| {
                    let (x, y) = if holds { (x, y) } else { (y, x) };
                    let product = relu_init(scope, &mul_init(scope, x, &neg_init(scope, y)?)?)?;
                    mul_self(total, &exp_init(scope, &product)?)
                })?;
                continue;
            }
            Action::Loop(rounds) if stretches_to_all(x) => {
                let one = arena.from_slice([], &[T::ONE])?;
                let mut left: Scalar<'_, T> = arena.from_slice([], &[T::from_f64(rounds as f64)])?;
                scope.repeat_while(&mut left, |scope, left| {
                    let product = relu_init(scope, &mul_init(scope, x, &*total)?)?;
                    axpy_self(&one, left, T::from_f64(-1.0))?;
                    // The last round is another one.
                    scope.branch(&*left, |scope, holds| match holds {
                        true => add_self(total, &product),
                        false => mul_self(total, &neg_init(scope, &product)?),
                    })
                })?;
                continue;
            }
            Action::Transposed if !is_full(x) => {
                let [rows, cols] = x.shape();
                relu_init(scope, &*x.reshaped([cols, rows])?)?
            }
            Action::Constant(seed) if stretches_to_all(x) => {
                let values: Vec<T> = (0..n * n).map(|i| T::from_f64((i % 7 + seed) as f64 - 3.0)).collect();
                mul_init(scope, &arena.from_slice([n, n], &values)?, x)?
            }
            _ => continue,
        };
        made.push(new);
    }
    let last = made.pop().expect("two were made first");
    let before = made.pop().expect("two were made first");
    Ok((before, last))
}

fn bits<T: Real>(arrays: &[&Matrix<'_, T>]) -> Vec<u64> {
    let values = arrays.iter().flat_map(|array| array.to_vec().expect("no task fails"));
    values.map(|value| value.to_f64().to_bits()).collect()
}

/// Three calls of a program: the same bits as when each of its calls is submitted.
pub(crate) fn check<T: Real>(
    rt: &Runtime,
    n: usize,
    actions: &[(Action, usize, usize)],
    passes: Passes,
    memory: Memory,
) -> Result<()> {
    let value = |seed: usize| T::from_f64(((seed * 7919) % 211) as f64 / 105.0 - 1.0);
    let array = |shape: [usize; 2], seed: usize| {
        rt.from_vec(shape, (0..shape[0] * shape[1]).map(|i| value(i + seed)).collect())
    };
    let inputs =
        [array([n, n], 1)?, array([n, n], 2)?, array([1, n], 3)?, array([n, 1], 4)?, array([1, 1], 5)?];
    let (mut total, mut expected_total) = (array([n, n], 6)?, array([n, n], 6)?);
    let mut program = Program::new(rt, &BODY);
    program.set_passes(passes);
    program.set_tight(memory != Memory::Shared);
    let mut most = None;
    for _ in 0..3 {
        let arena = rt.arena();
        let (one, other) = run(&arena, &arena, actions, &inputs, &mut expected_total)?;
        let mut arguments = (&inputs[..], &mut total);
        let made = program.call::<_, (Matrix<'static, T>, Matrix<'static, T>)>(
            &mut arguments,
            Location::caller(),
            |(inputs, total), scope, outputs| {
                let returned = run(scope.arena(), scope, actions, inputs, total)?;
                dahl::program::Returned::note(&returned, outputs);
                Ok(())
            },
        );
        let (made, too) = match (made, most) {
            // It cannot be computed in less memory.
            (Err(error), Some(_)) if error.to_string().contains("more than its limit of") => return Ok(()),
            (made, _) => made?,
        };
        let bytes = program.memory_plan().all_bytes();
        assert!(most.is_none_or(|most| bytes <= most), "{bytes} of {most:?} bytes");
        if let (Memory::Within(percent), None) = (memory, most) {
            let less = bytes * percent / 100;
            program.set_most_bytes(less);
            most = Some(less);
        }
        assert_eq!(bits(&[&made, &too, &total]), bits(&[&one, &other, &expected_total]));
    }
    Ok(())
}
