//! [`Profile`]: the layers of a network with their times and sizes.

use std::collections::HashMap;

use super::error::Error;

/// A layer, as a profiler saw it for one minibatch on one machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layer {
    /// What it is, such as `Linear(in_features=4096, out_features=1000)`.
    pub name: String,
    /// The seconds of its forward pass.
    pub forward_seconds: f64,
    /// The seconds of its backward pass.
    pub backward_seconds: f64,
    /// The bytes of its output, and so of the gradient of its output.
    pub activation_bytes: f64,
    /// The bytes of its parameters.
    pub parameter_bytes: f64,
}

/// The layers of a network, and which reads the output of which.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// The layers, in any order.
    pub layers: Vec<Layer>,
    /// Pairs of a layer and one that reads its output.
    pub edges: Vec<(usize, usize)>,
}

impl Profile {
    /// Reads the text of a profile in PipeDream's format: a line a layer, and a line an edge.
    ///
    /// ```text
    /// node2 -- Conv2d(3, 64) -- forward_compute_time=13.8, backward_compute_time=33.0, activation_size=1644167168.0, parameter_size=7168.0
    /// node3 -- ReLU() -- forward_compute_time=4.5, backward_compute_time=5.4, activation_size=1644167168.0, parameter_size=0.0
    ///     node2 -- node3
    /// ```
    ///
    /// Times are milliseconds, sizes are bytes; `[A; B]` is the size of several outputs. What follows the sizes is not
    /// read. As in PipeDream's partitioner, sources whose names begin with `Input` and sinks whose names begin with
    /// `__getitem__` are left out. Each layer comes after those that it reads.
    ///
    /// # Errors
    /// If a line is none of the two, or if an edge names a layer without a line.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut profile = Self::default();
        let mut number = HashMap::new();
        let mut edges = Vec::new();
        for (index, text) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let line = index + 1;
            let wrong = || Error::Line { line, text: text.trim().to_owned() };
            let fields: Vec<&str> = text.trim().split(" -- ").collect();
            match fields[..] {
                [from, to] => edges.push((line, from, to)),
                [id, name, figures, ..] => {
                    let layer = layer(name, figures).ok_or_else(wrong)?;
                    if number.insert(id, profile.layers.len()).is_some() {
                        return Err(wrong());
                    }
                    profile.layers.push(layer);
                }
                _ => return Err(wrong()),
            }
        }
        for (line, from, to) in edges {
            let find =
                |id: &str| number.get(id).copied().ok_or(Error::Unknown { line, layer: id.to_owned() });
            profile.edges.push((find(from)?, find(to)?));
        }
        let is_input = |profile: &Self, layer: usize| {
            profile.layers[layer].name.starts_with("Input")
                && profile.edges.iter().all(|edge| edge.1 != layer)
        };
        let is_unused = |profile: &Self, layer: usize| {
            profile.layers[layer].name.starts_with("__getitem__")
                && profile.edges.iter().all(|edge| edge.0 != layer)
        };
        Ok(profile.without(is_input).without(is_unused).sorted())
    }

    /// The profile with each layer after those that it reads, as far as there are no cycles. Otherwise the order stays.
    #[must_use]
    pub fn sorted(self) -> Self {
        let count = self.layers.len();
        let mut order: Vec<usize> = Vec::with_capacity(count);
        let mut is_placed = vec![false; count];
        while order.len() < count {
            let is_open = |layer: &usize| !is_placed[*layer];
            let waits = |edge: &(usize, usize)| edge.0 < count && !is_placed[edge.0];
            let is_ready = |layer: &usize| {
                is_open(layer) && !self.edges.iter().any(|edge| edge.1 == *layer && waits(edge))
            };
            let next = (0..count).find(is_ready).or_else(|| (0..count).find(is_open));
            let next = next.expect("there are layers that are not placed");
            is_placed[next] = true;
            order.push(next);
        }
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(at, &layer)| place[layer] = at);
        let at = |layer: usize| place.get(layer).copied().unwrap_or(layer);
        let layers = order.iter().map(|&layer| self.layers[layer].clone()).collect();
        Self { layers, edges: self.edges.iter().map(|&(from, to)| (at(from), at(to))).collect() }
    }

    /// The profile without some of its layers.
    fn without(&self, is_out: impl Fn(&Self, usize) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.layers.len()).filter(|&layer| !is_out(self, layer)).collect();
        let place = |layer: usize| kept.binary_search(&layer).ok();
        let layers = kept.iter().map(|&layer| self.layers[layer].clone()).collect();
        let edges = self.edges.iter().filter_map(|&(from, to)| Some((place(from)?, place(to)?))).collect();
        Self { layers, edges }
    }
}

/// A layer from the fields of its line.
fn layer(name: &str, figures: &str) -> Option<Layer> {
    let mut layer = Layer { name: name.to_owned(), ..Layer::default() };
    let mut found = 0;
    for figure in figures.split(", ") {
        let (key, value) = figure.split_once('=')?;
        let parts = value.trim_start_matches('[').trim_end_matches(']').split(';');
        let value: f64 = parts.map(|part| part.trim().parse::<f64>().ok()).sum::<Option<f64>>()?;
        found += 1;
        match key {
            "forward_compute_time" => layer.forward_seconds = value / 1e3,
            "backward_compute_time" => layer.backward_seconds = value / 1e3,
            "activation_size" => layer.activation_bytes = value,
            "parameter_size" => layer.parameter_bytes = value,
            _ => return None,
        }
    }
    (found == 4).then_some(layer)
}
