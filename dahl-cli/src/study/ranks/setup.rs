//! [`Setup`]: a network, its batches, and the cluster on which it is trained.

use dahl::prelude::*;
use dahl::{Cluster, Machine, NetworkLevel, Speed};
use dahl_nn::layer::{ColumnLinear, RowLinear, on_parts};
use dahl_nn::prelude::*;
use dahl_nn::training::History;

use super::Way;
use crate::study::programs::{of_cpu, unchecked};
use crate::trouble::Trouble;

/// The linear layers of the network: blocks of two, with a ReLU between them.
pub(super) const LINEAR_LAYERS: usize = 8;
/// Operations per nanosecond of a rank.
pub(super) const GFLOPS: f64 = 100.0;
/// Bytes per nanosecond between a rank and its memory.
const MEMORY_GBYTES_PER_S: f64 = 1000.0;
pub(super) const LATENCY_US: f64 = 1.0;
const RATE: f64 = 1e-3;
/// Batches of the two trainings whose times are subtracted: what begins and ends a training is in both.
const FEW: usize = 2;
const MANY: usize = 6;
/// Micro-batches of a batch in a pipeline, for each rank.
const MICRO_BATCHES: usize = 4;

/// A training of a network of [`LINEAR_LAYERS`] layers, all of one width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Setup {
    pub(super) ranks: usize,
    /// Samples.
    pub(super) batch: usize,
    /// Features of each layer.
    pub(super) width: usize,
    pub(super) gbytes_per_s: f64,
}

/// A training step, after the first ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measured {
    pub(super) us: f64,
    /// What all ranks send.
    pub(super) bytes: f64,
}

/// The state of a rank.
#[derive(Clone, Copy)]
struct Mark {
    ns: u64,
    sent_bytes: u64,
}

/// The same network with the weights of each block in a part for each rank.
#[derive(Module)]
struct InParts<'m, T: Real> {
    blocks: Vec<BlockInParts<'m, T>>,
}

#[derive(Module)]
struct BlockInParts<'m, T: Real> {
    columns: ColumnLinear<'m, T>,
    rows: RowLinear<'m, T>,
}

impl<'m, T: Real> InParts<'m, T> {
    fn new(init: &mut Init<'m>, width: usize, parts: usize) -> dahl::Result<Self> {
        let mut block = || {
            Ok(BlockInParts {
                columns: ColumnLinear::new(init, width, width, parts)?,
                rows: RowLinear::new(init, width, width, parts)?,
            })
        };
        Ok(Self { blocks: (0..LINEAR_LAYERS / 2).map(|_| block()).collect::<dahl::Result<_>>()? })
    }

    fn forward<'s>(&self, step: &'s Step<'_>, features: &Matrix<'_, T>) -> dahl::Result<Matrix<'s, T>> {
        let mut output: Option<Matrix<'s, T>> = None;
        for block in &self.blocks {
            let hidden = match &output {
                Some(input) => block.columns.forward(step, input)?,
                None => block.columns.forward(step, features)?,
            };
            let hidden = on_parts(step, &hidden, |_, part| dahl::ops::relu_init(step, part))?;
            output = Some(block.rows.forward(step, &hidden)?);
        }
        Ok(output.expect("it has blocks"))
    }
}

impl Setup {
    /// The micro-batches of a batch in a pipeline.
    pub(super) fn micro_batches(&self) -> usize {
        self.batch.min(MICRO_BATCHES * self.ranks)
    }

    /// The layers of the network before which a stage begins, but for the first: each stage has as many linear layers.
    fn cuts(&self) -> Vec<usize> {
        // A block is a linear layer, a ReLU and a linear layer.
        let layer = |linear: usize| linear / 2 * 3 + linear % 2 * 2;
        (1..self.ranks).map(|stage| layer(stage * LINEAR_LAYERS / self.ranks)).collect()
    }

