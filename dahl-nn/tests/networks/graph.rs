//! Networks of graph layers on Zachary's karate club.

use dahl::prelude::*;
use dahl_nn::prelude::*;

use super::karate_club::{CLUBS, EDGES, Gat, Gcn, KNOWN, MEMBERS, Scores};
use super::{Trajectory, compare, start_from};

/// Trains for 100 steps. Then more than `least` clubs are right.
fn train<T: Real>(
    rt: &Runtime,
    network: &str,
    least: usize,
    model: &mut impl Scores<T>,
) -> dahl::Result<Trajectory> {
    start_from(model, network)?;
    let graph = Graph::undirected(rt, MEMBERS, &EDGES)?;
    let mut identity = vec![T::ZERO; MEMBERS * MEMBERS];
    (0..MEMBERS).for_each(|member| identity[member * (MEMBERS + 1)] = T::ONE);
    let x = rt.from_vec([MEMBERS, MEMBERS], identity)?;
    let known = rt.from_vec([2], KNOWN.to_vec())?;
    let labels = rt.from_vec([2], KNOWN.map(|member| CLUBS[member as usize]).to_vec())?;
    let mut adam = Adam::new(1e-2);
    let losses = compare(network, model, |model, _| {
        let loss = model.learn(rt, |step, model| model.loss(step, &graph, &x, [&known, &labels]))?;
        adam.step(model)?;
        Ok(loss)
    })?;
    let scores = model.evaluate(rt, |step, model| model.scores(step, &graph, &x)?.to_vec())?;
    let found = scores.chunks_exact(2).map(|scores| u32::from(scores[1].to_f64() > scores[0].to_f64()));
    let right = found.zip(CLUBS).filter(|(found, club)| found == club).count();
    assert!(right > least, "{network}: {right}");
    Ok(losses)
}

pub(super) fn gcn<T: Real>() -> dahl::Result<Trajectory> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    train(&rt, "gcn", 30, &mut Gcn::<T>::new(&mut Init::new(&arena, 1), MEMBERS, 8)?)
}

pub(super) fn gat<T: Real>() -> dahl::Result<Trajectory> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    train(&rt, "gat", 28, &mut Gat::<T>::new(&mut Init::new(&arena, 1), MEMBERS, 4, 2)?)
}

#[test]
fn wrong_graphs_are_refused() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let init = &mut Init::new(&arena, 1);
    assert!(Graph::<f32>::new(&rt, 0, &[]).is_err());
    let error = Graph::<f32>::new(&rt, 3, &[[0, 1], [3, 0]]).unwrap_err().to_string();
    assert!(error.contains("3 to 0 in a graph of 3 nodes"), "{error}");
    // A given edge from a node to itself does not count.
    assert_eq!(Graph::<f32>::new(&rt, 3, &[[0, 1], [1, 1]])?.edges(), 4);
    let graph = Graph::<f32>::new(&rt, 3, &[])?;
    let (x, step) = (rt.zeros([4, 5])?, Step::evaluating(&rt));
    assert!(GraphConvolution::new(init, 5, 2)?.forward(&step, &graph, &x).is_err());
    assert!(GraphAttention::new(init, 5, 2, 2)?.forward(&step, &graph, &x).is_err());
    assert!(GraphAttention::<f32>::new(init, 5, 2, 0).is_err());
    Ok(())
}

/// The weights of edges are dropped in training, with the numbers of the step.
#[test]
fn graph_attention_drops_edges_in_training_alone() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let graph = Graph::<f64>::undirected(&rt, MEMBERS, &EDGES)?;
    let x = super::wave(&rt, [MEMBERS, 3])?;
    let layer = GraphAttention::new(&mut Init::new(&arena, 1), 3, 4, 2)?.dropout(0.5);
    let run = |is_training, seed| -> dahl::Result<Vec<f64>> {
        let mut step = Step::evaluating(&rt).seed(seed);
        step.set_training(is_training);
        layer.forward(&step, &graph, &x)?.to_vec()
    };
    assert_eq!(run(false, 1)?, run(false, 2)?);
    assert_eq!(run(true, 1)?, run(true, 1)?);
    assert_ne!(run(true, 1)?, run(true, 2)?);
    Ok(())
}
