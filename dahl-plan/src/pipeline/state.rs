//! [`States`]: the places at which a graph can be cut.
//!
//! A stage ends at a cut: a set of layers that has, with a layer, all layers whose outputs it reads. PipeDream names such a
//! set by its antichain, the layers of it whose outputs are read outside. A chain of n layers has n + 1 cuts; branches side by
//! side have a cut for each combination of places in them.

use std::collections::HashMap;

use super::error::Error;
use super::profile::Profile;

/// The most cuts. There is a step for each pair of cuts, and for each pair of numbers of machines.
const MOST: usize = 8192;

/// A set of layers, one bit each.
type Set = Box<[u64]>;

/// The layers before a cut, with their sums.
#[derive(Clone, Debug)]
pub(super) struct State {
    layers: Set,
    /// The seconds of their forward passes.
    pub(super) forward: f64,
    /// The seconds of their backward passes.
    pub(super) backward: f64,
    /// The bytes of their outputs.
    pub(super) activations: f64,
    /// The bytes of their parameters.
    pub(super) parameters: f64,
    /// The bytes of the outputs that are read after the cut.
    pub(super) output: f64,
}

/// All cuts, each after those that it contains: the first has no layers, the last has all.
#[derive(Clone, Debug)]
pub(super) struct States {
    pub(super) states: Vec<State>,
    /// The cuts that contain more than each cut.
    pub(super) later: Vec<Vec<usize>>,
}

/// The layers between two cuts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) forward: f64,
    pub(super) backward: f64,
    pub(super) activations: f64,
    pub(super) parameters: f64,
}

fn has(set: &Set, layer: usize) -> bool {
    set[layer / 64] >> (layer % 64) & 1 == 1
}

impl States {
    pub(super) fn new(profile: &Profile) -> Result<Self, Error> {
        let layers = profile.layers.len();
        if layers == 0 {
            return Err(Error::Empty);
        }
        let (mut reads, mut readers) = (vec![Vec::new(); layers], vec![Vec::new(); layers]);
        for &(from, to) in &profile.edges {
            if let Some(layer) = [from, to].into_iter().find(|&layer| layer >= layers) {
                return Err(Error::Edge { layer, layers });
            }
            reads[to].push(from);
            readers[from].push(to);
        }
        for (index, layer) in profile.layers.iter().enumerate() {
            let figures = [
                layer.forward_seconds,
                layer.backward_seconds,
                layer.activation_bytes,
                layer.parameter_bytes,
            ];
            if let Some(&value) = figures.iter().find(|value| !(value.is_finite() && **value >= 0.0)) {
                return Err(Error::Value { layer: index, name: layer.name.clone(), value });
            }
        }
        let mut sets: Vec<Set> = vec![vec![0; layers.div_ceil(64)].into()];
        let mut place: HashMap<Set, usize> = HashMap::from([(sets[0].clone(), 0)]);
        let mut next = 0;
        // Breadth first: a set comes after all that have fewer layers.
        while next < sets.len() {
            let set = sets[next].clone();
            next += 1;
            for layer in 0..layers {
                if !has(&set, layer) && reads[layer].iter().all(|&read| has(&set, read)) {
                    let mut larger = set.clone();
                    larger[layer / 64] |= 1 << (layer % 64);
                    if !place.contains_key(&larger) {
                        place.insert(larger.clone(), sets.len());
                        sets.push(larger);
                    }
                }
            }
            if sets.len() > MOST {
                return Err(Error::Cuts { most: MOST });
            }
        }
        let last = sets.last().expect("the first set is there");
        if let Some(layer) = (0..layers).find(|&layer| !has(last, layer)) {
            return Err(Error::Cycle { layer, name: profile.layers[layer].name.clone() });
        }
        let state = |set: Set| {
            let inside = || (0..layers).filter(|&layer| has(&set, layer));
            let is_read_after = |layer: &usize| readers[*layer].iter().any(|&reader| !has(&set, reader));
            let sum = |of: fn(&super::Layer) -> f64| inside().map(|layer| of(&profile.layers[layer])).sum();
            State {
                forward: sum(|layer| layer.forward_seconds),
                backward: sum(|layer| layer.backward_seconds),
                activations: sum(|layer| layer.activation_bytes),
                parameters: sum(|layer| layer.parameter_bytes),
                output: inside()
                    .filter(is_read_after)
                    .map(|layer| profile.layers[layer].activation_bytes)
                    .sum(),
                layers: set,
            }
        };
        let states: Vec<State> = sets.into_iter().map(state).collect();
        let is_inside = |a: &State, b: &State| a.layers.iter().zip(&b.layers).all(|(a, b)| a & !b == 0);
        let later = (0..states.len())
            .map(|from| {
                (from + 1..states.len()).filter(|&to| is_inside(&states[from], &states[to])).collect()
            })
            .collect();
        Ok(Self { states, later })
    }

    pub(super) fn span(&self, from: usize, to: usize) -> Span {
        let (from, to) = (&self.states[from], &self.states[to]);
        Span {
            forward: to.forward - from.forward,
            backward: to.backward - from.backward,
            activations: to.activations - from.activations,
            parameters: to.parameters - from.parameters,
        }
    }

    /// The layers between two cuts.
    pub(super) fn layers(&self, from: usize, to: usize) -> Vec<usize> {
        let (from, to) = (&self.states[from].layers, &self.states[to].layers);
        (0..64 * to.len()).filter(|&layer| has(to, layer) && !has(from, layer)).collect()
    }
}
