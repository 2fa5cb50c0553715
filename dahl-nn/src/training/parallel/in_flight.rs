//! [`InFlight`]: how many micro-batches may be in a stage of a pipeline.

use dahl::__nn::Gate;
use dahl::prelude::*;

use super::stages::Stages;

/// The stages of a pipeline, and the micro-batches in each.
///
/// Stage `s` of `n` has activations of at most `n - s` micro-batches: as many as pass through it until the gradients of the first
/// one come back. So its tasks wait for a gate, which opens when the gradients of the micro-batch `n - s` before have been
/// computed in the stage. When so many are in it, forward and backward passes alternate (1F1B: PipeDream-Flush, Narayanan
/// et al. 2021, [arXiv:2006.09503](https://arxiv.org/abs/2006.09503), section 3.2). A replica of a stage has gates of its own, for
/// as many as a planner counts ([`Replicas::in_flight`](super::replicas::Replicas::in_flight)).
#[derive(Debug)]
pub(crate) struct InFlight {
    stages: Stages,
    /// For each stage, its replicas in the order of their turns.
    replicas: Vec<Vec<Replica>>,
    /// The number of the micro-batch that has entered last, in its batch.
    micro_batch: usize,
}

/// What is in a replica of a stage.
#[derive(Debug)]
struct Replica {
    /// One for each micro-batch that may be in it.
    gates: Vec<Gate>,
    /// The number of micro-batches so far.
    entered: usize,
}

impl InFlight {
    /// An empty pipeline.
    pub(crate) fn new(stages: Stages, arena: &Arena) -> dahl::Result<Self> {
        let counts = stages.replicas();
        let replica = |stage| {
            let gates = (0..counts.in_flight(stage)).map(|_| Gate::new(arena));
            Ok(Replica { gates: gates.collect::<dahl::Result<_>>()?, entered: 0 })
        };
        let of_stage = |stage| counts.of_stage(stage).iter().map(|_| replica(stage)).collect();
        let replicas = (0..stages.len()).map(of_stage).collect::<dahl::Result<_>>()?;
        Ok(Self { stages, replicas, micro_batch: 0 })
    }

    /// The stages.
    pub(crate) fn stages(&self) -> &Stages {
        &self.stages
    }

    /// Another micro-batch enters the pipeline, with this number in its batch: in each stage, it takes the place of an earlier one.
    pub(crate) fn enter(&mut self, micro_batch: usize) -> dahl::Result<()> {
        self.micro_batch = micro_batch;
        for (stage, replicas) in self.replicas.iter_mut().enumerate() {
            let count = replicas.len();
            let Replica { gates, entered } = &mut replicas[micro_batch % count];
            let count = gates.len();
            gates[*entered % count].close(self.stages.rank_of(stage, micro_batch))?;
            *entered += 1;
        }
        Ok(())
    }

    /// Calls `f`, which submits tasks of the micro-batch that has entered last, in a stage.
    pub(crate) fn at<R>(
        &self,
        stage: usize,
        arena: &Arena,
        f: impl FnOnce() -> dahl::Result<R>,
    ) -> dahl::Result<R> {
        let replicas = &self.replicas[stage];
        let Replica { gates, entered } = &replicas[self.micro_batch % replicas.len()];
        let gate = &gates[entered.saturating_sub(1) % gates.len()];
        arena.on_rank(self.stages.rank_of(stage, self.micro_batch), || gate.within(f))
    }
}
