//! Layers on the nodes of a graph, by PyTorch's dense matrices.

use dahl::prelude::*;
use dahl_nn::prelude::*;

use super::{Check, input};
use crate::networks::karate_club::{EDGES, MEMBERS};

pub(super) fn all<T: Real>(rt: &Runtime, table: &mut Check<'_>) -> dahl::Result<()> {
    let arena = rt.arena();
    let init = &mut Init::new(&arena, 1);
    let graph = Graph::<T>::undirected(rt, MEMBERS, &EDGES)?;
    let layer = GraphConvolution::<T>::new(init, 3, 4)?;
    table.check(rt, init, "graph_convolution", layer, |step, model| {
        model.module.forward(step, &graph, &*input(&model.x)?)
    });
    let joined = GraphAttention::<T>::new(init, 3, 4, 2)?;
    let mean = GraphAttention::<T>::mean(init, 3, 4, 2)?;
    for (name, layer) in [("graph_attention", joined), ("graph_attention_mean", mean)] {
        table.check(rt, init, name, layer, |step, model| {
            model.module.forward(step, &graph, &*input(&model.x)?)
        });
    }
    Ok(())
}
