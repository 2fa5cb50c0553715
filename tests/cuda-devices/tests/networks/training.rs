//! Training a convolutional network on a device gives the same results as on the CPU.

use dahl::RuntimeBuilder;
use dahl::prelude::*;
use dahl_nn::layer::Conv2dOptions;
use dahl_nn::prelude::*;

use super::bed::{Bed, on_device};

/// The result of a training.
#[derive(Clone, Debug, PartialEq)]
struct Outcome {
    /// Of each epoch.
    losses: Vec<f64>,
    correct: Vec<u64>,
    parameters: Vec<f64>,
}

/// How a model's parameters are updated.
#[derive(Clone, Copy, Debug)]
enum Descent {
    Plain,
    WithMomentum,
}

/// Three epochs of a network with each kind of convolution: pooled as the first layer, pooled after another layer, with
/// a rectifier alone, and with a stride, which fuses nothing. With a short last batch and parts that do not divide the
/// others.
fn train<T: Real>(runtime: RuntimeBuilder, descent: Descent) -> Outcome {
    let rt = runtime.build().unwrap();
    let arena = rt.arena();
    let data = Synthetic::new(&[2, 12, 11], 4, 43, 5);
    let model = Sequential::<T>::new(&arena, [2, 12, 11], 3);
    let model = model.conv2d(3, 3).unwrap().relu().unwrap().max_pool2d(2).unwrap();
    let padded = Conv2dOptions { padding: [1, 1], ..Conv2dOptions::square(3) };
    let model = model.conv2d_with(4, padded).unwrap().relu().unwrap().max_pool2d(2).unwrap();
    let model = model.conv2d_with(5, padded).unwrap().relu().unwrap();
    let strided = Conv2dOptions { stride: [2, 2], ..padded };
    let model = model.conv2d_with(4, strided).unwrap().relu().unwrap();
    let mut model = model.flatten().unwrap().dense(6).unwrap().relu().unwrap().dense(4).unwrap();
    let optimizer = Sgd::new(0.05).weight_decay(1e-4);
    let optimizer = match descent {
        Descent::Plain => optimizer,
        Descent::WithMomentum => optimizer.momentum(0.9),
    };
    let trainer =
        Trainer::new(&mut model, CrossEntropy, optimizer).batch_size(16).micro_batch_size(7).epochs(3);
    let history = trainer.fit(&data).unwrap();
    let values = |parameter: &Parameter<'_, T>| parameter.value.to_vec().unwrap();
    let parameters = model.parameters().flat_map(|parameter| values(&parameter)).map(T::to_f64).collect();
    Outcome {
        losses: history.epochs.iter().map(|epoch| epoch.loss).collect(),
        correct: history.epochs.iter().map(|epoch| epoch.correct).collect(),
        parameters,
    }
}

/// The largest difference of two lists, of numbers about 1 or smaller.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs() / a.abs().max(1.0)).fold(0.0, f64::max)
}

/// Trainings on both differ at most by `within`, a few roundings of the type, because of the order of sums.
fn trainings_agree<T: Real>(descent: Descent, within: f64) {
    let bed = Bed::new();
    bed.reset(1);
    let on_cpu = train::<T>(Runtime::builder().cpu_workers(2).cuda_devices(0), descent);
    let (runtime, left) = on_device();
    let on_device = train::<T>(runtime, descent);
    assert_eq!(left.names(), Vec::<String>::new(), "{}: everything runs on the device", T::NAME);
    let of_losses = difference(&on_cpu.losses, &on_device.losses);
    let of_parameters = difference(&on_cpu.parameters, &on_device.parameters);
    println!("{}: losses differ by {of_losses:e}, parameters by {of_parameters:e}", T::NAME);
    assert!(on_device.losses[2] < on_device.losses[0], "{}: it learns: {:?}", T::NAME, on_device.losses);
    assert!(of_losses <= within, "{}: {:?} and {:?}", T::NAME, on_cpu.losses, on_device.losses);
    assert!(of_parameters <= within, "{}: parameters differ by {of_parameters:e}", T::NAME);
    assert_eq!(bed.findings(), "");
}

#[test]
fn a_network_learns_on_a_device_what_it_learns_on_the_cpu() {
    trainings_agree::<f32>(Descent::WithMomentum, 1e-6);
    trainings_agree::<f32>(Descent::Plain, 1e-6);
    trainings_agree::<bf16>(Descent::WithMomentum, 0.03);
}

#[test]
fn a_training_on_a_device_gives_the_same_bits_each_time() {
    let bed = Bed::new();
    let mut first = None;
    for seed in 0..4 {
        bed.reset(seed);
        let (runtime, _) = on_device();
        let outcome = train::<f32>(runtime, Descent::WithMomentum);
        assert_eq!(first.get_or_insert_with(|| outcome.clone()), &outcome, "seed {seed}");
        assert_eq!(bed.findings(), "", "seed {seed}");
    }
}

#[test]
fn a_training_with_graphs_gives_the_same_bits_with_fewer_launches() {
    let bed = Bed::new();
    for seed in 0..3 {
        let run = |graphs: bool| {
            bed.reset(seed);
            let (runtime, _) = on_device();
            let outcome = train::<f32>(runtime.cuda_graphs(graphs), Descent::WithMomentum);
            assert_eq!(bed.findings(), "", "seed {seed}");
            let calls =
                ["launch", "graph", "event", "query", "alloc", "free"].map(|kind| (kind, bed.calls(kind)));
            println!("seed {seed}, graphs {graphs}: {calls:?}, {} kernels", bed.calls("fault"));
            (outcome, calls)
        };
        let ((singly, single_calls), (together, calls)) = (run(false), run(true));
        assert_eq!(singly, together, "seed {seed}");
        let [(_, single_launches), ..] = single_calls;
        let [(_, launches), ..] = calls;
        // On the fake driver; another driver does not count.
        assert!(
            launches < single_launches || single_launches == 0,
            "seed {seed}: {launches} and {single_launches}"
        );
    }
}
