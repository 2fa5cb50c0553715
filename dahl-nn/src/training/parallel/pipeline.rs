//! [`Pipeline`]: the settings of pipeline training.

use super::replicas::Replicas;
use super::stages::Stages;

/// Which versions of the parameters a stage has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Versions {
    /// One: a batch begins when the one before has ended.
    Flushed,
    /// As many as batches are in the stage.
    Stashed,
    /// As many as batches are in the first stage.
    Synchronised,
    /// Two.
    Two,
}

/// A pipeline of the layers of a [`Sequential`](crate::Sequential) ([`Parallel::pipeline`](super::Parallel::pipeline)).
/// Each stage, with its parameters and what the optimizer keeps for them, belongs to a rank; activations and their gradients are sent
/// from stage to stage.
///
/// By default the pipeline is flushed: the micro-batches of a batch pass through it one behind the other, and the next batch
/// sees the updated parameters (GPipe, Huang et al. 2019, [arXiv:1811.06965](https://arxiv.org/abs/1811.06965), section 2.2). Losses and parameters
/// have the bits of a trainer without `parallel` and with the same micro-batches. Divide batches into several times as many
/// micro-batches as there are stages, so that the stages work side by side. Stage `s` of `n` has activations of at most `n - s`
/// micro-batches at a time: forward and backward passes alternate then (1F1B).
///
/// The other modes do not flush: a batch enters the pipeline while others are in it, and its gradients are by the parameters that it
/// saw on the way forward. With `w(t)` the parameters after `t` batches, for stage `s` of `n`, from 0:
///
/// | mode | update | versions of a stage's parameters |
/// |---|---|---|
/// | flushed | `w(t + 1) = w(t) - rate * gradient(w(t))` | 1 |
/// | [`stash_weights`](Self::stash_weights) | `w(t + 1) = w(t) - rate * gradient(w_0(t - n + 1), .., w_s(t - n + s + 1), .., w_n-1(t))` | `n - s` |
/// | [`vertical_sync`](Self::vertical_sync) | `w(t + 1) = w(t) - rate * gradient(w(t - n + 1))` | `n` |
/// | [`two_versions`](Self::two_versions) | `w(t + 1) = w(t) - rate * gradient(w(t - 1))` | 2 |
///
/// Batch 0 is the first one of a call of `fit`: before it all versions are the parameters that the model has then. Results do not depend on the number of ranks. What was
/// forwarded is not in checkpoints, so trainers that stash refuse these.
#[derive(Clone, Debug)]
pub struct Pipeline {
    cuts: Vec<usize>,
    replicas: Replicas,
    versions: Versions,
    is_interleaved: bool,
}

impl Pipeline {
    pub(super) fn new(cuts: Vec<usize>) -> Self {
        let replicas = Replicas::of(vec![1; cuts.len() + 1]);
        Self::with(cuts, replicas)
    }

    pub(super) fn with(cuts: Vec<usize>, replicas: Replicas) -> Self {
        Self { cuts, replicas, versions: Versions::Flushed, is_interleaved: false }
    }

    /// Gives each stage so many replicas: `[2, 1, 1]` are two of the first stage and one of the second and of the third. Each is on
    /// a rank of its own if there are as many ranks. The micro-batches of a batch go to the replicas of a stage in turn (1F1B-RR,
    /// section 3.2 of the paper of [`stash_weights`](Self::stash_weights)). Each replica adds the gradients of its micro-batches, and these sums are added by a
    /// tree before the update. So results depend on the replicas, by rounding, and not on the ranks.
    ///
    /// A replica of stage `s` has activations of at most `1 + ceil(after / replicas)` micro-batches at a time, if later
    /// stages have `after` replicas in all. Divide batches into a multiple of the most replicas that a stage has. Versions of
    /// parameters are counted in batches, as in the table above.
    ///
    /// A number that is not from 1 on, or another number of stages, is an error of the call that trains.
    pub fn replicas(mut self, of_stages: impl Into<Vec<usize>>) -> Self {
        self.replicas = Replicas::of(of_stages.into());
        self
    }

    /// Does not flush: each stage stashes the parameters that the batches in it have seen (PipeDream: Narayanan et al. 2019,
    /// "PipeDream: Generalized Pipeline Parallelism for DNN Training", section 3.3).
    pub fn stash_weights(mut self) -> Self {
        self.versions = Versions::Stashed;
        self
    }

    /// Does not flush: each batch sees, in all stages, the parameters after the same number of updates ("vertical sync",
    /// section 3.3 of the same paper).
    pub fn vertical_sync(mut self) -> Self {
        self.versions = Versions::Synchronised;
        self
    }

    /// Does not flush, with two versions of the parameters: each batch sees those before the batch before it has been applied
    /// (PipeDream-2BW: Narayanan et al. 2021, [arXiv:2006.09503](https://arxiv.org/abs/2006.09503), section 3.1). Divide batches into at least
    /// as many micro-batches as there are stages.
    pub fn two_versions(mut self) -> Self {
        self.versions = Versions::Two;
        self
    }

    /// Gives stages, or their replicas, to the ranks in turn, so that each rank has several that are not neighbours (Narayanan et al.
    /// 2021, [arXiv:2104.04473](https://arxiv.org/abs/2104.04473), section 2.2): a pipeline fills in less time, and sends more. By default the stages of
    /// a rank are neighbours.
    pub fn interleaved(mut self) -> Self {
        self.is_interleaved = true;
        self
    }

    /// Whether there are several versions of parameters.
    pub(crate) fn stashes(&self) -> bool {
        self.versions != Versions::Flushed && !self.cuts.is_empty()
    }

    /// The stages over so many ranks.
    pub(crate) fn over(&self, ranks: usize) -> Stages {
        Stages::new(&self.cuts, self.replicas.clone(), ranks, self.is_interleaved)
    }

    /// How many versions of its parameters a stage has.
    pub(crate) fn versions_of(&self, stage: usize) -> usize {
        let stages = self.cuts.len() + 1;
        match self.versions {
            Versions::Flushed => 1,
            Versions::Stashed => stages - stage,
            Versions::Synchronised => stages,
            Versions::Two => stages.min(2),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::training::Parallel;

    /// The paper: a stage has as many versions as batches in flight.
    #[test]
    fn stages_have_the_versions_of_the_batches_in_them() {
        let pipeline = || Parallel::pipeline([1, 2, 3]);
        let versions = |of: super::Pipeline| [0, 1, 2, 3].map(|stage| of.versions_of(stage));
        assert_eq!(versions(pipeline()), [1, 1, 1, 1]);
        assert_eq!(versions(pipeline().stash_weights()), [4, 3, 2, 1]);
        assert_eq!(versions(pipeline().vertical_sync()), [4, 4, 4, 4]);
        assert_eq!(versions(pipeline().two_versions()), [2, 2, 2, 2]);
    }
}
