//! Networks of two graph layers on the karate club of Zachary 1977, *An Information Flow Model for Conflict and Fission in Small
//! Groups*: 34 members, of whom 78 pairs met outside of the club, which split in two.

use dahl::ops::{index_select_init, relu_init};
use dahl::prelude::*;
use dahl_nn::layer::{Elu, Graph, GraphAttention, GraphConvolution};
use dahl_nn::prelude::*;

/// The number of members.
pub(crate) const MEMBERS: usize = 34;

/// The pairs of members who met.
#[rustfmt::skip]
pub(crate) const EDGES: [[u32; 2]; 78] = [
    [0, 1], [0, 2], [0, 3], [0, 4], [0, 5], [0, 6], [0, 7], [0, 8], [0, 10], [0, 11], [0, 12], [0, 13], [0, 17], [0, 19],
    [0, 21], [0, 31], [1, 2], [1, 3], [1, 7], [1, 13], [1, 17], [1, 19], [1, 21], [1, 30], [2, 3], [2, 7], [2, 8], [2, 9],
    [2, 13], [2, 27], [2, 28], [2, 32], [3, 7], [3, 12], [3, 13], [4, 6], [4, 10], [5, 6], [5, 10], [5, 16], [6, 16], [8, 30],
    [8, 32], [8, 33], [9, 33], [13, 33], [14, 32], [14, 33], [15, 32], [15, 33], [18, 32], [18, 33], [19, 33], [20, 32],
    [20, 33], [22, 32], [22, 33], [23, 25], [23, 27], [23, 29], [23, 32], [23, 33], [24, 25], [24, 27], [24, 31], [25, 31],
    [26, 29], [26, 33], [27, 33], [28, 31], [28, 33], [29, 32], [29, 33], [30, 32], [30, 33], [31, 32], [31, 33], [32, 33],
];

/// The club of each member after the split: that of the instructor, member 0, or that of the president, member 33.
#[rustfmt::skip]
pub(crate) const CLUBS: [u32; MEMBERS] = [
    0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
];

/// The members whose club the networks are told.
pub(crate) const KNOWN: [u32; 2] = [0, 33];

/// Two graph convolutions (Kipf and Welling 2017).
#[derive(Module)]
pub(crate) struct Gcn<'m, T: Real> {
    conv1: GraphConvolution<'m, T>,
    conv2: GraphConvolution<'m, T>,
}

impl<'m, T: Real> Gcn<'m, T> {
    /// A network with random weights, with `width` features between the layers.
    pub(crate) fn new(init: &mut Init<'m>, inputs: usize, width: usize) -> dahl::Result<Self> {
        let conv1 = GraphConvolution::new(init, inputs, width)?;
        Ok(Self { conv1, conv2: GraphConvolution::new(init, width, 2)? })
    }
}

/// Two layers of graph attention (Velickovic et al. 2018).
#[derive(Module)]
pub(crate) struct Gat<'m, T: Real> {
    conv1: GraphAttention<'m, T>,
    conv2: GraphAttention<'m, T>,
}

impl<'m, T: Real> Gat<'m, T> {
    /// A network with random weights, with `heads` heads of `width` features.
    pub(crate) fn new(init: &mut Init<'m>, inputs: usize, width: usize, heads: usize) -> dahl::Result<Self> {
        let conv1 = GraphAttention::new(init, inputs, width, heads)?;
        Ok(Self { conv1, conv2: GraphAttention::mean(init, heads * width, 2, heads)? })
    }
}

/// A network that gives the scores of the two clubs for each member.
pub(crate) trait Scores<T: Real>: Module<T> {
    /// The scores, `[members, 2]`.
    fn scores<'s>(
        &self,
        step: &'s Step<'_>,
        graph: &Graph<T>,
        x: &Matrix<'_, T>,
    ) -> dahl::Result<Matrix<'s, T>>;

    /// The mean loss of the members whose club is known.
    fn loss<'s>(
        &self,
        step: &'s Step<'_>,
        graph: &Graph<T>,
        x: &Matrix<'_, T>,
        [known, labels]: [&Vector<'_, u32>; 2],
    ) -> dahl::Result<Scalar<'s, T>> {
        let scores = self.scores(step, graph, x)?;
        let scores = index_select_init(step, &scores, known, 0)?;
        CrossEntropy.of(step, &scores, labels, 1.0 / known.len() as f64)
    }
}

impl<T: Real> Scores<T> for Gcn<'_, T> {
    fn scores<'s>(
        &self,
        step: &'s Step<'_>,
        graph: &Graph<T>,
        x: &Matrix<'_, T>,
    ) -> dahl::Result<Matrix<'s, T>> {
        let hidden = relu_init(step, &self.conv1.forward(step, graph, x)?)?;
        self.conv2.forward(step, graph, &hidden)
    }
}

impl<T: Real> Scores<T> for Gat<'_, T> {
    fn scores<'s>(
        &self,
        step: &'s Step<'_>,
        graph: &Graph<T>,
        x: &Matrix<'_, T>,
    ) -> dahl::Result<Matrix<'s, T>> {
        let hidden = Elu::default().forward(step, &self.conv1.forward(step, graph, x)?)?;
        self.conv2.forward(step, graph, &hidden)
    }
}