    fn machine(&self) -> Machine {
        let speed =
            Speed { gflops: GFLOPS, gbytes_per_s: MEMORY_GBYTES_PER_S, overhead_us: 0.0, ..Speed::default() };
        let level = NetworkLevel { ranks: None, latency_us: LATENCY_US, gbytes_per_s: self.gbytes_per_s };
        Machine { cluster: Some(Cluster { ranks: self.ranks, levels: vec![level] }), ..of_cpu(speed) }
    }

    /// Trains it one way.
    pub(super) fn measure(&self, way: Way, seed: u64) -> Result<Measured, Trouble> {
        let builder = || unchecked().cpu_workers(1);
        let of_ranks = dahl_ranks::cluster(&self.machine(), builder, |rt| self.train(rt, way, seed));
        let of_ranks = of_ranks.map_err(|failed| Trouble::Failed(format!("{}: {failed}", way.name())))?;
        let at = |index: usize| {
            let marks = of_ranks.iter().map(|marks| marks[index]);
            let (ns, bytes) =
                (marks.clone().map(|mark| mark.ns).max(), marks.map(|mark| mark.sent_bytes).sum::<u64>());
            (ns.unwrap_or(0) as f64, bytes as f64)
        };
        let [begin, middle, end] = [0, 1, 2].map(at);
        let of_step =
            |begin: f64, middle: f64, end: f64| ((end - middle) - (middle - begin)) / (MANY - FEW) as f64;
        Ok(Measured { us: of_step(begin.0, middle.0, end.0) / 1e3, bytes: of_step(begin.1, middle.1, end.1) })
    }

    fn train(&self, rt: &Runtime, way: Way, seed: u64) -> dahl::Result<Vec<Mark>> {
        let arena = rt.arena();
        if way == Way::Tensor {
            let mut model = InParts::<f32>::new(&mut Init::new(&arena, seed), self.width, self.ranks)?;
            return marks(rt, |batches| {
                let trainer = Trainer::of(rt, &mut model, Sgd::new(RATE)).batch_size(self.batch).no_shuffle();
                trainer.micro_batch_size(self.batch).fit_with(
                    &self.data(batches, seed),
                    |step, model, part| {
                        CrossEntropy.mean(step, &model.forward(step, &part.features)?, &part.labels)
                    },
                )
            });
        }
        let mut model = Sequential::<f32>::new(&arena, [self.width], seed);
        for _ in 0..LINEAR_LAYERS / 2 {
            model = model.dense(self.width)?.relu()?.dense(self.width)?;
        }
        marks(rt, |batches| {
            let trainer =
                Trainer::new(&mut model, CrossEntropy, Sgd::new(RATE)).batch_size(self.batch).no_shuffle();
            // A bucket for each layer.
            let shards =
                || Parallel::data(self.ranks).bucket_bytes(size_of::<f32>() * self.width * self.width);
            let pipeline = || Parallel::pipeline(self.cuts());
            let micro_batch = self.batch / self.micro_batches();
            let trainer = match way {
                Way::Data => trainer.parallel(shards()),
                Way::Sharded => trainer.parallel(shards().shard_parameters()),
                Way::Flushed => trainer.micro_batch_size(micro_batch).parallel(pipeline()),
                Way::Stashed => trainer.micro_batch_size(micro_batch).parallel(pipeline().stash_weights()),
                Way::Tensor => unreachable!("its layers are others"),
            };
            trainer.fit(&self.data(batches, seed))
        })
    }

    fn data(&self, batches: usize, seed: u64) -> Synthetic {
        Synthetic::new(&[self.width], self.width, batches * self.batch, seed)
    }
}

/// Trains on one batch, on few and on many, and says where the rank is after each.
fn marks(rt: &Runtime, mut fit: impl FnMut(usize) -> dahl::Result<History>) -> dahl::Result<Vec<Mark>> {
    let mark = |batches| {
        fit(batches)?;
        rt.wait()?;
        Ok(Mark { ns: rt.clock().now_ns(), sent_bytes: rt.sent_messages().bytes })
    };
    [1, FEW, MANY].into_iter().map(mark).collect()
}
