//! Graphs, and layers on their nodes: [`GraphConvolution`] and [`GraphAttention`].
//!
//! A graph is a list of edges. A layer takes a row of each edge's source (`index_select`), and adds up the rows of the edges
//! that end at a node (`segment_sum`): memory is linear in the edges.

mod attention;
mod convolution;

use dahl::prelude::*;

pub use attention::GraphAttention;
pub use convolution::GraphConvolution;

use crate::setting;

/// The edges of a graph, each from a source to a target, and one from each node to itself.
///
/// ```
/// use dahl::prelude::*;
/// use dahl_nn::layer::{Graph, GraphConvolution};
/// use dahl_nn::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let arena = rt.arena();
/// let triangle = Graph::<f32>::undirected(&rt, 3, &[[0, 1], [1, 2], [2, 0]])?;
/// assert_eq!((triangle.nodes(), triangle.edges()), (3, 9));
/// let layer = GraphConvolution::new(&mut Init::new(&arena, 1), 4, 2)?;
/// let features = rt.from_vec([3, 4], vec![0.5; 12])?;
/// let step = Step::evaluating(&rt);
/// let out = layer.forward(&step, &triangle, &features)?;
/// assert_eq!(out.shape(), [3, 2]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Graph<T: Real> {
    nodes: usize,
    /// The node where each edge begins.
    sources: Vector<'static, u32>,
    /// The node where each edge ends.
    targets: Vector<'static, u32>,
    /// `1 / sqrt(degree of the source * degree of the target)` of each edge, `[edges, 1]`.
    coefficients: Matrix<'static, T>,
}

impl<T: Real> Graph<T> {
    /// A graph of `nodes` nodes with these edges, `[source, target]`, and an edge from each node to itself. Edges from a node to
    /// itself that are given do not count; an edge that is given twice counts twice.
    ///
    /// # Errors
    /// If there are no nodes, an edge has a node that is not below their number, or memory cannot be allocated.
    #[track_caller]
    pub fn new(rt: &Runtime, nodes: usize, edges: &[[u32; 2]]) -> dahl::Result<Self> {
        let last = u32::try_from(nodes).ok().and_then(|nodes| nodes.checked_sub(1));
        let Some(last) = last else {
            return Err(setting::wrong("Graph: nodes", nodes, "a number from 1 that fits 32 bits").into());
        };
        for [source, target] in edges {
            let edge = format!("{source} to {target} in a graph of {nodes} nodes");
            setting::require(*source.max(target) <= last, "Graph: edge", edge, "nodes below their number")?;
        }
        let given = edges.iter().copied().filter(|[source, target]| source != target);
        let (sources, targets): (Vec<u32>, Vec<u32>) =
            given.chain((0..=last).map(|node| [node; 2])).map(<(u32, u32)>::from).unzip();
        let mut degrees = vec![0.0_f64; nodes];
        targets.iter().for_each(|target| degrees[*target as usize] += 1.0);
        let coefficient = |(source, target): (&u32, &u32)| {
            T::from_f64(1.0 / (degrees[*source as usize] * degrees[*target as usize]).sqrt())
        };
        let coefficients = sources.iter().zip(&targets).map(coefficient).collect();
        let count = sources.len();
        Ok(Self {
            nodes,
            coefficients: rt.from_vec([count, 1], coefficients)?,
            sources: rt.from_vec([count], sources)?,
            targets: rt.from_vec([count], targets)?,
        })
    }

    /// As [`new`](Self::new), where each edge leads both ways.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[track_caller]
    pub fn undirected(rt: &Runtime, nodes: usize, edges: &[[u32; 2]]) -> dahl::Result<Self> {
        let both: Vec<_> = edges.iter().flat_map(|&[one, other]| [[one, other], [other, one]]).collect();
        Self::new(rt, nodes, &both)
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The number of edges, with those from a node to itself.
    pub fn edges(&self) -> usize {
        self.sources.len()
    }

    /// Returns an error unless `features` has a row for each node.
    #[track_caller]
    fn require_rows(&self, layer: &'static str, features: &Matrix<'_, T>) -> dahl::Result<()> {
        let rows = features.shape()[0];
        if rows == self.nodes {
            return Ok(());
        }
        let fact = format!("the features have {rows} rows, but the graph has {} nodes", self.nodes);
        Err(dahl::Error::invalid_shape(layer, fact))
    }
}
