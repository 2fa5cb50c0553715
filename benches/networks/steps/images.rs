//! Networks that classify Fashion-MNIST: LeNet, and ResNet-20 on images that a border of zeros makes 32 by 32.

use dahl::ops::scale_init;
use dahl::prelude::*;
use dahl::program::ProgramArgument;
use dahl_nn::module::Init;
use dahl_nn::optimizer::{Stateful, UpdateRule};
use dahl_nn::prelude::*;

use crate::lenet::LeNet;
use crate::plans::{self, Placing};
use crate::resnet::{Extents, ResNet};
use crate::{Settings, serve};

/// Batches that there are; after the last one the first comes again.
const BATCHES: usize = 16;

/// A network that gives the scores of the classes of images.
trait Scores<T: Real>: Module<T> {
    fn scores<'s>(&self, step: &'s Step<'_>, images: &Tensor<'_, T>) -> dahl::Result<Matrix<'s, T>>;
}

impl<T: Real> Scores<T> for LeNet<'_, T> {
    fn scores<'s>(&self, step: &'s Step<'_>, images: &Tensor<'_, T>) -> dahl::Result<Matrix<'s, T>> {
        self.forward(step, images)
    }
}

impl<T: Real> Scores<T> for ResNet<'_, T> {
    fn scores<'s>(&self, step: &'s Step<'_>, images: &Tensor<'_, T>) -> dahl::Result<Matrix<'s, T>> {
        self.forward(step, images)
    }
}

/// A step: the mean cross-entropy, gradients, an update.
#[program]
fn learn_images<'s, T: Real, N: Scores<T>, R: UpdateRule>(
    step: &'s Step<'_>,
    images: &Tensor<'_, T>,
    labels: &Vector<'_, u32>,
    model: &mut N,
    optimizer: &mut Stateful<T, R>,
) -> dahl::Result<Scalar<'s, T>>
where
    for<'a> &'a mut N: ProgramArgument,
{
    model.for_each_parameter(|_, parameter| parameter.gradient.invalidate())?;
    let scores = model.scores(step, images)?;
    let loss = CrossEntropy.of(step, &scores, labels, 1.0 / labels.len() as f64)?;
    step.accumulate(&loss, model)?;
    optimizer.step(model)?;
    scale_init(step, &loss, T::ONE)
}

/// Trains LeNet by Adam.
pub(crate) fn lenet<T: Real>(settings: &Settings) -> Result<(), Box<dyn std::error::Error>> {
    let rt = settings.runtime()?;
    let arena = rt.arena();
    let model = LeNet::<T>::new(&mut Init::new(&arena, 42), 28, 84, 10)?;
    train(settings, &rt, model, Adam::new(1e-3), 64, 0)
}

/// Trains ResNet-20, as wide as the paper has it, by SGD with momentum and weight decay.
pub(crate) fn resnet20<T: Real>(settings: &Settings) -> Result<(), Box<dyn std::error::Error>> {
    let rt = settings.runtime()?;
    let arena = rt.arena();
    let extents = Extents { channels: 1, width: 16, blocks: 3, classes: 10 };
    let model = ResNet::<T>::new(&mut Init::new(&arena, 42), extents)?;
    let sgd = Sgd::new(0.1).momentum(0.9).weight_decay(1e-4);
    train(settings, &rt, model, sgd, 128, 2)
}

/// The first images of the set in their order, with a border of zeros.
fn batches<T: Real>(
    rt: &Runtime,
    batch_size: usize,
    border: usize,
) -> dahl::Result<Vec<(Tensor<'static, T>, Vector<'static, u32>)>> {
    let data = FashionMnist::embedded()?.train;
    let [_, rows, cols] = [1, 28, 28];
    let (wide, high) = (cols + 2 * border, rows + 2 * border);
    let batch = |first: usize| {
        let mut features = vec![T::ZERO; batch_size * high * wide];
        let mut image = vec![T::ZERO; rows * cols];
        for (offset, bordered) in features.chunks_exact_mut(high * wide).enumerate() {
            data.copy_sample(first + offset, &mut image);
            for (row, pixels) in image.chunks_exact(cols).enumerate() {
                let start = (row + border) * wide + border;
                bordered[start..start + cols].copy_from_slice(pixels);
            }
        }
        let labels = (first..first + batch_size).map(|index| data.label(index)).collect();
        Ok((rt.from_vec([batch_size, 1, high, wide], features)?, rt.from_vec([batch_size], labels)?))
    };
    (0..BATCHES).map(|index| batch(index * batch_size)).collect()
}

/// Trains with one batch after the other.
fn train<T: Real, N: Scores<T>, R: UpdateRule>(
    settings: &Settings,
    rt: &Runtime,
    mut model: N,
    mut optimizer: Stateful<T, R>,
    batch_size: usize,
    border: usize,
) -> Result<(), Box<dyn std::error::Error>>
where
    for<'a> &'a mut N: ProgramArgument,
{
    if let Some(path) = &settings.save {
        model.save(path)?;
    }
    optimizer.prepare(&mut model)?;
    let batches = batches::<T>(rt, batch_size, border)?;
    let mut turns = batches.iter().cycle();
    if settings.plans {
        for placing in Placing::ALL {
            let (images, labels) = &batches[0];
            let learn = LearnImages::new(rt);
            let mut learn = if let Placing::Tight = placing { learn.tight() } else { learn };
            let step = || {
                learn.call(images, labels, &mut model, &mut optimizer)?;
                Ok(learn.memory_plan().clone())
            };
            plans::print(rt, placing, step)?;
        }
        return Ok(());
    }
    let mut learn = LearnImages::new(rt);
    let step = || {
        let Some((images, labels)) = turns.next() else { return Ok(f64::NAN) };
        let loss = learn.call(images, labels, &mut model, &mut optimizer)?;
        Ok(loss.read()?[[]].to_f64())
    };
    serve(rt, step)
}
