//! [`InFlight`]: how many micro-batches may be in a stage of a pipeline.

use dahl::__nn::Gate;
use dahl::prelude::*;

use super::stages::Stages;

/// The stages of a pipeline, and the micro-batches in each.
///
/// Stage `s` of `n` keeps the activations of at most `n - s` micro-batches: as many enter it before the gradients of the
/// first one come back. The stage has as many gates. A micro-batch closes the gate of the one `n - s` before it, and its
/// tasks wait until the stage has computed the gradients of that one. A full stage alternates forward and backward passes
/// (1F1B: PipeDream-Flush, Narayanan et al. 2021, [arXiv:2006.09503](https://arxiv.org/abs/2006.09503), section 3.2). Each
/// replica of a stage has its own gates, as many as [`Replicas::in_flight`](super::replicas::Replicas::in_flight) says.
#[derive(Debug)]
pub(crate) struct InFlight {
    stages: Stages,
    /// For each stage, its replicas in the order of their turns.
    replicas: Vec<Vec<Replica>>,
    /// The number in its batch of the micro-batch that entered last.
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

    /// Lets another micro-batch enter the pipeline, with this number in its batch. In each stage it takes the place of an
    /// earlier one.
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

    /// Calls `f`, which submits a stage's tasks of the micro-batch that entered last.
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
