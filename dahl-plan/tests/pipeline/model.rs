//! The cost model once more, by sets of layers, and the best of all plans by it.

use dahl_plan::pipeline::{Cluster, Layer, Level, Profile};
use proptest::prelude::*;

/// Layers with round figures, which read some of those before them. `is_chain` lets each read the one before it.
pub(super) fn profiles(most: usize, is_chain: bool) -> impl Strategy<Value = Profile> {
    let figures = (0_u32..20, 0_u32..20, 0_u32..30, 0_u32..30);
    let one = (figures, proptest::collection::vec(any::<proptest::sample::Index>(), 0..3));
    proptest::collection::vec(one, 1..=most).prop_map(move |all| {
        let mut profile = Profile::default();
        for (index, ((forward, backward, activation, parameter), reads)) in all.into_iter().enumerate() {
            profile.layers.push(Layer {
                name: format!("layer {index}"),
                forward_seconds: f64::from(forward) / 8.0,
                backward_seconds: f64::from(backward) / 8.0,
                activation_bytes: f64::from(activation),
                parameter_bytes: f64::from(parameter),
            });
            if index > 0 && is_chain {
                profile.edges.push((index - 1, index));
            } else if index > 0 {
                profile.edges.extend(reads.iter().map(|read| (read.index(index), index)));
            }
        }
        profile
    })
}

/// One to `most` levels, with and without a limit of memory.
pub(super) fn clusters(most: usize, machines: usize) -> impl Strategy<Value = Cluster> {
    let level = (1..=machines, prop_oneof![Just(4.0), Just(16.0), Just(256.0)])
        .prop_map(|(machines, bandwidth)| Level { machines, bandwidth });
    let memory = proptest::option::of((20_u32..400).prop_map(f64::from));
    let levels = proptest::collection::vec(level, 1..=most);
    (levels, memory, any::<bool>()).prop_map(|(levels, memory, straight)| Cluster {
        levels,
        memory,
        straight,
    })
}

/// What is around a pipeline: the workers after it, and how often it is there.
type Around = (usize, usize);

/// The least seconds of a minibatch over all plans, by sets of layers and by the formulas of `docs/plans.md`.
pub(super) fn least(profile: &Profile, cluster: &Cluster) -> f64 {
    let all = (1_u32 << profile.layers.len()) - 1;
    inside(profile, cluster, cluster.levels.len(), (0, 1), 0, all)
}

fn sum(profile: &Profile, set: u32, of: impl Fn(&Layer) -> f64) -> f64 {
    (0..profile.layers.len())
        .filter(|layer| set >> layer & 1 == 1)
        .map(|layer| of(&profile.layers[layer]))
        .sum()
}

/// Whether a set has, with a layer, all that it reads.
fn is_closed(profile: &Profile, set: u32) -> bool {
    profile.edges.iter().all(|&(from, to)| set >> to & 1 == 0 || set >> from & 1 == 1)
}

fn sent(profile: &Profile, set: u32) -> f64 {
    let is_sent = |layer: usize| {
        set >> layer & 1 == 1 && profile.edges.iter().any(|&(from, to)| from == layer && set >> to & 1 == 0)
    };
    (0..profile.layers.len())
        .filter(|&layer| is_sent(layer))
        .map(|layer| profile.layers[layer].activation_bytes)
        .sum()
}

/// A machine above `level` that has the layers of `to` without those of `from`.
fn inside(profile: &Profile, cluster: &Cluster, level: usize, around: Around, from: u32, to: u32) -> f64 {
    if level == 0 {
        let versions = (around.0 + around.1).div_ceil(around.1) as f64;
        let bytes = sum(profile, to & !from, |layer| layer.activation_bytes + layer.parameter_bytes);
        let fits = cluster.memory.is_none_or(|memory| versions * bytes <= memory);
        let seconds = sum(profile, to & !from, |layer| layer.forward_seconds + layer.backward_seconds);
        return if fits { seconds } else { f64::INFINITY };
    }
    let mut best = f64::INFINITY;
    sequences(
        profile,
        cluster,
        from,
        to,
        cluster.levels[level - 1].machines,
        &mut Vec::new(),
        &mut |stages| {
            best = best.min(seconds(profile, cluster, level, around, from, stages));
        },
    );
    best
}

/// What is done with each sequence of stages.
type Visit<'a> = dyn FnMut(&[(u32, usize)]) + 'a;

/// All sequences of stages: the set of layers after each, and its machines.
fn sequences(
    profile: &Profile,
    cluster: &Cluster,
    from: u32,
    to: u32,
    left: usize,
    stages: &mut Vec<(u32, usize)>,
    visit: &mut Visit<'_>,
) {
    if from == to {
        return visit(stages);
    }
    for next in 1..=to {
        if next & from == from && next & to == next && next != from && is_closed(profile, next) {
            for machines in 1..=if cluster.straight { left.min(1) } else { left } {
                stages.push((next, machines));
                sequences(profile, cluster, next, to, left - machines, stages, visit);
                stages.pop();
            }
        }
    }
}

fn seconds(
    profile: &Profile,
    cluster: &Cluster,
    level: usize,
    around: Around,
    from: u32,
    stages: &[(u32, usize)],
) -> f64 {
    let bandwidth = cluster.levels[level - 1].bandwidth;
    let workers: usize = cluster.levels[..level - 1].iter().map(|level| level.machines).product();
    let (mut from, mut most) = (from, 0.0_f64);
    for (index, &(to, machines)) in stages.iter().enumerate() {
        let after: usize = stages[index + 1..].iter().map(|stage| stage.1).sum();
        let context = (around.0 + around.1 * after * workers, around.1 * machines);
        let replicas = machines as f64;
        let parameters = sum(profile, to & !from, |layer| layer.parameter_bytes);
        let exchange = 4.0 * (replicas - 1.0) * parameters / (replicas * bandwidth * workers as f64);
        most = most.max((inside(profile, cluster, level - 1, context, from, to) + exchange) / replicas);
        if let Some(&(_, next)) = stages.get(index + 1) {
            let fewest = machines.min(next) as f64;
            most = most.max(2.0 * sent(profile, to) / (bandwidth * fewest));
        }
        from = to;
    }
    most
}
