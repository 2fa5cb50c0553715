//! Optimizers against PyTorch's numbers, which `tests/reference/make_optimizers.py` made; Lion and LAMB against plain loops in
//! f64.

use std::path::Path;

use dahl::prelude::*;
use dahl_nn::prelude::*;
use serde_json::Value;

use crate::master_weights::compare_mastered;

/// Two parameters. Their gradients are set, and do not depend on the values.
#[derive(Module)]
pub(crate) struct Values<'m, T: Real> {
    pub(crate) weight: Parameter<'m, T>,
    pub(crate) bias: Parameter<'m, T>,
}

pub(crate) type Numbers = Vec<Vec<f64>>;

impl<'m, T: Real> Values<'m, T> {
    pub(crate) fn new(arena: &'m Arena, values: &[Vec<f64>]) -> Self {
        let parameter = |values: &[f64]| {
            let elements: Vec<T> = values.iter().map(|value| T::from_f64(*value)).collect();
            let value = arena.from_slice([elements.len()], &elements).unwrap();
            Parameter::new(arena, &[elements.len()], value).unwrap()
        };
        Self { weight: parameter(&values[0]), bias: parameter(&values[1]) }
    }

    pub(crate) fn set_gradients(&mut self, gradients: &[Vec<f64>]) {
        for (parameter, gradient) in [&mut self.weight, &mut self.bias].into_iter().zip(gradients) {
            let mut guard = parameter.gradient.write().unwrap();
            guard.iter_mut().zip(gradient).for_each(|(to, from)| *to = T::from_f64(*from));
        }
    }

    pub(crate) fn values(&self) -> Numbers {
        [&self.weight, &self.bias].map(|parameter| numbers(&parameter.value)).to_vec()
    }

    pub(crate) fn gradients(&self) -> Numbers {
        [&self.weight, &self.bias].map(|parameter| numbers(&parameter.gradient)).to_vec()
    }
}

pub(crate) fn numbers<T: Real>(array: &Vector<'_, T>) -> Vec<f64> {
    array.to_vec().unwrap().into_iter().map(Real::to_f64).collect()
}

/// The number of steps in the reference.
pub(crate) const STEPS: usize = 20;

pub(crate) struct Reference(Value);

impl Reference {
    pub(crate) fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/optimizers.json");
        Self(serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
    }

    pub(crate) fn get<R: serde::de::DeserializeOwned>(&self, pointer: &str) -> R {
        let value = self.0.pointer(pointer).unwrap_or_else(|| panic!("no {pointer}"));
        serde_json::from_value(value.clone()).unwrap()
    }

    pub(crate) fn start(&self) -> Numbers {
        self.get("/start")
    }

    pub(crate) fn gradients(&self) -> Vec<Numbers> {
        self.get("/gradients")
    }
}

pub(crate) fn runtime() -> Runtime {
    Runtime::builder().cpu_workers(2).build().unwrap()
}

/// Requires that numbers differ by at most `max` of their magnitude, or of 0.1, if that is more: where a value crosses 0 it
/// has the rounding of the larger ones before.
#[track_caller]
pub(crate) fn assert_near(found: &[Vec<f64>], expected: &[Vec<f64>], max: f64, what: &str) {
    assert_eq!(
        found.iter().map(Vec::len).collect::<Vec<_>>(),
        expected.iter().map(Vec::len).collect::<Vec<_>>()
    );
    for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
        let is_near = (found - expected).abs() <= max * expected.abs().max(0.1);
        assert!(is_near, "{what}: {found} is not {expected}");
    }
}

/// Compares the values after each step.
fn compare<T: Real>(name: &str, mut optimizer: impl Optimizer<T>, max: f64) {
    let (rt, reference) = (runtime(), Reference::read());
    let arena = rt.arena();
    let mut model = Values::<T>::new(&arena, &reference.start());
    let expected: Vec<Numbers> = reference.get(&format!("/optimizers/{name}"));
    assert_eq!(expected.len(), STEPS);
    for (step, (gradients, expected)) in reference.gradients().iter().zip(&expected).enumerate() {
        model.set_gradients(gradients);
        optimizer.step(&mut model).unwrap();
        assert_near(&model.values(), expected, max, &format!("{name}, {}, step {step}", T::NAME));
    }
}

/// Requires that each step in half precision is that of f32, with the state in f32, rounded once.
fn compare_rounded<T: Real<Compute = f32>>(mut half: impl Optimizer<T>, mut single: impl Optimizer<f32>) {
    let (rt, reference) = (runtime(), Reference::read());
    let arena = rt.arena();
    let mut model = Values::<T>::new(&arena, &reference.start());
    let mut wide = Values::<f32>::new(&arena, &model.values());
    for gradients in &reference.gradients() {
        model.set_gradients(gradients);
        wide.set_gradients(&model.gradients());
        half.step(&mut model).unwrap();
        single.step(&mut wide).unwrap();
        let rounded: Numbers = wide
            .values()
            .iter()
            .map(|values| values.iter().map(|&value| T::from_f64(value).to_f64()).collect())
            .collect();
        assert_eq!(model.values(), rounded);
        // Both go on from the same values.
        wide.weight
            .value
            .write()
            .unwrap()
            .iter_mut()
            .zip(&rounded[0])
            .for_each(|(to, from)| *to = *from as f32);
        wide.bias
            .value
            .write()
            .unwrap()
            .iter_mut()
            .zip(&rounded[1])
            .for_each(|(to, from)| *to = *from as f32);
    }
    let states = half.states();
    assert!(states.iter().all(|state| state.steps == STEPS as u64));
}

