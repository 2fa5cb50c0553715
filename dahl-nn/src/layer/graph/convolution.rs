//! [`GraphConvolution`].

use dahl::ops;
use dahl::prelude::*;

use super::Graph;
use crate::layer::Linear;
use crate::module::{Init, Initializer, Module, Parameter};
use crate::step::Step;

/// `out[i] = sum over the edges from j to i of lin(x[j]) / sqrt(degree of j * degree of i) + bias` (Kipf and Welling 2017,
/// *Semi-Supervised Classification with Graph Convolutional Networks*). The degree of a node is the number of edges that end
/// there, with the one from the node itself.
///
/// Names are those of PyTorch Geometric's `GCNConv`.
///
/// # Shapes
/// `[nodes, inputs]` to `[nodes, outputs]`; `lin.weight: [outputs, inputs]`, `bias: [outputs]`.
#[derive(Debug, Module)]
#[module(crate = crate)]
pub struct GraphConvolution<'m, T: Real> {
    /// The linear map of each node, without a bias.
    pub lin: Linear<'m, T>,
    /// `[outputs]`.
    pub bias: Parameter<'m, T>,
}

impl<'m, T: Real> GraphConvolution<'m, T> {
    /// A layer from `inputs` to `outputs` features, with Xavier's uniform weights and biases of 0.
    ///
    /// # Errors
    /// If there are no inputs or no outputs, or memory cannot be allocated.
    #[track_caller]
    pub fn new(init: &mut Init<'m>, inputs: usize, outputs: usize) -> dahl::Result<Self> {
        let mut lin = Linear::without_bias(init, inputs, outputs)?;
        init.fill(&mut lin.weight, Initializer::XavierUniform { gain: 1.0 })?;
        Ok(Self { lin, bias: init.parameter(&[outputs], Initializer::Constant(0.0))? })
    }

    /// Maps the features of the nodes.
    ///
    /// # Errors
    /// If there is not a row of features for each node, and those of the operations.
    #[track_caller]
    pub fn forward<'s>(
        &self,
        step: &'s Step<'_>,
        graph: &Graph<T>,
        features: &Matrix<'_, T>,
    ) -> dahl::Result<Matrix<'s, T>> {
        graph.require_rows("GraphConvolution", features)?;
        let mapped = self.lin.forward(step, features)?;
        let sent = ops::index_select_init(step, &mapped, &graph.sources, 0)?;
        let weighted = ops::mul_init(step, &sent, &graph.coefficients)?;
        let sums = ops::segment_sum_init(step, &weighted, &graph.targets, graph.nodes)?;
        ops::bias_init(step, &sums, &self.bias.value, 1)
    }
}
