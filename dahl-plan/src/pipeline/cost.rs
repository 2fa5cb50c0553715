//! [`Costs`]: the cost model, which the dynamic program and the enumeration share.

use super::cluster::Cluster;
use super::state::States;

/// What is around a pipeline or a stage, counted in workers of the whole cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Context {
    /// The workers of the stages after it.
    pub(super) after: usize,
    /// Its replicas.
    pub(super) replicas: usize,
}

impl Context {
    /// Nothing around.
    pub(super) const ALONE: Self = Self { after: 0, replicas: 1 };

    /// The minibatches that a worker has in flight: `ceil((after + replicas) / replicas)`.
    pub(super) fn in_flight(self) -> usize {
        1 + self.after.div_ceil(self.replicas)
    }
}

/// What stages and transfers cost.
#[derive(Clone, Debug)]
pub(super) struct Costs<'a> {
    pub(super) states: &'a States,
    pub(super) cluster: &'a Cluster,
}

impl Costs<'_> {
    /// The context of a stage with `machines`, followed by `after` machines of its level.
    pub(super) fn context(&self, level: usize, around: Context, machines: usize, after: usize) -> Context {
        // Without a limit of memory nothing depends on it.
        if self.cluster.memory.is_none() {
            return Context::ALONE;
        }
        self.inside(level, around, machines, after)
    }

    /// As [`context`](Self::context), whether there is a limit or not.
    pub(super) fn inside(&self, level: usize, around: Context, machines: usize, after: usize) -> Context {
        Context {
            after: around.after + around.replicas * after * self.cluster.workers(level),
            replicas: around.replicas * machines,
        }
    }

    /// The most machines of a stage, where `machines` are left.
    pub(super) fn most(&self, machines: usize) -> usize {
        if self.cluster.straight { machines.min(1) } else { machines }
    }

    /// The seconds of a minibatch on one worker, without end if its memory does not suffice.
    pub(super) fn worker(&self, context: Context, from: usize, to: usize) -> f64 {
        let span = self.states.span(from, to);
        let bytes = context.in_flight() as f64 * (span.activations + span.parameters);
        if self.cluster.memory.is_some_and(|memory| bytes > memory) {
            return f64::INFINITY;
        }
        span.forward + span.backward
    }

    /// The seconds in which a machine exchanges its gradients with those of the other replicas, at the end of a minibatch.
    pub(super) fn exchange(&self, level: usize, machines: usize, from: usize, to: usize) -> f64 {
        let bytes = 4.0 * (machines - 1) as f64 * self.states.span(from, to).parameters / machines as f64;
        bytes / (self.cluster.levels[level - 1].bandwidth * self.cluster.workers(level) as f64)
    }

    /// The seconds of a minibatch in a stage, of which one machine takes `inner` seconds.
    pub(super) fn stage(&self, level: usize, machines: usize, inner: f64, from: usize, to: usize) -> f64 {
        (inner + self.exchange(level, machines, from, to)) / machines as f64
    }

    /// The seconds of a minibatch at one end of the transfers over a cut: outputs forward, their gradients back.
    pub(super) fn transfer(&self, level: usize, machines: usize, cut: usize) -> f64 {
        2.0 * self.states.states[cut].output / (self.cluster.levels[level - 1].bandwidth * machines as f64)
    }
}