macro_rules! as_pytorch {
    ($($name:ident: [$new:expr] $(.$setting:ident($($value:tt)*))*;)+) => {$(
        #[test]
        fn $name() {
            compare::<f64>(stringify!($name), $new$(.$setting($($value)*))*, 1e-12);
            compare::<f32>(stringify!($name), $new$(.$setting($($value)*))*, 1e-5);
            compare_rounded::<f16>($new$(.$setting($($value)*))*, $new$(.$setting($($value)*))*);
            compare_rounded::<bf16>($new$(.$setting($($value)*))*, $new$(.$setting($($value)*))*);
            compare_mastered::<f16, _>(
                $new.master_weights(true)$(.$setting($($value)*))*,
                $new$(.$setting($($value)*))*,
            );
            compare_mastered::<bf16, _>(
                $new.master_weights(true)$(.$setting($($value)*))*,
                $new$(.$setting($($value)*))*,
            );
        }
    )+};
}

as_pytorch! {
    sgd: [Sgd::new(0.05)];
    sgd_decay: [Sgd::new(0.05)].weight_decay(0.1);
    sgd_momentum: [Sgd::new(0.05)].momentum(0.9).weight_decay(0.1);
    sgd_nesterov: [Sgd::new(0.05)].momentum(0.9).weight_decay(0.1).nesterov();
    adam: [Adam::new(1e-3)];
    adam_decay: [Adam::new(0.02)].betas(0.8, 0.95).eps(1e-6).weight_decay(0.1);
    adam_amsgrad: [Adam::new(0.02)].betas(0.8, 0.5).weight_decay(0.1).amsgrad();
    adamw: [AdamW::new(1e-3)];
    adamw_decay: [AdamW::new(0.02)].betas(0.8, 0.95).eps(1e-6).weight_decay(0.1);
    adamw_amsgrad: [AdamW::new(0.02)].betas(0.8, 0.5).weight_decay(0.1).amsgrad();
    adamw_groups: [AdamW::new(0.02)].weight_decay(0.1)
        .group(|name| name.ends_with("bias"), |group| group.weight_decay(0.0).learning_rate(0.01));
    rmsprop: [RmsProp::new(0.01)];
    rmsprop_momentum: [RmsProp::new(0.02)].alpha(0.9).eps(1e-6).weight_decay(0.1).momentum(0.8);
    rmsprop_centered: [RmsProp::new(0.02)].alpha(0.9).centered();
    rmsprop_centered_momentum: [RmsProp::new(0.02)].alpha(0.9).weight_decay(0.1).momentum(0.8).centered();
    adagrad: [Adagrad::new(0.01)];
    adagrad_decay: [Adagrad::new(0.1)].lr_decay(0.05).weight_decay(0.1).initial_accumulator_value(0.2).eps(1e-6);
    adadelta: [Adadelta::new(1.0)];
    adadelta_decay: [Adadelta::new(0.5)].rho(0.8).eps(1e-4).weight_decay(0.1);
}

/// What a formula does to one parameter: its values, its gradients, the number of the step, and two arrays of zeros at first.
type Formula = fn(&mut [f64], &[f64], u64, &mut [Vec<f64>; 2]);

fn compare_formula<T: Real>(mut optimizer: impl Optimizer<T>, formula: Formula, max: f64) {
    let (rt, reference) = (runtime(), Reference::read());
    let arena = rt.arena();
    let mut values = reference.start();
    let mut model = Values::<T>::new(&arena, &values);
    let mut states: Vec<[Vec<f64>; 2]> =
        values.iter().map(|values| [vec![0.0; values.len()], vec![0.0; values.len()]]).collect();
    for (step, gradients) in reference.gradients().iter().enumerate() {
        model.set_gradients(gradients);
        optimizer.step(&mut model).unwrap();
        for ((values, gradients), state) in values.iter_mut().zip(gradients).zip(&mut states) {
            formula(values, gradients, step as u64 + 1, state);
        }
        assert_near(&model.values(), &values, max, &format!("{}, step {step}", T::NAME));
    }
}

