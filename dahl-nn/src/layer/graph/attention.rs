//! [`GraphAttention`].

use dahl::ops;
use dahl::prelude::*;

use super::Graph;
use crate::layer::{Dropout, Linear};
use crate::module::{Init, Initializer, Module, Parameter};
use crate::setting;
use crate::step::Step;

/// A mean of the neighbours of each node, whose weights the features determine, for each head (Velickovic et al. 2018, *Graph
/// Attention Networks*):
///
/// * `score[j, i] = leaky_relu(att_src . lin(x[j]) + att_dst . lin(x[i]))` of each edge from `j` to `i`,
/// * `weight[j, i] = ` the softmax of the scores over the edges that end at `i`,
/// * `out[i] = sum of weight[j, i] * lin(x[j]) + bias`, where the heads are joined, or their mean is taken.
///
/// Names are those of PyTorch Geometric's `GATConv`.
///
/// # Shapes
/// `[nodes, inputs]` to `[nodes, heads * width]`, or `[nodes, width]` for the mean of the heads;
/// `lin.weight: [heads * width, inputs]`, `att_src` and `att_dst: [1, heads, width]`, `bias` as a row of the result.
#[derive(Debug, Module)]
#[module(crate = crate)]
pub struct GraphAttention<'m, T: Real> {
    /// The linear map of each node, without a bias.
    pub lin: Linear<'m, T>,
    /// What weighs the features of an edge's source.
    pub att_src: Parameter<'m, T>,
    /// What weighs the features of an edge's target.
    pub att_dst: Parameter<'m, T>,
    /// Of each feature of the result.
    pub bias: Parameter<'m, T>,
    heads: usize,
    width: usize,
    is_mean: bool,
    slope: f64,
    #[module(skip)]
    dropout: Option<Dropout>,
}

impl<'m, T: Real> GraphAttention<'m, T> {
    /// A layer from `inputs` features to `heads` heads of `width` features, which are joined. Weights are Xavier's uniform ones,
    /// biases are 0, and scores below 0 are multiplied by 0.2.
    ///
    /// # Errors
    /// If a number is 0, or memory cannot be allocated.
    #[track_caller]
    pub fn new(init: &mut Init<'m>, inputs: usize, width: usize, heads: usize) -> dahl::Result<Self> {
        Self::of_heads(init, inputs, [heads, width], false)
    }

    /// As [`new`](Self::new), but the result is the mean of the heads: for the last layer of a network.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[track_caller]
    pub fn mean(init: &mut Init<'m>, inputs: usize, width: usize, heads: usize) -> dahl::Result<Self> {
        Self::of_heads(init, inputs, [heads, width], true)
    }

    #[track_caller]
    fn of_heads(
        init: &mut Init<'m>,
        inputs: usize,
        [heads, width]: [usize; 2],
        is_mean: bool,
    ) -> dahl::Result<Self> {
        setting::require(width > 0, "GraphAttention: width", width, "a number from 1")?;
        setting::require(heads > 0, "GraphAttention: heads", heads, "a number from 1")?;
        let features = heads.saturating_mul(width);
        let mut lin = Linear::without_bias(init, inputs, features)?;
        init.fill(&mut lin.weight, Initializer::XavierUniform { gain: 1.0 })?;
        let bound = (6.0 / (heads + width) as f64).sqrt();
        let att_src = init.uniform(&[1, heads, width], bound)?;
        let att_dst = init.uniform(&[1, heads, width], bound)?;
        let outputs = if is_mean { width } else { features };
        let bias = init.parameter(&[outputs], Initializer::Constant(0.0))?;
        Ok(Self { lin, att_src, att_dst, bias, heads, width, is_mean, slope: 0.2, dropout: None })
    }

    /// Sets the factor of scores below 0.
    pub fn slope(mut self, slope: f64) -> Self {
        self.slope = slope;
        self
    }

    /// Sets random weights of edges to 0 in training, with this probability: at least 0, below 1. An invalid one is an error of
    /// [`forward`](Self::forward).
    #[track_caller]
    pub fn dropout(mut self, probability: f64) -> Self {
        self.dropout = if probability == 0.0 { None } else { Some(Dropout::new(probability)) };
        self
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
        graph.require_rows("GraphAttention", features)?;
        let (nodes, heads, width) = (graph.nodes, self.heads, self.width);
        let mapped = self.lin.forward(step, features)?.reshape([nodes, heads, width])?;
        let of_sources = self.weighed(step, &mapped, &self.att_src)?;
        let of_targets = self.weighed(step, &mapped, &self.att_dst)?;
        let of_sources = ops::index_select_init(step, &of_sources, &graph.sources, 0)?;
        let of_targets = ops::index_select_init(step, &of_targets, &graph.targets, 0)?;
        let scores = ops::add_init(step, &of_sources, &of_targets)?;
        let scores = ops::leaky_relu_init(step, &scores, self.slope)?;
        let mut weights = ops::segment_softmax_init(step, &scores, &graph.targets, nodes)?;
        if let Some(dropout) = &self.dropout {
            weights = dropout.forward_owned(step, weights)?;
        }
        let weights = weights.reshape([graph.edges(), heads, 1])?;
        let sent = ops::index_select_init(step, &mapped, &graph.sources, 0)?;
        let weighted = ops::mul_init(step, &sent, &weights)?;
        let sums = ops::segment_sum_init(step, &weighted, &graph.targets, nodes)?;
        let out = if self.is_mean {
            ops::mean_axis_init(step, &sums, 1)?.reshape([nodes, width])?
        } else {
            sums.reshape([nodes, heads * width])?
        };
        ops::bias_init(step, &out, &self.bias.value, 1)
    }

    /// `attention . mapped` of each node and head, `[nodes, heads]`.
    #[track_caller]
    fn weighed<'s>(
        &self,
        step: &'s Step<'_>,
        mapped: &Array<'_, T, 3>,
        attention: &Parameter<'_, T>,
    ) -> dahl::Result<Matrix<'s, T>> {
        let attention = attention.value.reshaped([1, self.heads, self.width])?;
        let products = ops::mul_init(step, mapped, &*attention)?;
        ops::sum_axis_init(step, &products, 2)?.reshape([mapped.shape()[0], self.heads])
    }
}
