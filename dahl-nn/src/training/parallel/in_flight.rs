//! [`InFlight`]: how many micro-batches may be in a stage of a pipeline.

use dahl::__nn::Gate;
use dahl::prelude::*;

use super::stages::Stages;

/// The stages of a pipeline, and the micro-batches in each.
///
/// Stage `s` of `n` has activations of at most `n - s` micro-batches: as many as pass through it until the gradients of the first
/// one come back. So its tasks wait for a gate, which opens when the gradients of the micro-batch `n - s` before have been
/// computed in the stage. When so many are in it, forward and backward passes alternate (1F1B: PipeDream-Flush, Narayanan
/// et al. 2021, [arXiv:2006.09503](https://arxiv.org/abs/2006.09503), section 3.2).
#[derive(Debug)]
pub(crate) struct InFlight {
    stages: Stages,
    /// For each stage, a gate for each micro-batch that may be in it.
    gates: Vec<Vec<Gate>>,
    /// The number of micro-batches so far.
    entered: usize,
}

impl InFlight {
    /// An empty pipeline.
    pub(crate) fn new(stages: Stages, arena: &Arena) -> dahl::Result<Self> {
        let gates = |stage| (stage..stages.len()).map(|_| Gate::new(arena)).collect();
        let gates = (0..stages.len()).map(gates).collect::<dahl::Result<_>>()?;
        Ok(Self { stages, gates, entered: 0 })
    }

    /// The stages.
    pub(crate) fn stages(&self) -> &Stages {
        &self.stages
    }

    /// Another micro-batch enters the pipeline: in each stage, it takes the place of an earlier one.
    pub(crate) fn enter(&mut self) -> dahl::Result<()> {
        for (stage, gates) in self.gates.iter_mut().enumerate() {
            let count = gates.len();
            gates[self.entered % count].close(self.stages.rank_of(stage))?;
        }
        self.entered += 1;
        Ok(())
    }

    /// Calls `f`, which submits tasks of the micro-batch that has entered last, in a stage.
    pub(crate) fn at<R>(
        &self,
        stage: usize,
        arena: &Arena,
        f: impl FnOnce() -> dahl::Result<R>,
    ) -> dahl::Result<R> {
        let gates = &self.gates[stage];
        let gate = &gates[self.entered.saturating_sub(1) % gates.len()];
        arena.on_rank(self.stages.rank_of(stage), || gate.within(f))
    }
}