#[test]
fn lion() {
    let formula: Formula = |values, gradients, _, [mean, _]| {
        for ((value, gradient), mean) in values.iter_mut().zip(gradients).zip(mean) {
            let mixed = 0.8 * *mean + 0.2 * gradient;
            let sign = f64::from(i8::from(mixed > 0.0) - i8::from(mixed < 0.0));
            *value -= 0.01 * (sign + 0.1 * *value);
            *mean = 0.95 * *mean + 0.05 * gradient;
        }
    };
    macro_rules! lion {
        () => {
            Lion::new(0.01).betas(0.8, 0.95).weight_decay(0.1)
        };
    }
    compare_formula::<f64>(lion!(), formula, 1e-12);
    compare_formula::<f32>(lion!(), formula, 1e-5);
    compare_rounded::<f16>(lion!(), lion!());
    compare_rounded::<bf16>(lion!(), lion!());
    compare_mastered::<f16, _>(lion!().master_weights(true), lion!());
    compare_mastered::<bf16, _>(lion!().master_weights(true), lion!());
}

#[test]
fn lamb() {
    let formula: Formula = |values, gradients, step, [mean, square]| {
        let mut directions = Vec::new();
        for (index, gradient) in gradients.iter().enumerate() {
            mean[index] = 0.8 * mean[index] + 0.2 * gradient;
            square[index] = 0.95 * square[index] + 0.05 * gradient * gradient;
            let unbiased = mean[index] / (1.0 - 0.8_f64.powf(step as f64));
            let spread = (square[index] / (1.0 - 0.95_f64.powf(step as f64))).sqrt();
            directions.push(unbiased / (spread + 1e-6) + 0.1 * values[index]);
        }
        let norm = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
        let ratio = norm(values) / norm(&directions);
        values.iter_mut().zip(&directions).for_each(|(value, direction)| *value -= 0.02 * ratio * direction);
    };
    macro_rules! lamb {
        () => {
            Lamb::new(0.02).betas(0.8, 0.95).weight_decay(0.1)
        };
    }
    compare_formula::<f64>(lamb!(), formula, 1e-12);
    compare_formula::<f32>(lamb!(), formula, 1e-5);
    compare_rounded::<f16>(lamb!(), lamb!());
    compare_rounded::<bf16>(lamb!(), lamb!());
    compare_mastered::<f16, _>(lamb!().master_weights(true), lamb!());
    compare_mastered::<bf16, _>(lamb!().master_weights(true), lamb!());
}

#[test]
fn lamb_of_a_parameter_of_zeros_takes_the_direction() {
    let rt = runtime();
    let arena = rt.arena();
    let mut model = Values::<f64>::new(&arena, &[vec![0.0; 2], vec![0.0; 2]]);
    model.set_gradients(&[vec![0.5, -0.5], vec![0.0, 0.0]]);
    Lamb::new(0.1)
        .eps(0.0)
        .weight_decay(0.0)
        .group(|name| name == "bias", |group| group.eps(1.0))
        .step(&mut model)
        .unwrap();
    assert_near(&model.values(), &[vec![-0.1, 0.1], vec![0.0, 0.0]], 1e-12, "lamb");
}

#[test]
fn rates_of_groups_change_in_proportion() {
    let (rt, reference) = (runtime(), Reference::read());
    let arena = rt.arena();
    let mut model = Values::<f64>::new(&arena, &reference.start());
    let mut optimizer = AdamW::new(0.02)
        .weight_decay(0.1)
        .group(|name| name.ends_with("bias"), |group| group.weight_decay(0.0).learning_rate(0.01));
    let schedule = ExponentialDecay::new(0.02, 0.9);
    let expected: Vec<Numbers> = reference.get("/optimizers/adamw_scheduled");
    for (step, (gradients, expected)) in reference.gradients().iter().zip(&expected).enumerate() {
        model.set_gradients(gradients);
        optimizer.set_learning_rate(schedule.at(step));
        optimizer.step(&mut model).unwrap();
        assert_near(&model.values(), expected, 1e-12, &format!("step {step}"));
    }
    assert_eq!(optimizer.current_learning_rate(), schedule.at(STEPS - 1));
}

#[test]
fn a_frozen_parameter_has_no_state_and_counts_its_own_steps() {
    let (rt, reference) = (runtime(), Reference::read());
    let arena = rt.arena();
    let mut model = Values::<f64>::new(&arena, &reference.start());
    let mut optimizer = Adam::new(0.1);
    model.set_gradients(&reference.gradients()[0]);
    assert_eq!(model.freeze("bias"), 1);
    optimizer.step(&mut model).unwrap();
    assert_eq!(model.values()[1], reference.start()[1]);
    assert_ne!(model.values()[0], reference.start()[0]);
    model.unfreeze("bias");
    optimizer.step(&mut model).unwrap();
    let steps: Vec<_> = optimizer.states().iter().map(|state| (state.name.clone(), state.steps)).collect();
    assert_eq!(steps, [("weight".to_owned(), 2), ("bias".to_owned(), 1)]);
    // The first step of Adam is the rate, in the direction of the sign.
    let expected: Vec<f64> = reference.start()[1]
        .iter()
        .zip(&reference.gradients()[0][1])
        .map(|(value, gradient)| value - 0.1 * gradient.signum())
        .collect();
    assert_near(&model.values()[1..], &[expected], 1e-6, "the first step");
}
