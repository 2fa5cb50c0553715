//! [`Plan`] and [`Stage`]: what comes out.

/// A part of a network, and the machines that run it.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Its layers, by their positions in the profile.
    pub layers: Vec<usize>,
    /// The machines of its level that run it, each with every `replicas`-th minibatch.
    pub replicas: usize,
    /// The seconds of a minibatch, of all replicas together and without transfers over cuts.
    pub seconds: f64,
    /// The seconds of the forward pass of a minibatch on one worker.
    pub forward_seconds: f64,
    /// The seconds of the backward pass of a minibatch on one worker.
    pub backward_seconds: f64,
    /// The seconds in which a replica exchanges gradients with the others, for each of its minibatches.
    pub exchange_seconds: f64,
    /// The bytes of its parameters.
    pub parameter_bytes: f64,
    /// The bytes of the outputs of its layers.
    pub activation_bytes: f64,
    /// The bytes that it sends to the next stage for a minibatch. 0 at the end of a pipeline.
    pub output_bytes: f64,
    /// The minibatches that a replica has in flight, and so the versions of parameters and activations that it keeps.
    pub in_flight: usize,
    /// The pipeline inside each replica, where its level is not the innermost.
    pub inner: Vec<Stage>,
}

/// A pipeline with the least seconds a minibatch.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The stages of the outermost level.
    pub stages: Vec<Stage>,
    /// The seconds of a minibatch in the steady state. No plan has fewer.
    pub seconds: f64,
    /// The seconds of a minibatch on one worker.
    pub one_worker_seconds: f64,
    /// The seconds of a minibatch if all workers are replicas of the whole network.
    pub data_parallel_seconds: f64,
}

impl Plan {
    /// The machines of the outermost level that it uses.
    #[must_use]
    pub fn machines(&self) -> usize {
        self.stages.iter().map(|stage| stage.replicas).sum()
    }
}
