//! Steps of optimizers and clipping of gradients on a device: the bits of the CPU.

use dahl::RuntimeBuilder;
use dahl::prelude::*;
use dahl_nn::prelude::*;

use super::bed::{Bed, on_device};

/// Elements of a parameter: more than a block's, and no multiple of what a thread takes at once.
const ELEMENTS: usize = 3001;

/// The values and gradients after five steps, in which the gradients are clipped in turn by their norm and by their values.
fn steps<T: Real>(runtime: RuntimeBuilder, mut optimizer: impl Optimizer<T>) -> [Vec<f64>; 2] {
    let rt = runtime.build().unwrap();
    let arena = rt.arena();
    let mut parameter = Init::new(&arena, 3).uniform::<T>(&[ELEMENTS], 1.0).unwrap();
    for step in 0..5 {
        let wave = |index: usize| T::from_f64((0.37 * (index + 100 * step) as f64).sin());
        let gradient = &mut parameter.gradient;
        gradient.write().unwrap().iter_mut().enumerate().for_each(|(index, value)| *value = wave(index));
        match step % 2 {
            0 => {
                clip_gradient_norm(&mut parameter, 20.0).unwrap();
            }
            _ => clip_gradient_value(&mut parameter, 0.5).unwrap(),
        }
        optimizer.step(&mut parameter).unwrap();
    }
    let numbers = |array: &Vector<'_, T>| array.to_vec().unwrap().into_iter().map(T::to_f64).collect();
    [numbers(&parameter.value), numbers(&parameter.gradient)]
}

/// Both differ by at most `within`: the device sums the squares of the gradients in another order.
fn agree<T: Real, O: Optimizer<T>>(optimizer: impl Fn() -> O, within: f64) {
    let bed = Bed::new();
    bed.reset(1);
    let on_cpu = steps(Runtime::builder().cpu_workers(2).cuda_devices(0), optimizer());
    let (runtime, left) = on_device();
    let on_device = steps(runtime, optimizer());
    assert_eq!(left.names(), Vec::<String>::new(), "{}: everything runs on the device", T::NAME);
    for (a, b) in on_cpu.iter().flatten().zip(on_device.iter().flatten()) {
        assert!((a - b).abs() <= within * a.abs().max(0.1), "{}: {a} and {b}", T::NAME);
    }
    assert_eq!(bed.findings(), "");
}

/// What is left of three steps of a scaled loss, of which the second one has an infinite gradient: values, their average, and
/// the scale.
fn scaled_steps<T: Real>(runtime: RuntimeBuilder) -> Vec<f64> {
    let rt = runtime.build().unwrap();
    let arena = rt.arena();
    let mut parameter = Init::new(&arena, 3).uniform::<T>(&[ELEMENTS], 1.0).unwrap();
    let (mut scaler, mut sgd) = (LossScaler::new().initial_scale(64.0), Sgd::new(0.1));
    let mut average = WeightAverage::exponential(0.75);
    for step in 0..3 {
        let wave = |index: usize| match (step, index) {
            (1, 2990) => T::INFINITY,
            _ => T::from_f64(64.0 * (0.37 * (index + 100 * step) as f64).sin()),
        };
        let gradient = &mut parameter.gradient;
        gradient.write().unwrap().iter_mut().enumerate().for_each(|(index, value)| *value = wave(index));
        assert_eq!(scaler.step(&mut sgd, &mut parameter).unwrap(), step != 1, "step {step}");
        average.update(&parameter).unwrap();
    }
    let mut values = parameter.value.to_vec().unwrap();
    average.copy_to(&mut parameter).unwrap();
    values.extend(parameter.value.to_vec().unwrap());
    values.into_iter().map(T::to_f64).chain([scaler.scale()]).collect()
}

fn scaled_steps_agree<T: Real>() {
    let bed = Bed::new();
    bed.reset(1);
    let on_cpu = scaled_steps::<T>(Runtime::builder().cpu_workers(2).cuda_devices(0));
    let (runtime, left) = on_device();
    let on_device = scaled_steps::<T>(runtime);
    assert_eq!(left.names(), Vec::<String>::new(), "{}: everything runs on the device", T::NAME);
    assert_eq!(on_cpu, on_device, "{}", T::NAME);
    assert_eq!(bed.findings(), "");
}

#[test]
fn scaled_steps_and_averages_on_a_device_have_the_bits_of_the_cpu() {
    scaled_steps_agree::<f16>();
    scaled_steps_agree::<bf16>();
    scaled_steps_agree::<f32>();
    scaled_steps_agree::<f64>();
}

#[test]
fn steps_on_a_device_are_those_of_the_cpu() {
    agree::<f32, _>(|| Sgd::new(0.1).momentum(0.9).nesterov(), 1e-6);
    agree::<f64, _>(|| Adam::new(0.1).weight_decay(0.1), 1e-14);
    agree::<f32, _>(|| AdamW::new(0.1), 1e-6);
    agree::<f32, _>(|| AdamW::new(0.1).amsgrad(), 1e-6);
    agree::<f16, _>(|| Adam::new(0.1).amsgrad(), 2e-3);
    agree::<bf16, _>(|| Sgd::new(0.1).momentum(0.9), 2e-2);
    agree::<f16, _>(|| AdamW::new(0.1).master_weights(true), 2e-3);
    agree::<f16, _>(|| Adam::new(0.1).amsgrad().master_weights(true), 2e-3);
    agree::<bf16, _>(|| Sgd::new(0.1).momentum(0.9).nesterov().master_weights(true), 2e-2);
    agree::<bf16, _>(|| Sgd::new(0.1).master_weights(true), 2e-2);
}
