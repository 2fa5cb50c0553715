//! Networks of images.

use dahl::ops;
use dahl::prelude::*;
use dahl_nn::prelude::*;

use super::autoencoder::Autoencoder;
use super::lenet::LeNet;
use super::mlp::{self, Mlp};
use super::resnet::{self, ResNet};
use super::{compare, labels, start_from, wave};

fn mlp<T: Real>(max_relative: f64) -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let extents = mlp::Extents { inputs: 12, width: 16, classes: 5 };
    let mut model = Mlp::<T>::new(&mut Init::new(&arena, 1), extents, 0.0)?;
    start_from(&mut model, "mlp")?;
    let (x, y) = (wave(&rt, [24, 12])?, labels(&rt, 24, 5)?);
    let mut sgd = Sgd::new(0.1).momentum(0.9);
    compare("mlp", max_relative, &mut model, |model, _| {
        let loss = model
            .learn(&rt, |step, model| CrossEntropy.of(step, &model.forward(step, &x)?, &y, 1.0 / 24.0))?;
        sgd.step(model)?;
        Ok(loss)
    })
}

/// With the masks of seed 0 in the first step, of seed 1 in the second, ..
fn mlp_with_dropout<T: Real>(max_relative: f64) -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let extents = mlp::Extents { inputs: 12, width: 16, classes: 5 };
    let mut model = Mlp::<T>::new(&mut Init::new(&arena, 1), extents, 0.25)?;
    start_from(&mut model, "mlp")?;
    let (x, y) = (wave(&rt, [24, 12])?, labels(&rt, 24, 5)?);
    let mut sgd = Sgd::new(0.1).momentum(0.9);
    compare("mlp_dropout", max_relative, &mut model, |model, index| {
        let step = Step::under(rt.tape()).seed(index as u64);
        model.zero_gradients()?;
        let loss = CrossEntropy.of(&step, &model.forward(&step, &x)?, &y, 1.0 / 24.0)?;
        step.accumulate(&loss, model)?;
        sgd.step(model)?;
        Ok(loss.read()?[[]].to_f64())
    })
}

fn lenet<T: Real>(max_relative: f64) -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let mut model = LeNet::<T>::new(&mut Init::new(&arena, 1), 20, 24, 10)?;
    start_from(&mut model, "lenet")?;
    let (x, y) = (wave(&rt, [8, 1, 20, 20])?, labels(&rt, 8, 10)?);
    let mut adam = Adam::new(1e-3);
    compare("lenet", max_relative, &mut model, |model, _| {
        let loss = model
            .learn(&rt, |step, model| CrossEntropy.of(step, &model.forward(step, &x)?, &y, 1.0 / 8.0))?;
        adam.step(model)?;
        Ok(loss)
    })
}

fn resnet<T: Real>(max_relative: f64) -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let extents = resnet::Extents { channels: 3, width: 4, blocks: 1, classes: 10 };
    let mut model = ResNet::<T>::new(&mut Init::new(&arena, 1), extents)?;
    start_from(&mut model, "resnet")?;
    let (x, y) = (wave(&rt, [6, 3, 12, 12])?, labels(&rt, 6, 10)?);
    let mut sgd = Sgd::new(0.05).momentum(0.9).weight_decay(1e-4);
    let schedule = StepDecay::new(0.05, 40).factor(0.5);
    compare("resnet", max_relative, &mut model, |model, index| {
        let loss = model
            .learn(&rt, |step, model| CrossEntropy.of(step, &model.forward(step, &x)?, &y, 1.0 / 6.0))?;
        sgd.set_learning_rate(schedule.at(index));
        sgd.step(model)?;
        Ok(loss)
    })
}

fn autoencoder<T: Real>(max_relative: f64) -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let mut model = Autoencoder::<T>::new(&mut Init::new(&arena, 1), 4, 8)?;
    start_from(&mut model, "autoencoder")?;
    let mut grey = wave::<T, 4>(&rt, [5, 1, 8, 8])?;
    let half = T::from_f64(0.5);
    grey.write()?.iter_mut().for_each(|value| *value = T::from_f64(value.to_f64() * 0.5) + half);
    let mut adam = Adam::new(1e-2);
    compare("autoencoder", max_relative, &mut model, |model, _| {
        let loss = model.learn(&rt, |step, model| {
            ops::mean_squared_error_init(step, &model.forward(step, &grey)?, &grey, 1.0 / 320.0)
        })?;
        adam.step(model)?;
        Ok(loss)
    })
}

#[test]
fn an_mlp_with_batch_normalisation() -> dahl::Result<()> {
    mlp::<f64>(1e-10)?;
    mlp::<f32>(1e-5)
}

#[test]
fn an_mlp_with_batch_normalisation_and_dropout() -> dahl::Result<()> {
    mlp_with_dropout::<f64>(1e-10)?;
    mlp_with_dropout::<f32>(1e-5)
}

#[test]
fn lenet_with_adam() -> dahl::Result<()> {
    lenet::<f64>(1e-10)
}

#[test]
fn a_residual_network_with_momentum_and_a_schedule() -> dahl::Result<()> {
    resnet::<f64>(1e-10)
}

#[test]
fn an_autoencoder_with_transposed_convolutions() -> dahl::Result<()> {
    autoencoder::<f64>(1e-10)?;
    autoencoder::<f32>(1e-5)
}
