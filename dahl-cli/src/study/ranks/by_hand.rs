//! [`us`] and [`bytes`]: what a step takes and sends by a calculation that fits on a sheet of paper: operations by the speed of the
//! ranks, and bytes by the rate of their ports.
//!
//! Left out: elementwise tasks, optimizers, losses; that products and messages hide each other only in part; and that messages wait for
//! each other in ports, but where a formula says so.

use super::Way;
use super::setup::{GFLOPS, LATENCY_US, LINEAR_LAYERS, Setup};

/// The bytes of an element.
const ELEMENT: f64 = 4.0;

impl Setup {
    /// The microseconds that all products of a step take if all ranks share them. The first layer has no gradient by its input.
    pub(super) fn compute_us(&self) -> f64 {
        let product = 2.0 * self.batch as f64 * (self.width as f64).powi(2);
        product * (3.0 * LINEAR_LAYERS as f64 - 1.0) / self.ranks as f64 / GFLOPS / 1e3
    }

    /// Those of the rank that has a full stage: three products for each of its layers.
    fn stage_us(&self) -> f64 {
        let layers = LINEAR_LAYERS.div_ceil(self.ranks) as f64;
        6.0 * self.batch as f64 * (self.width as f64).powi(2) * layers / GFLOPS / 1e3
    }

    /// The time of so many bytes through a port.
    fn port_us(&self, bytes: f64) -> f64 {
        bytes / self.gbytes_per_s / 1e3
    }

    /// The activations between two layers, of a whole batch.
    fn activation_bytes(&self) -> f64 {
        ELEMENT * (self.batch * self.width) as f64
    }

    /// What all ranks send in a step.
    pub(super) fn bytes_by_hand(&self, way: Way) -> f64 {
        let (layers, width, others) = (LINEAR_LAYERS as f64, self.width as f64, (self.ranks - 1) as f64);
        let (weights, biases) = (ELEMENT * layers * width * width, ELEMENT * layers * width);
        let activations = self.activation_bytes();
        match way {
            // Gradients to their owners, parameters back.
            Way::Data => 2.0 * others * (weights + biases),
            // Weights come for the forward pass and for the backward pass, where the first layer needs none; biases once.
            Way::Sharded => others * (weights + biases + weights * (2.0 - 1.0 / layers) + biases),
            // Activations to the next stage, and their gradients back.
            Way::Flushed | Way::Stashed => 2.0 * others * activations,
            // In each block, a sum and its gradient to all, an input to all and the sum of its gradient. The first input is data.
            Way::Tensor => others * activations * (2.0 * layers - 2.0),
        }
    }

    /// The time of a step.
    pub(super) fn us_by_hand(&self, way: Way) -> f64 {
        match way {
            // Messages pass while others are computed: the longer of both counts.
            Way::Data => self.compute_us().max(self.weights_us(2.0)),
            Way::Sharded => self.compute_us().max(self.weights_us(3.0)),
            Way::Flushed => {
                let (micro, stages) = (self.micro_batches() as f64, self.ranks as f64);
                // A cycle for each micro-batch but the first, which goes through all stages, forward and back.
                let first =
                    self.stage_us() / micro * stages + 2.0 * (stages - 1.0) * self.micro_batch_message_us();
                first + (micro - 1.0) * self.cycle_us()
            }
            Way::Stashed => self.micro_batches() as f64 * self.cycle_us(),
            Way::Tensor => {
                let message = self.port_us(self.activation_bytes()) + LATENCY_US;
                self.compute_us() + message * self.messages_in_turn()
            }
        }
    }

    /// The time in which all weights go up or down trees so many times. A tree has `log2(ranks)` levels, one behind the other. The last
    /// level up and the first level down use different directions of the owner's port.
    fn weights_us(&self, trees: f64) -> f64 {
        let weight = self.port_us(ELEMENT * (self.width as f64).powi(2)) + LATENCY_US;
        LINEAR_LAYERS as f64 * weight * (trees * self.levels() - 1.0)
    }

    /// The levels of a tree over the ranks.
    fn levels(&self) -> f64 {
        (self.ranks as f64).log2().ceil()
    }

    /// The time of a message between two stages.
    fn micro_batch_message_us(&self) -> f64 {
        self.port_us(self.activation_bytes() / self.micro_batches() as f64) + LATENCY_US
    }

    /// The time from one micro-batch to the next. The first of `n` stages has `n` of them in flight, and one comes back after the
    /// products of `n` stages and `2 (n - 1)` messages.
    fn cycle_us(&self) -> f64 {
        let stages = self.ranks as f64;
        self.stage_us() / self.micro_batches() as f64
            + 2.0 * (stages - 1.0) / stages * self.micro_batch_message_us()
    }

    /// Messages of tensor parallel layers that come one behind the other.
    fn messages_in_turn(&self) -> f64 {
        let blocks = LINEAR_LAYERS as f64 / 2.0;
        // A sum, its gradient, an input: along trees. The gradient of an input goes from rank to rank.
        blocks * 2.0 * self.levels() + (blocks - 1.0) * (self.levels() + (self.ranks - 1) as f64)
    }
}
