//! [`Cnn`]: the training of a small network on the embedded part of Fashion-MNIST.

use std::cell::Cell;

use dahl::prelude::*;
use dahl_nn::dataset::Images;
use dahl_nn::prelude::*;

const KERNEL: usize = 3;
const POOL: usize = 2;
const CLASSES: usize = 10;
const RATE: f64 = 0.05;

/// The training of a network: a convolution 3x3, relu, max-pool 2, dense 10; forward, backward and update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cnn {
    pub(crate) filters: usize,
    pub(crate) batch: usize,
    /// Samples per task; the trainer's default if `None`.
    pub(crate) micro_batch_size: Option<usize>,
    pub(crate) epochs: usize,
    pub(crate) seed: u64,
    /// Steps before the measured ones: the first ones of a shape record programs, and take memory for the first time.
    pub(crate) warm_up: usize,
}

/// Notes the time after so many steps, when their tasks have ended.
struct AfterSteps<'r> {
    rt: &'r Runtime,
    steps: usize,
    ns: &'r Cell<u64>,
}

impl<M> Callback<M> for AfterSteps<'_> {
    fn step_ended(&mut self, progress: &mut Progress<'_, M>) -> dahl::Result<()> {
        if progress.steps() == self.steps {
            self.rt.wait()?;
            self.ns.set(self.rt.clock().now_ns());
        }
        Ok(())
    }
}

/// The results of a training.
#[derive(Clone, Debug)]
pub(crate) struct Trained {
    /// When it began, by the runtime's clock, after the network was created and the steps before.
    pub(crate) begin_ns: u64,
    /// How long it took.
    pub(crate) ns: u64,
    /// Mean losses of the epochs.
    pub(crate) losses: Vec<f64>,
    /// The fraction of samples whose label was predicted, in the last epoch.
    pub(crate) accuracy: f64,
}

impl Cnn {
    /// One epoch with batches of so many samples.
    pub(crate) fn new(filters: usize, batch: usize, seed: u64) -> Self {
        Self { filters, batch, micro_batch_size: None, epochs: 1, seed, warm_up: 0 }
    }

    pub(crate) fn train<T: Real>(&self, rt: &Runtime, data: &impl Dataset) -> dahl::Result<Trained> {
        let arena = rt.arena();
        let [channels, rows, cols] = [1, 28, 28];
        let model =
            Sequential::<T>::new(&arena, [channels, rows, cols], self.seed).conv2d(self.filters, KERNEL)?;
        let mut model = model.relu()?.max_pool2d(POOL)?.flatten()?.dense(CLASSES)?;
        let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(RATE));
        let mut trainer = trainer.batch_size(self.batch).epochs(self.epochs).shuffle(self.seed);
        if let Some(samples) = self.micro_batch_size {
            trainer = trainer.micro_batch_size(samples);
        }
        rt.wait()?;
        let begin_ns = Cell::new(rt.clock().now_ns());
        if self.warm_up > 0 {
            trainer = trainer.callback(AfterSteps { rt, steps: self.warm_up, ns: &begin_ns });
        }
        let history = trainer.fit(data)?;
        rt.wait()?;
        let begin_ns = begin_ns.get();
        let ns = rt.clock().now_ns() - begin_ns;
        let losses = history.epochs.iter().map(|epoch| epoch.loss).collect();
        let accuracy = history.epochs.last().map_or(0.0, |epoch| epoch.accuracy);
        Ok(Trained { begin_ns, ns, losses, accuracy })
    }
}

/// The first samples of a set of images.
#[derive(Clone, Copy, Debug)]
pub(crate) struct First<'a> {
    images: &'a Images,
    samples: usize,
}

impl<'a> First<'a> {
    pub(crate) fn new(images: &'a Images, samples: usize) -> Self {
        Self { images, samples: samples.min(images.len()) }
    }

    /// The first samples of this set.
    pub(crate) fn first(&self, samples: usize) -> Self {
        Self { samples: samples.min(self.samples), ..*self }
    }
}

impl Dataset for First<'_> {
    fn len(&self) -> usize {
        self.samples
    }

    fn sample_shape(&self) -> &[usize] {
        self.images.sample_shape()
    }

    fn classes(&self) -> usize {
        self.images.classes()
    }

    fn copy_sample<T: Real>(&self, index: usize, features: &mut [T]) {
        self.images.copy_sample(index, features);
    }

    fn label(&self, index: usize) -> u32 {
        self.images.label(index)
    }
}
