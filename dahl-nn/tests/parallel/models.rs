//! What is trained: networks and data, and a training's bits.

use dahl::RuntimeBuilder;
use dahl::prelude::*;
use dahl_nn::prelude::*;
use dahl_nn::training::History;
use dahl_ranks::RankFailed;

/// The bits of a training: the loss of each epoch, the parameters and buffers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bits {
    pub(crate) losses: Vec<u64>,
    pub(crate) correct: Vec<u64>,
    pub(crate) values: Vec<u64>,
}

impl Bits {
    pub(crate) fn of<T: Real>(history: &History, model: &impl Module<T>) -> Result<Self> {
        let losses = history.epochs.iter().map(|epoch| epoch.loss.to_bits()).collect();
        let correct = history.epochs.iter().map(|epoch| epoch.correct).collect();
        let mut values = Vec::new();
        for named in model.parameters() {
            values
                .extend(named.parameter().value.to_vec()?.into_iter().map(|value| value.to_f64().to_bits()));
        }
        Ok(Self { losses, correct, values })
    }

    pub(crate) fn loss(&self, epoch: usize) -> f64 {
        f64::from_bits(self.losses[epoch])
    }
}

pub(crate) fn builder() -> RuntimeBuilder {
    Runtime::builder().cpu_workers(1).cuda_devices(0)
}

/// A program on one runtime without ranks.
pub(crate) fn alone<R>(program: impl Fn(&Runtime) -> Result<R>) -> R {
    let rt = builder().build().expect("a runtime");
    program(&rt).expect("every call is right")
}

/// The result of a program on several ranks, which is that of each.
pub(crate) fn on_ranks<R: Send + PartialEq + std::fmt::Debug>(
    ranks: usize,
    seed: u64,
    program: impl Fn(&Runtime) -> Result<R> + Sync,
) -> Result<R, RankFailed> {
    let mut results = dahl_ranks::threads(ranks, seed, builder, program)?;
    let last = results.pop().expect("there is a rank");
    assert!(results.iter().all(|result| *result == last), "the ranks differ: {results:?}, {last:?}");
    Ok(last)
}

/// A network of dense layers, and one with convolutions.
pub(crate) fn dense<'m, T: Real>(arena: &'m Arena) -> Result<Sequential<'m, T>> {
    Sequential::new(arena, [6], 42).dense(16)?.relu()?.dense(12)?.relu()?.dense(3)
}

pub(crate) fn convolutional<'m, T: Real>(arena: &'m Arena) -> Result<Sequential<'m, T>> {
    Sequential::new(arena, [1, 8, 8], 42).conv2d(3, 3)?.relu()?.max_pool2d(2)?.flatten()?.dense(3)
}

type Result<T, E = dahl::Error> = std::result::Result<T, E>;
