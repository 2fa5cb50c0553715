//! Random programs of maps, stretched operands, reductions, products, views and updates in place, with passes and without:
//! the same bits as when each call is submitted.

use std::panic::Location;

use dahl::ops::codelets::{Add, Exp, Greater, Matmul, Mul, Neg, Relu, Sub, Sum, SumAxis};
use dahl::ops::{
    add_init, add_self, exp_init, greater_init, matmul_init, mul_init, mul_self, neg_init, relu_init,
    sub_init, sum_axis_init, sum_init,
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

/// The extent of each axis.
const N: usize = 37;

/// What a program does with two arrays that it has, by number.
#[derive(Clone, Copy, Debug)]
enum Action {
    Add,
    Sub,
    Mul,
    Relu,
    Exp,
    Neg,
    Matmul,
    Sum,
    SumAxis(usize),
    AddToTotal,
    Transposed,
    Constant(usize),
    /// Changes the total in one of two ways, by which of two sums is larger.
    Branch,
}

fn actions() -> impl Strategy<Value = Vec<(Action, usize, usize)>> {
    let action = prop_oneof![
        2 => Just(Action::Add),
        2 => Just(Action::Sub),
        2 => Just(Action::Mul),
        2 => Just(Action::Relu),
        1 => Just(Action::Exp),
        1 => Just(Action::Neg),
        1 => Just(Action::Matmul),
        2 => Just(Action::Sum),
        1 => (0..2_usize).prop_map(Action::SumAxis),
        1 => Just(Action::AddToTotal),
        1 => Just(Action::Transposed),
        1 => (0..2_usize).prop_map(Action::Constant),
        1 => Just(Action::Branch),
    ];
    prop::collection::vec((action, any::<usize>(), any::<usize>()), 1..24)
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
    let mut made: Vec<Matrix<'s, T>> = vec![neg_init(scope, &inputs[0])?, relu_init(scope, &inputs[1])?];
    for &(action, one, other) in actions {
        let count = inputs.len() + made.len();
        let pick = |index: usize| {
            let index = index % count;
            if index < inputs.len() { &inputs[index] } else { &made[index - inputs.len()] }
        };
        let (x, y) = (pick(one), pick(other));
        let stretches = x.shape().iter().zip(y.shape()).all(|(&x, y)| x == y || x == 1 || y == 1);
        let is_full = |array: &Matrix<'_, T>| array.shape() == [N, N];
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
            Action::AddToTotal if is_full(x) => {
                add_self(total, x)?;
                continue;
            }
            Action::Branch if stretches => {
                let is_larger = greater_init(scope, &sum_init(scope, x)?, &sum_init(scope, y)?)?;
                scope.branch(&is_larger, |scope, holds| {
                    let (x, y) = if holds { (x, y) } else { (y, x) };
                    let product = relu_init(scope, &mul_init(scope, x, &neg_init(scope, y)?)?)?;
                    mul_self(total, &exp_init(scope, &product)?)
                })?;
                continue;
            }
            Action::Transposed if !is_full(x) => {
                let [rows, cols] = x.shape();
                relu_init(scope, &*x.reshaped([cols, rows])?)?
            }
            Action::Constant(seed) => {
                let values: Vec<T> = (0..N * N).map(|i| T::from_f64((i % 7 + seed) as f64 - 3.0)).collect();
                mul_init(scope, &arena.from_slice([N, N], &values)?, x)?
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

fn check<T: Real>(
    actions: &[(Action, usize, usize)],
    workers: usize,
    passes: Passes,
    tight: bool,
) -> Result<()> {
    let rt = Runtime::builder().cpu_workers(workers).build()?;
    let value = |seed: usize| T::from_f64(((seed * 7919) % 211) as f64 / 105.0 - 1.0);
    let array = |shape: [usize; 2], seed: usize| {
        rt.from_vec(shape, (0..shape[0] * shape[1]).map(|i| value(i + seed)).collect())
    };
    let inputs =
        [array([N, N], 1)?, array([N, N], 2)?, array([1, N], 3)?, array([N, 1], 4)?, array([1, 1], 5)?];
    let (mut total, mut expected_total) = (array([N, N], 6)?, array([N, N], 6)?);
    let mut program = Program::new(&rt, &BODY);
    program.set_passes(passes);
    program.set_tight(tight);
    for _ in 0..2 {
        let arena = rt.arena();
        let (one, other) = run(&arena, &arena, actions, &inputs, &mut expected_total)?;
        let mut arguments = (&inputs[..], &mut total);
        let (made, too) = program.call::<_, (Matrix<'static, T>, Matrix<'static, T>)>(
            &mut arguments,
            Location::caller(),
            |(inputs, total), scope, outputs| {
                let returned = run(scope.arena(), scope, actions, inputs, total)?;
                dahl::program::Returned::note(&returned, outputs);
                Ok(())
            },
        )?;
        assert_eq!(bits(&[&made, &too, &total]), bits(&[&one, &other, &expected_total]));
    }
    Ok(())
}

fn cases() -> u32 {
    let wished = std::env::var("DAHL_RANDOM_PROGRAMS").ok().and_then(|text| text.parse().ok());
    wished.unwrap_or(64)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn passes_change_no_bit(
        actions in actions(),
        workers in 1..3_usize,
        element in 0..4_usize,
        on in any::<[bool; 6]>(),
        tight in any::<bool>(),
    ) {
        let passes = Passes::none().dead_tasks(on[0]).common_subexpressions(on[1]).fusion(on[2]);
        let passes = passes.in_place(on[3]).constants(on[4]).reductions(on[5]);
        let check = [check::<f16>, check::<bf16>, check::<f32>, check::<f64>][element];
        check(&actions, workers, passes, tight).expect("every call is right");
    }
}
