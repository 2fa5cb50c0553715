//! [`Workload`]: the programs that a machine is measured with, and those that its model is held to.

use dahl::Runtime;
use dahl_nn::prelude::*;

use super::{Cholesky, Cnn, First, Gpt, Products};
use crate::trouble::Trouble;

/// Filters of the convolution.
const FILTERS: usize = 8;

/// Steps of a training before the measured ones.
const WARM_UP: usize = 6;

/// A program of some size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Workload {
    /// Training of a small convolutional network, on batches of so many images.
    Cnn { batch: usize, steps: usize },
    /// Training of a small transformer.
    Gpt(Gpt),
    /// A factorisation in tiles.
    Cholesky(Cholesky),
    /// A product in tiles.
    Products(Products),
}

impl Workload {
    /// The programs that a machine is measured with; `quick` are small.
    pub(crate) fn measured(quick: bool) -> Vec<Self> {
        let scale = if quick { 4 } else { 1 };
        let steps = 24 / scale;
        let mut all: Vec<_> = [16, 64, 256].map(|batch| Self::Cnn { batch, steps }).into();
        all.extend([2, 8].map(|batch| Self::Gpt(Gpt { batch, steps })));
        for rows in [64, 128, 256].map(|rows| rows / scale) {
            all.push(Self::Cholesky(Cholesky { tiles: 8, rows }));
            all.push(Self::Products(Products { tiles: 6, rows }));
        }
        all
    }

    /// The programs of other sizes that a model is held to.
    pub(crate) fn unseen(quick: bool) -> Vec<Self> {
        let scale = if quick { 4 } else { 1 };
        let steps = 40 / scale;
        // The same samples.
        let mut all: Vec<_> = [32, 128].map(|batch| Self::Cnn { batch, steps: 128 * steps / batch }).into();
        all.push(Self::Gpt(Gpt { batch: 4, steps }));
        for rows in [96, 192].map(|rows| rows / scale) {
            all.push(Self::Cholesky(Cholesky { tiles: 10, rows }));
            all.push(Self::Products(Products { tiles: 7, rows }));
        }
        all
    }

    /// Its name in tables.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Cnn { batch, .. } => format!("CNN, batches of {batch}"),
            Self::Gpt(Gpt { batch, .. }) => format!("GPT, batches of {batch}"),
            Self::Cholesky(Cholesky { tiles, rows }) => {
                format!("Cholesky, {tiles} x {tiles} tiles of {rows}")
            }
            Self::Products(Products { tiles, rows }) => format!("product, {tiles} x {tiles} tiles of {rows}"),
        }
    }

    /// Runs it, and returns its nanoseconds by the runtime's clock, without its initialisation.
    pub(crate) fn run(self, rt: &Runtime, data: &FashionMnist, seed: u64) -> Result<u64, Trouble> {
        self.run_after(0, rt, data, seed)
    }

    /// As [`run`](Self::run), but a training takes steps before the measured ones. What is done once is no part of the result:
    /// programs are recorded, and memory is taken for the first time.
    pub(crate) fn run_warm(self, rt: &Runtime, data: &FashionMnist, seed: u64) -> Result<u64, Trouble> {
        self.run_after(WARM_UP, rt, data, seed)
    }

    fn run_after(self, warm_up: usize, rt: &Runtime, data: &FashionMnist, seed: u64) -> Result<u64, Trouble> {
        match self {
            Self::Cnn { batch, steps } => {
                let data = First::new(&data.train, batch * (warm_up + steps));
                let cnn = Cnn { warm_up, ..Cnn::new(FILTERS, batch, seed) };
                Ok(cnn.train::<f32>(rt, &data)?.ns)
            }
            Self::Gpt(gpt) => Ok(gpt.train::<f32>(rt, warm_up, seed)?),
            Self::Cholesky(cholesky) => Ok(cholesky.run(rt)?),
            Self::Products(products) => Ok(products.run(rt)?),
        }
    }
}
