//! The networks of the examples on a device: every task of their training steps runs there, and gives what the CPU gives.

use dahl::RuntimeBuilder;
use dahl::prelude::*;
use dahl_nn::prelude::*;

use super::bed::{Bed, on_device};

#[allow(dead_code, reason = "no text is written here")]
#[path = "../../../../dahl-nn/examples/networks/char_lstm.rs"]
mod char_lstm;
#[path = "../../../../dahl-nn/examples/networks/lenet.rs"]
mod lenet;
#[path = "../../../../dahl-nn/examples/networks/resnet.rs"]
mod resnet;

use char_lstm::CharLstm;
use lenet::LeNet;
use resnet::ResNet;

/// Steps of each training.
const STEPS: usize = 3;

/// Numbers between -1 and 1.
fn numbers(count: usize, seed: usize) -> Vec<f32> {
    (seed..seed + count).map(|i| ((i * 7919) % 211) as f32 / 105.0 - 1.0).collect()
}

/// The losses of a training on each step's batch of grey images, and the parameters behind it.
type Outcome = (Vec<f32>, Vec<f32>);

/// Trains by SGD with momentum and weight decay; `step` learns from a batch of four images with two classes.
fn train<M: Module<f32>>(
    rt: &Runtime,
    mut model: M,
    pixels: usize,
    mut learn: impl FnMut(&mut M, &Tensor<'_, f32>, &Vector<'_, u32>) -> dahl::Result<f32>,
) -> Outcome {
    let mut sgd = Sgd::new(0.05).momentum(0.9).weight_decay(1e-4);
    let mut losses = Vec::new();
    for step in 0..STEPS {
        let images = rt.from_vec([4, 1, pixels, pixels], numbers(4 * pixels * pixels, 31 * step)).unwrap();
        let labels = rt.from_vec([4], vec![0, 1, 1, 0]).unwrap();
        losses.push(learn(&mut model, &images, &labels).unwrap());
        sgd.step(&mut model).unwrap();
    }
    (losses, parameters(&mut model))
}

fn of_resnet(rt: &Runtime) -> Outcome {
    let arena = rt.arena();
    let extents = resnet::Extents { channels: 1, width: 3, blocks: 1, classes: 2 };
    let model = ResNet::<f32>::new(&mut Init::new(&arena, 7), extents).unwrap();
    train(rt, model, 8, |model, images, labels| {
        let loss = model
            .learn(rt, |step, model| CrossEntropy.of(step, &model.forward(step, images)?, labels, 0.25))?;
        Ok(loss as f32)
    })
}

fn of_lenet(rt: &Runtime) -> Outcome {
    let arena = rt.arena();
    let model = LeNet::<f32>::new(&mut Init::new(&arena, 7), 12, 10, 2).unwrap();
    train(rt, model, 12, |model, images, labels| {
        let loss = model
            .learn(rt, |step, model| CrossEntropy.of(step, &model.forward(step, images)?, labels, 0.25))?;
        Ok(loss as f32)
    })
}

/// Two layers that learn to continue a sequence, by Adam with clipped gradients.
fn of_lstm(rt: &Runtime) -> Outcome {
    let arena = rt.arena();
    let extents = char_lstm::Extents { vocabulary: 5, features: 3, width: 4, layers: 2 };
    let mut model = CharLstm::<f32>::new(&mut Init::new(&arena, 7), extents).unwrap();
    let mut adam = Adam::new(0.01);
    let mut losses = Vec::new();
    for step in 0..STEPS {
        let tokens = |first: usize| (first..first + 8).map(|i| (i * i % 5) as u32).collect::<Vec<_>>();
        let inputs = rt.from_vec([2, 4], tokens(step)).unwrap();
        let targets = rt.from_vec([2, 4], tokens(step + 1)).unwrap();
        let loss = model
            .learn(rt, |step, model| CrossEntropy.of_tokens(step, &model.forward(step, &inputs)?, &targets));
        losses.push(loss.unwrap() as f32);
        clip_gradient_norm(&mut model, 1.0).unwrap();
        adam.step(&mut model).unwrap();
    }
    (losses, parameters(&mut model))
}

/// All parameters, one after the other.
fn parameters(model: &mut impl Module<f32>) -> Vec<f32> {
    let mut all = Vec::new();
    let read = model.for_each_parameter(|_, parameter| {
        all.extend(parameter.value.to_vec()?);
        Ok(())
    });
    read.unwrap();
    all
}

/// The training on a device, of which no task ran elsewhere, and on the CPU: numbers differ by some roundings.
fn trains_alike(train: impl Fn(&Runtime) -> Outcome) {
    let bed = Bed::new();
    bed.reset(1);
    let run = |runtime: RuntimeBuilder, is_on_device: bool| {
        let rt = runtime.build().unwrap();
        let outcome = train(&rt);
        let statistics = rt.statistics();
        if is_on_device {
            assert_eq!(statistics.workers[0].tasks, 0, "the CPU's worker: {:?}", statistics.workers[0]);
            assert!(statistics.host.is_none(), "the host: {:?}", statistics.host);
            assert!(statistics.workers[1].tasks > 0, "the device: {:?}", statistics.workers[1]);
        }
        outcome
    };
    let (losses, parameters) = run(Runtime::builder().cpu_workers(2).cuda_devices(0), false);
    let (runtime, left) = on_device();
    let (on_device, parameters_there) = run(runtime, true);
    assert_eq!(left.names(), Vec::<String>::new(), "everything runs on the device");
    println!("losses {losses:?} and {on_device:?}");
    assert_eq!(losses.len(), STEPS);
    for (a, b) in [(&losses, &on_device), (&parameters, &parameters_there)] {
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() <= 1e-5 * a.abs().max(1.0), "{a} on the CPU and {b} on the device");
        }
    }
    assert_eq!(bed.findings(), "");
}

#[test]
fn a_residual_network_trains_on_a_device() {
    trains_alike(of_resnet);
}

#[test]
fn lenet_trains_on_a_device() {
    trains_alike(of_lenet);
}

#[test]
fn a_long_short_term_memory_trains_on_a_device() {
    trains_alike(of_lstm);
}
