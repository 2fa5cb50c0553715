//! Master copies of parameters in half precision: updates below the spacing of the parameter's type add up.

use dahl::ops;
use dahl::prelude::*;
use dahl_nn::optimizer::{Stateful, UpdateRule};
use dahl_nn::prelude::*;

use crate::optimizers::{Reference, Values, numbers, runtime};

/// Requires that a parameter is that of f32, rounded, after each step, and that the master copy and the other arrays have the
/// bits of f32: gradients are the same, since those of the half type are exact in f32.
pub(crate) fn compare_mastered<T: Real<Compute = f32>, R: UpdateRule>(
    mut half: Stateful<T, R>,
    mut single: Stateful<f32, R>,
) {
    let (rt, reference) = (runtime(), Reference::read());
    let arena = rt.arena();
    let mut model = Values::<T>::new(&arena, &reference.start());
    let mut wide = Values::<f32>::new(&arena, &model.values());
    for gradients in &reference.gradients() {
        model.set_gradients(gradients);
        wide.set_gradients(&model.gradients());
        half.step(&mut model).unwrap();
        single.step(&mut wide).unwrap();
        let rounded = |values: &Vec<f64>| values.iter().map(|&value| T::from_f64(value).to_f64()).collect();
        assert_eq!(model.values(), wide.values().iter().map(rounded).collect::<Vec<Vec<f64>>>());
    }
    for ((state, of_single), values) in half.states().iter().zip(single.states()).zip(wide.values()) {
        let expected: Vec<_> = of_single.arrays.iter().map(numbers).chain([values]).collect();
        assert_eq!(state.arrays.iter().map(numbers).collect::<Vec<_>>(), expected, "{half:?}");
        assert_eq!(state.array_names.last(), Some(&"master"));
    }
}

/// 100 steps of 1e-4 from 1, along a gradient of 1.
fn hundred_steps<T: Real>(mut sgd: Sgd<T>) -> f64 {
    let rt = runtime();
    let arena = rt.arena();
    let one = || arena.from_vec([1], vec![T::ONE]).unwrap();
    let mut parameter = Parameter::new(&arena, &[1], one()).unwrap();
    parameter.gradient = one();
    for _ in 0..100 {
        sgd.step(&mut parameter).unwrap();
    }
    numbers(&parameter.value)[0]
}

#[test]
fn updates_below_the_spacing_add_up() {
    // The spacing below 1 is 2^-8 in bf16, and 2^-11 in f16: 1e-4 is less than half of either.
    assert_eq!(hundred_steps::<bf16>(Sgd::new(1e-4)), 1.0);
    assert_eq!(hundred_steps::<f16>(Sgd::new(1e-4)), 1.0);
    let sum = hundred_steps::<f32>(Sgd::new(1e-4));
    assert!((sum - 0.99).abs() < 100.0 * f64::from(f32::EPSILON), "{sum}");
    assert_eq!(hundred_steps(Sgd::<bf16>::new(1e-4).master_weights(true)), bf16::from_f64(sum).to_f64());
    assert_eq!(hundred_steps(Sgd::<f16>::new(1e-4).master_weights(true)), f16::from_f64(sum).to_f64());
}

/// The values of a parameter after each of 2000 steps of gradient descent on `sum((value - target)^2) / 2`.
fn descent<T: Real>(mut sgd: Sgd<T>) -> Vec<Vec<f64>> {
    let rt = runtime();
    let arena = rt.arena();
    let from = |values: [f64; 4]| arena.from_vec([4], values.map(T::from_f64).to_vec()).unwrap();
    let target = from([0.5, -0.75, 0.125, 1.0]);
    let mut parameter = Parameter::new(&arena, &[4], from([1.0, 0.5, -1.0, -0.25])).unwrap();
    let mut values = Vec::new();
    for _ in 0..2000 {
        parameter
            .learn(&rt, |step, parameter| {
                let difference = ops::sub_init(step, &parameter.value, &target)?;
                let squares = ops::square_init(step, &difference)?;
                ops::scale_init(step, &ops::sum_init(step, &squares)?, T::from_f64(0.5))
            })
            .unwrap();
        sgd.step(&mut parameter).unwrap();
        values.push(numbers(&parameter.value));
    }
    values
}

/// With `d` the master copy's distance from the trajectory of f32, a step of rate `r` is `d' = (1 - r) d + r e`, where `e` is the
/// error of the gradient `value - target`: that of the rounded value, and that of the rounded difference. Both are at most
/// the unit roundoff `u` times the largest of either, so `|d|` is at most the larger of the sum at any step, however many there are. The
/// parameter is the master copy, rounded: one more `u * |value|`.
fn check_descent<T: Real>(unit_roundoff: f64, rate: f64) {
    let single = descent(Sgd::<f32>::new(rate));
    let half = descent(Sgd::<T>::new(rate).master_weights(true));
    let (largest_value, largest_gradient) = (1.0, 1.25);
    // The steps of f32 round too: thrice a step.
    let of_single = 3.0 * 2000.0 * f64::from(f32::EPSILON) / 2.0;
    let bound = unit_roundoff * (2.0 * largest_value + (1.0 + unit_roundoff) * largest_gradient) + of_single;
    for (step, (half, single)) in half.iter().zip(&single).enumerate() {
        for (half, single) in half.iter().zip(single) {
            assert!((half - single).abs() <= bound, "{}, step {step}: {half}, not {single}", T::NAME);
        }
    }
    // Without master copies, values stand still before they are there.
    let stuck = descent(Sgd::<T>::new(rate));
    let is_beyond = |(half, single): (&f64, &f64)| (half - single).abs() > bound;
    assert!(stuck[1999].iter().zip(&single[1999]).any(is_beyond), "{:?}", stuck[1999]);
}

