//! [`Layout`]: where the boxes of a task graph are in a drawing, layer by layer (Sugiyama, Tagawa and Toda, "Methods for visual
//! understanding of hierarchical system structures", 1981): a box is below all that it waits for, and near to them.

/// The most points of lines that pass layers; further lines go straight from box to box.
const MOST_POINTS: usize = 20_000;
/// How often the order within layers is improved.
const ROUNDS: usize = 8;
/// The room between boxes of a layer, and that of a line that passes one.
const GAP: f64 = 16.0;
const LINE: f64 = 6.0;

/// A drawing of a graph.
#[derive(Debug)]
pub(super) struct Layout {
    /// The middle and the layer of each box.
    pub(super) places: Vec<(f64, usize)>,
    /// For each edge, the places that its line passes, from box to box.
    pub(super) lines: Vec<Vec<(f64, usize)>>,
    pub(super) width: f64,
    pub(super) layers: usize,
}

/// A box, or a line that passes a layer.
struct Node {
    layer: usize,
    width: f64,
    middle: f64,
    above: Vec<usize>,
    below: Vec<usize>,
}

impl Layout {
    /// Places boxes of these widths, between which edges go from a lower to a higher number.
    pub(super) fn new(widths: &[f64], edges: &[(usize, usize)]) -> Self {
        let mut layers = vec![0; widths.len()];
        for (box_number, layer) in longest_paths(widths.len(), edges).into_iter().enumerate() {
            layers[box_number] = layer;
        }
        let mut nodes: Vec<Node> = widths
            .iter()
            .zip(&layers)
            .map(|(&width, &layer)| Node { layer, width, middle: 0.0, above: Vec::new(), below: Vec::new() })
            .collect();
        let paths = paths(&mut nodes, edges);
        let count = layers.iter().max().map_or(0, |last| last + 1);
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (number, node) in nodes.iter().enumerate() {
            rows[node.layer].push(number);
        }
        rows.iter().for_each(|row| spread(row, &mut nodes));
        for round in 0..ROUNDS {
            let down = round % 2 == 0;
            let order: Vec<usize> = if down { (0..count).collect() } else { (0..count).rev().collect() };
            order.into_iter().for_each(|layer| settle(&mut rows[layer], &mut nodes, down));
        }
        let left = nodes.iter().map(|node| node.middle - node.width / 2.0).fold(f64::INFINITY, f64::min);
        let left = if left.is_finite() { left - GAP } else { 0.0 };
        let right = nodes.iter().map(|node| node.middle + node.width / 2.0).fold(left, f64::max);
        let place = |number: &usize| (nodes[*number].middle - left, nodes[*number].layer);
        Self {
            places: (0..widths.len()).map(|number| place(&number)).collect(),
            lines: paths.iter().map(|path| path.iter().map(place).collect()).collect(),
            width: right - left + GAP,
            layers: count,
        }
    }
}

/// The layer of each box: one below the lowest box that it waits for.
fn longest_paths(boxes: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut before = vec![Vec::new(); boxes];
    edges.iter().for_each(|&(from, to)| before[to].push(from));
    let mut layers = vec![0; boxes];
    for number in 0..boxes {
        layers[number] = before[number].iter().map(|&from| layers[from] + 1).max().unwrap_or(0);
    }
    layers
}

/// For each edge the nodes of its line, with a node for each layer that it passes.
fn paths(nodes: &mut Vec<Node>, edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let passed: usize = edges.iter().map(|&(from, to)| nodes[to].layer - nodes[from].layer - 1).sum();
    let mut paths = Vec::with_capacity(edges.len());
    for &(from, to) in edges {
        let mut path = vec![from];
        if passed <= MOST_POINTS {
            for layer in nodes[from].layer + 1..nodes[to].layer {
                path.push(nodes.len());
                nodes.push(Node { layer, width: LINE, middle: 0.0, above: Vec::new(), below: Vec::new() });
            }
        }
        path.push(to);
        for pair in path.windows(2) {
            nodes[pair[0]].below.push(pair[1]);
            nodes[pair[1]].above.push(pair[0]);
        }
        paths.push(path);
    }
    paths
}

/// Places the nodes of a layer side by side.
fn spread(row: &[usize], nodes: &mut [Node]) {
    let width: f64 = row.iter().map(|&node| nodes[node].width + GAP).sum();
    let mut at = -width / 2.0;
    for &node in row {
        nodes[node].middle = at + nodes[node].width / 2.0;
        at += nodes[node].width + GAP;
    }
}

/// Orders and places a layer by the middles of its neighbours above, or else below.
fn settle(row: &mut [usize], nodes: &mut [Node], down: bool) {
    let wanted = |node: &Node| {
        let neighbours = if down { &node.above } else { &node.below };
        let sum: f64 = neighbours.iter().map(|&other| nodes[other].middle).sum();
        if neighbours.is_empty() { node.middle } else { sum / neighbours.len() as f64 }
    };
    let mut goals: Vec<(f64, usize)> = row.iter().map(|&node| (wanted(&nodes[node]), node)).collect();
    goals.sort_by(|one, other| one.0.total_cmp(&other.0));
    // From the left each as near to its goal as the one before allows; then all back by the mean of what that was too far.
    let mut end = f64::NEG_INFINITY;
    let mut excess = 0.0;
    for &(goal, node) in &goals {
        let half = nodes[node].width / 2.0;
        let middle = goal.max(end + GAP + half);
        excess += middle - goal;
        end = middle + half;
        nodes[node].middle = middle;
    }
    let back = excess / goals.len().max(1) as f64;
    for (slot, (_, node)) in row.iter_mut().zip(goals) {
        nodes[node].middle -= back;
        *slot = node;
    }
}

#[cfg(test)]
mod tests {
    use super::{GAP, Layout};

    #[test]
    fn boxes_are_below_what_they_wait_for_and_do_not_overlap() {
        for seed in 0..50 {
            let mut random = fastrand::Rng::with_seed(seed);
            let widths: Vec<f64> = (0..random.usize(1..60)).map(|_| random.f64() * 100.0 + 10.0).collect();
            let mut edges = Vec::new();
            for to in 1..widths.len() {
                (0..random.usize(0..3)).for_each(|_| edges.push((random.usize(0..to), to)));
            }
            let layout = Layout::new(&widths, &edges);
            for (&(from, to), line) in edges.iter().zip(&layout.lines) {
                assert!(layout.places[from].1 < layout.places[to].1);
                assert_eq!((line[0], line[line.len() - 1]), (layout.places[from], layout.places[to]));
                assert!(line.windows(2).all(|pair| pair[0].1 + 1 == pair[1].1), "{line:?}");
            }
            for one in 0..widths.len() {
                for other in 0..one {
                    let ((x, layer), (other_x, other_layer)) = (layout.places[one], layout.places[other]);
                    let apart = (widths[one] + widths[other]) / 2.0 + GAP;
                    assert!(layer != other_layer || (x - other_x).abs() > apart - 1e-6, "{one} and {other}");
                }
                let (x, layer) = layout.places[one];
                assert!(
                    x >= widths[one] / 2.0 && x + widths[one] / 2.0 <= layout.width && layer < layout.layers
                );
            }
        }
    }
}
