//! Networks of images.

use dahl::ops;
use dahl::prelude::*;
use dahl_nn::prelude::*;

use super::autoencoder::Autoencoder;
use super::lenet::LeNet;
use super::mlp::{self, Mlp};
use super::resnet::{self, ResNet};
use super::{Trajectory, compare, labels, start_from, wave};

pub(super) fn mlp<T: Real>() -> dahl::Result<Trajectory> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let extents = mlp::Extents { inputs: 12, width: 16, classes: 5 };
    let mut model = Mlp::<T>::new(&mut Init::new(&arena, 1), extents, 0.0)?;
    start_from(&mut model, "mlp")?;
    let (x, y) = (wave(&rt, [24, 12])?, labels(&rt, 24, 5)?);
    let mut sgd = Sgd::new(0.1).momentum(0.9);
    compare("mlp", &mut model, |model, _| {
        let loss = model
            .learn(&rt, |step, model| CrossEntropy.of(step, &model.forward(step, &x)?, &y, 1.0 / 24.0))?;
        sgd.step(model)?;
        Ok(loss)
    })
}

/// With the masks of seed 0 in the first step, of seed 1 in the second, ..
pub(super) fn mlp_with_dropout<T: Real>() -> dahl::Result<Trajectory> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let extents = mlp::Extents { inputs: 12, width: 16, classes: 5 };
    let mut model = Mlp::<T>::new(&mut Init::new(&arena, 1), extents, 0.25)?;
    start_from(&mut model, "mlp")?;
    let (x, y) = (wave(&rt, [24, 12])?, labels(&rt, 24, 5)?);
    let mut sgd = Sgd::new(0.1).momentum(0.9);
    compare("mlp_dropout", &mut model, |model, index| {
        let step = Step::under(rt.tape()).seed(index as u64);
        model.zero_gradients()?;
        let loss = CrossEntropy.of(&step, &model.forward(&step, &x)?, &y, 1.0 / 24.0)?;
        step.accumulate(&loss, model)?;
        sgd.step(model)?;
        Ok(loss.read()?[[]].to_f64())
    })
}

pub(super) fn lenet<T: Real>() -> dahl::Result<Trajectory> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let mut model = LeNet::<T>::new(&mut Init::new(&arena, 1), 20, 24, 10)?;
    start_from(&mut model, "lenet")?;
    let (x, y) = (wave(&rt, [8, 1, 20, 20])?, labels(&rt, 8, 10)?);
    let mut adam = Adam::new(1e-3);
    compare("lenet", &mut model, |model, _| {
        let loss = model
            .learn(&rt, |step, model| CrossEntropy.of(step, &model.forward(step, &x)?, &y, 1.0 / 8.0))?;
        adam.step(model)?;
        Ok(loss)
    })
}

pub(super) fn resnet<T: Real>() -> dahl::Result<Trajectory> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let extents = resnet::Extents { channels: 3, width: 4, blocks: 1, classes: 10 };
    let mut model = ResNet::<T>::new(&mut Init::new(&arena, 1), extents)?;
    start_from(&mut model, "resnet")?;
    let (x, y) = (wave(&rt, [6, 3, 12, 12])?, labels(&rt, 6, 10)?);
    let mut sgd = Sgd::new(0.05).momentum(0.9).weight_decay(1e-4);
    let schedule = StepDecay::new(0.05, 40).factor(0.5);
    compare("resnet", &mut model, |model, index| {
        let loss = model
            .learn(&rt, |step, model| CrossEntropy.of(step, &model.forward(step, &x)?, &y, 1.0 / 6.0))?;
        sgd.set_learning_rate(schedule.at(index));
        sgd.step(model)?;
        Ok(loss)
    })
}

pub(super) fn autoencoder<T: Real>() -> dahl::Result<Trajectory> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let mut model = Autoencoder::<T>::new(&mut Init::new(&arena, 1), 4, 8)?;
    start_from(&mut model, "autoencoder")?;
    let mut grey = wave::<T, 4>(&rt, [5, 1, 8, 8])?;
    let half = T::from_f64(0.5);
    grey.write()?.iter_mut().for_each(|value| *value = T::from_f64(value.to_f64() * 0.5) + half);
    let mut adam = Adam::new(1e-2);
    compare("autoencoder", &mut model, |model, _| {
        let loss = model.learn(&rt, |step, model| {
            ops::mean_squared_error_init(step, &model.forward(step, &grey)?, &grey, 1.0 / 320.0)
        })?;
        adam.step(model)?;
        Ok(loss)
    })
}