#[test]
fn a_descent_in_half_precision_stays_near_that_of_f32() {
    check_descent::<bf16>(1.0 / 256.0, 2e-3);
    check_descent::<f16>(1.0 / 2048.0, 4e-4);
}

#[test]
fn a_checkpoint_has_the_master_copies() -> dahl::Result<()> {
    let rt = runtime();
    let arena = rt.arena();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint.safetensors");
    let reference = Reference::read();
    let adam = || AdamW::<bf16>::new(1e-3).master_weights(true);
    let run = |model: &mut Values<bf16>, optimizer: &mut AdamW<bf16>, steps: std::ops::Range<usize>| {
        for gradients in &reference.gradients()[steps] {
            model.set_gradients(gradients);
            optimizer.step(model).unwrap();
        }
    };
    let (mut model, mut optimizer) = (Values::new(&arena, &reference.start()), adam());
    run(&mut model, &mut optimizer, 0..5);
    save_checkpoint(&path, &model, &optimizer)?;
    run(&mut model, &mut optimizer, 5..10);

    let zeros: Vec<_> = model.values().iter().map(|values| vec![0.0; values.len()]).collect();
    let (mut again, mut other) = (Values::new(&arena, &zeros), adam());
    load_checkpoint(&path, &mut again, &mut other)?;
    run(&mut again, &mut other, 5..10);
    let arrays = |optimizer: &AdamW<bf16>| -> Vec<_> {
        optimizer.states().iter().flat_map(|state| state.arrays.iter().map(numbers)).collect()
    };
    assert_eq!(arrays(&other), arrays(&optimizer));
    assert_eq!(again.values(), model.values());
    // An optimizer without master copies does not know them.
    let error = load_checkpoint(&path, &mut again, &mut AdamW::new(1e-3)).unwrap_err().to_string();
    assert!(error.contains("`optimizer.master."), "{error}");
    // And one with master copies refuses a checkpoint without them.
    let mut without = AdamW::<bf16>::new(1e-3);
    run(&mut model, &mut without, 0..1);
    save_checkpoint(&path, &model, &without)?;
    let error = load_checkpoint(&path, &mut again, &mut adam()).unwrap_err().to_string();
    assert!(error.contains("`optimizer.master."), "{error}");
    Ok(())
}

#[test]
fn a_parameter_that_was_written_goes_on_from_there() {
    let rt = runtime();
    let arena = rt.arena();
    let mut model = Values::<bf16>::new(&arena, &[vec![1.0], vec![0.0]]);
    let mut sgd = Sgd::new(1e-3).master_weights(true);
    sgd.prepare(&mut model).unwrap();
    ops::fill(&mut model.weight.value, bf16::from_f64(-2.0)).unwrap();
    model.set_gradients(&[vec![1.0], vec![-1.0]]);
    let master = |sgd: &Sgd<bf16>| -> Vec<f64> {
        sgd.states().iter().map(|state| numbers(&state.arrays[0])[0]).collect()
    };
    sgd.step(&mut model).unwrap();
    assert_eq!(master(&sgd), [-2.0_f32 - 1e-3, 1e-3].map(f64::from));
    assert_eq!(model.values()[0], [-2.0]);
    ops::fill(&mut model.weight.value, bf16::from_f64(4.0)).unwrap();
    ops::fill(&mut model.bias.value, bf16::NAN).unwrap();
    sgd.step(&mut model).unwrap();
    assert_eq!(master(&sgd)[0], f64::from(4.0_f32 - 1e-3));
    assert!(master(&sgd)[1].is_nan() && model.values()[1][0].is_nan());
}

#[test]
fn groups_choose_and_f32_is_its_own_master() {
    let rt = runtime();
    let arena = rt.arena();
    let mut model = Values::<bf16>::new(&arena, &[vec![1.0], vec![1.0]]);
    let sgd = Sgd::new(1e-3).momentum(0.9).master_weights(true);
    let mut sgd = sgd.group(|name| name == "bias", |group| group.master_weights(false));
    sgd.step(&mut model).unwrap();
    let names: Vec<_> = sgd.states().iter().map(|state| state.array_names.clone()).collect();
    assert_eq!(names, [vec!["momentum_buffer", "master"], vec!["momentum_buffer"]]);
    let mut model = Values::<f32>::new(&arena, &[vec![1.0], vec![1.0]]);
    let mut sgd = Sgd::new(1e-3).master_weights(true);
    sgd.step(&mut model).unwrap();
    assert!(sgd.states().iter().all(|state| state.arrays.is_empty()));
}

/// A rule of the test's own, without `update_with_master`.
#[derive(Clone, Copy, Debug)]
struct Plain(f64);

impl UpdateRule for Plain {
    const LEARNING_RATE: &'static str = "Plain: learning_rate";

    fn learning_rate(&mut self) -> &mut f64 {
        &mut self.0
    }

    fn state_names(&self) -> &'static [&'static str] {
        &[]
    }

    fn update<T: Real>(
        &self,
        _: u64,
        value: &mut Vector<'_, T>,
        _: &Vector<'_, T>,
        _: &mut [Vector<'static, T::Compute>],
    ) -> dahl::Result<()> {
        ops::fill(value, T::ZERO)
    }
}

#[test]
fn a_rule_without_master_copies_says_so() {
    let rt = runtime();
    let arena = rt.arena();
    let mut model = Values::<bf16>::new(&arena, &[vec![1.0], vec![1.0]]);
    let mut optimizer = Stateful::with_rule(Plain(0.1)).master_weights(true);
    let error = optimizer.step(&mut model).unwrap_err().to_string();
    assert!(error.contains("master_weights") && error.contains("update_with_master"), "{error}");
}
