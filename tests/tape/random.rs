//! Random programs of differentiable operations, with checkpoints, several uses of one array, and detours through detached
//! values, against central differences.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::*;

/// Rows and columns of all matrices.
const SIDE: usize = 3;

/// An operation on earlier values, by their numbers.
#[derive(Clone, Debug)]
enum Step {
    Add(usize, usize),
    Mul(usize, usize),
    Matmul(usize, usize),
    Tanh(usize),
    Sigmoid(usize),
    SoftmaxRows(usize),
    MeanRows(usize),
    Transpose(usize),
    /// `max(a, b)` plus a constant distance, so that no two are equal.
    Maximum(usize, usize),
    JoinedAndSplit(usize, usize),
    Rows(usize),
    /// `a * b`, where `b` is taken for a constant.
    TimesConstant(usize, usize),
    /// `tanh(a + b) * a`, in a checkpoint.
    Checkpoint(usize, usize),
}

fn step() -> impl Strategy<Value = Step> {
    let value = || 0..100_usize;
    prop_oneof![
        (value(), value()).prop_map(|(a, b)| Step::Add(a, b)),
        (value(), value()).prop_map(|(a, b)| Step::Mul(a, b)),
        (value(), value()).prop_map(|(a, b)| Step::Matmul(a, b)),
        value().prop_map(Step::Tanh),
        value().prop_map(Step::Sigmoid),
        value().prop_map(Step::SoftmaxRows),
        value().prop_map(Step::MeanRows),
        value().prop_map(Step::Transpose),
        (value(), value()).prop_map(|(a, b)| Step::Maximum(a, b)),
        (value(), value()).prop_map(|(a, b)| Step::JoinedAndSplit(a, b)),
        value().prop_map(Step::Rows),
        (value(), value()).prop_map(|(a, b)| Step::TimesConstant(a, b)),
        (value(), value()).prop_map(|(a, b)| Step::Checkpoint(a, b)),
    ]
}

/// Runs a program. `constants` are the values that detached operands have; empty ones are noted.
fn run<'t>(
    tape: &'t Tape<'_>,
    inputs: &[&Matrix<'_, f64>; 2],
    steps: &[Step],
    constants: &mut Vec<Vec<f64>>,
) -> Result<Scalar<'t, f64>> {
    let mut values: Vec<Matrix<'t, f64>> = Vec::new();
    let mut next_constant = 0;
    for step in steps {
        let all = values.len() + 2;
        let value = |index: &usize| match index % all {
            input @ 0..2 => inputs[input],
            value => &values[value - 2],
        };
        let made = match step {
            Step::Add(a, b) => add_init(tape, value(a), value(b))?,
            Step::Mul(a, b) => tanh_init(tape, &mul_init(tape, value(a), value(b))?)?,
            Step::Matmul(a, b) => tanh_init(tape, &matmul_init(tape, value(a), value(b))?)?,
            Step::Tanh(a) => tanh_init(tape, value(a))?,
            Step::Sigmoid(a) => sigmoid_init(tape, value(a))?,
            Step::SoftmaxRows(a) => softmax_init(tape, value(a), 1)?,
            Step::MeanRows(a) => mul_init(tape, value(a), &mean_axis_init(tape, value(a), 1)?)?,
            Step::Transpose(a) => transpose_init(tape, value(a))?,
            Step::Maximum(a, b) => {
                // Far apart, by a sign for each element.
                let far = (0..SIDE * SIDE).map(|i| if i % 2 == 0 { 1e6 } else { -1e6 }).collect::<Vec<_>>();
                let far = tape.detached().from_slice([SIDE, SIDE], &far)?;
                let larger = maximum_init(tape, value(a), &add_init(tape, value(b), &far)?)?;
                tanh_init(tape, &scale_init(tape, &larger, 1e-6)?)?
            }
            Step::JoinedAndSplit(a, b) => {
                let joined = concat_init(tape, &[value(a), value(b)], 0)?;
                slice_init(tape, &joined, 0, 1, SIDE)?
            }
            Step::Rows(a) => {
                let rows = tape.detached().from_slice([SIDE], &[2_u32, 0, 2])?;
                gather_rows_init(tape, value(a), &rows)?
            }
            Step::TimesConstant(a, b) => {
                if next_constant == constants.len() {
                    constants.push(value(b).to_vec()?);
                }
                let constant = tape.detached().from_slice([SIDE, SIDE], &constants[next_constant])?;
                next_constant += 1;
                tanh_init(tape, &mul_init(tape, value(a), &constant)?)?
            }
            Step::Checkpoint(a, b) => {
                let (a, b) = (value(a), value(b));
                tape.checkpoint(|tape| mul_init(tape, &tanh_init(tape, &add_init(tape, a, b)?)?, a))?
            }
        };
        values.push(made);
    }
    let last = values.last().expect("a program has a step");
    let all = add_init(tape, last, &mul_init(tape, inputs[0], inputs[1])?)?;
    sum_init(tape, &all)
}

fn check(steps: &[Step]) -> Result<Option<String>> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let starts = [0.3, -0.2]
        .map(|start: f64| -> Vec<f64> { (0..SIDE * SIDE).map(|i| (start + 1.7 * i as f64).sin()).collect() });
    let mut constants = Vec::new();
    let loss_at = |values: &[Vec<f64>; 2], constants: &mut Vec<Vec<f64>>| -> Result<f64> {
        let (arena, tape) = (rt.arena(), rt.tape());
        let [a, b] = [0, 1].map(|i| arena.from_slice([SIDE, SIDE], &values[i]));
        let (a, b) = (a?, b?);
        let loss = run(&tape, &[&a, &b], steps, constants)?;
        Ok(loss.to_vec()?[0])
    };
    loss_at(&starts, &mut constants)?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let (a, b) = (arena.from_slice([SIDE, SIDE], &starts[0])?, arena.from_slice([SIDE, SIDE], &starts[1])?);
    let loss = run(&tape, &[&a, &b], steps, &mut constants)?;
    let (by_a, by_b) = tape.gradients(&loss, (&a, &b))?;
    let gradients = [by_a.to_vec()?, by_b.to_vec()?];
    // Three elements of each, and not all: differences are what takes the time.
    for input in 0..2 {
        for element in [0, 4, 8] {
            let mut at = |step: f64| {
                let mut values = starts.clone();
                values[input][element] += step;
                loss_at(&values, &mut constants)
            };
            let difference = (at(1e-5)? - at(-1e-5)?) / 2e-5;
            let gradient = gradients[input][element];
            if (gradient - difference).abs() > 1e-6 * gradient.abs().max(1.0) {
                return Ok(Some(format!("input {input}, element {element}: {gradient} is not {difference}")));
            }
        }
    }
    Ok(None)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn programs_have_the_gradients_of_their_differences(steps in prop::collection::vec(step(), 1..12)) {
        match check(&steps) {
            Ok(None) => {}
            Ok(Some(wrong)) => return Err(TestCaseError::fail(wrong)),
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        }
    }
}
