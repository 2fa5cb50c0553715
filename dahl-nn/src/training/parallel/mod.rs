//! [`Parallel`]: how the ranks of a runtime share a training. `README.md` says who owns what, and why bits do not depend on
//! the number of ranks.
//!
//! Not here: messages, which the runtimes insert (`dahl_core::ranks`).

mod buckets;
mod data;
mod data_parallel;
mod in_flight;
mod pipeline;
mod replica_sums;
mod replicas;
mod shards;
mod stages;
mod stash;

use std::panic::Location;

use dahl_plan::pipeline::Plan;

pub(crate) use buckets::Buckets;
pub use data_parallel::DataParallel;
pub(crate) use in_flight::InFlight;
pub use pipeline::Pipeline;
pub(crate) use replica_sums::ReplicaSums;
use replicas::Replicas;
pub(crate) use stash::Stash;

use crate::error::Result;
use crate::setting;

/// How the ranks of a runtime share a training: [`data`](Self::data) or [`pipeline`](Self::pipeline). On a runtime without
/// ranks it gives the same bits.
///
/// ```
/// use dahl::prelude::*;
/// use dahl_nn::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?; // or one of several ranks
/// let arena = rt.arena();
/// let mut model = Sequential::<f32>::new(&arena, [6], 42).dense(8)?.relu()?.dense(3)?;
/// let data = Synthetic::new(&[6], 3, 96, 1);
/// let trainer = Trainer::new(&mut model, CrossEntropy, AdamW::new(1e-2)).batch_size(32);
/// trainer.parallel(Parallel::data(8)).fit(&data)?;
/// let trainer = Trainer::new(&mut model, CrossEntropy, AdamW::new(1e-2)).batch_size(32).micro_batch_size(4);
/// trainer.parallel(Parallel::pipeline([2])).fit(&data)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Parallel {
    pub(crate) kind: Kind,
    pub(crate) location: &'static Location<'static>,
}

/// What the ranks share.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Data(DataParallel),
    Pipeline(Pipeline),
}

impl Parallel {
    /// Data parallel training: each batch is cut into so many shards, which the ranks share.
    pub fn data(shards: usize) -> DataParallel {
        DataParallel::new(shards)
    }

    /// A pipeline of the layers of a [`Sequential`](crate::Sequential), which the ranks share. `cuts` are the first layers of
    /// each stage but the first one: `[2, 5]` are the stages of layers 0 and 1, 2 to 4, and 5 to the last.
    pub fn pipeline(cuts: impl Into<Vec<usize>>) -> Pipeline {
        Pipeline::new(cuts.into())
    }

    /// A pipeline with the stages that a planner has found (`dahl_plan::pipeline::plan`), with their replicas. The layers of the
    /// profile are those of the [`Sequential`](crate::Sequential), in their order. The workers that the plan uses are the ranks,
    /// machine by machine. Stages inside of stages are stages like others, with the replicas of all levels.
    ///
    /// # Errors
    /// If the layers of a stage are not consecutive, as may be if the profile has branches.
    #[track_caller]
    pub fn planned(plan: &Plan) -> Result<Pipeline> {
        let (replicas, layers_of) = Replicas::planned(&plan.stages);
        let (mut cuts, mut next) = (Vec::new(), 0);
        for (number, layers) in layers_of.into_iter().enumerate() {
            setting::require(
                layers.iter().copied().eq(next..next + layers.len()),
                "Parallel: plan",
                format!("stage {number}: layers {layers:?}"),
                "a plan whose stages are consecutive layers",
            )?;
            if number > 0 {
                cuts.push(next);
            }
            next += layers.len();
        }
        Ok(Pipeline::with(cuts, replicas))
    }

    /// With the line that set it.
    pub(crate) fn set_at(mut self, location: &'static Location<'static>) -> Self {
        self.location = location;
        self
    }

    /// Checks what does not depend on the model.
    pub(crate) fn check(&self, batch_size: usize, micro_batch_size: Option<usize>) -> Result<()> {
        match &self.kind {
            Kind::Data(data) => data.check(batch_size, micro_batch_size, self.location),
            Kind::Pipeline(_) => Ok(()),
        }
    }

    /// The samples of a shard of a batch, if there are shards.
    pub(crate) fn shard_size(&self, batch_size: usize) -> Option<usize> {
        self.as_data().map(|data| data.shard_size(batch_size))
    }

    pub(crate) fn as_data(&self) -> Option<&DataParallel> {
        match &self.kind {
            Kind::Data(data) => Some(data),
            Kind::Pipeline(_) => None,
        }
    }

    pub(crate) fn as_pipeline(&self) -> Option<&Pipeline> {
        match &self.kind {
            Kind::Data(_) => None,
            Kind::Pipeline(pipeline) => Some(pipeline),
        }
    }
}

impl From<DataParallel> for Parallel {
    #[track_caller]
    fn from(data: DataParallel) -> Self {
        Self { kind: Kind::Data(data), location: Location::caller() }
    }
}

impl From<Pipeline> for Parallel {
    #[track_caller]
    fn from(pipeline: Pipeline) -> Self {
        Self { kind: Kind::Pipeline(pipeline), location: Location::caller() }
    }
}
