//! [`MemoryPlan`]: a place in one block for each array that a program makes.
//!
//! Two arrays may have one place if every step that uses the one comes before all that use the other. Where the order of
//! the program does not say so, the plan can add it: a tight plan follows the order in which the program was recorded, and
//! so needs the least memory, but lets fewer steps run side by side.

use std::fmt;

use crate::graph::{Graph, Order, Reach};
use crate::listing::label;

/// Arrays begin at multiples of this: the width of an AVX-512 register.
const ALIGN: usize = 64;

/// The place of each array that a program makes, in one block, known before it runs.
///
/// The peak holds for every order of the tasks that the program and the [edges](Self::extra_edges) of the plan allow.
#[derive(Clone, Debug, Default)]
pub struct MemoryPlan {
    program: &'static str,
    offsets: Vec<Option<usize>>,
    /// Of each array: its name, its place and its bytes.
    places: Vec<(String, usize, usize)>,
    peak_bytes: usize,
    lower_bound: usize,
    sum_bytes: usize,
    extra_edges: Vec<(usize, usize)>,
}

/// How arrays share memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// None do.
    Apart,
    /// Those whose steps come one after the other in any order that the program allows.
    Ordered,
    /// As in the order of the recording, which becomes a part of the program.
    Tight,
}

/// An array to be placed.
struct Placed {
    array: usize,
    bytes: usize,
    steps: Vec<usize>,
    keeps: bool,
}

impl MemoryPlan {
    /// A plan for a graph, which adds the edges that it needs to the order.
    pub(crate) fn new(graph: &Graph, order: &mut Order, sharing: Sharing) -> Self {
        let mut arrays = arrays(graph);
        let sum_bytes = arrays.iter().map(|array| array.bytes).sum();
        let lower_bound = live_bytes(graph, &arrays);
        let reach = if sharing == Sharing::Ordered { Reach::of(order) } else { None };
        let follows = |earlier: &Placed, later: &Placed| match (sharing, &reach) {
            (Sharing::Tight, _) => earlier.steps.last() < later.steps.first(),
            (Sharing::Ordered, Some(reach)) => {
                earlier.steps.iter().all(|&one| later.steps.iter().all(|&two| reach.is_after(two, one)))
            }
            _ => false,
        };
        let may_share = |one: &Placed, other: &Placed| {
            !one.keeps && !other.keeps && (follows(one, other) || follows(other, one))
        };
        arrays.sort_by_key(|array| (std::cmp::Reverse(array.bytes), array.array));
        let mut offsets = vec![None; graph.arrays.len()];
        let mut placed: Vec<(usize, &Placed)> = Vec::new();
        let mut peak_bytes = 0;
        for array in &arrays {
            let offset = place(array.bytes, placed.iter().filter(|(_, other)| !may_share(array, other)));
            peak_bytes = peak_bytes.max(offset + array.bytes);
            offsets[array.array] = Some(offset);
            let position = placed.partition_point(|(begin, _)| *begin <= offset);
            placed.insert(position, (offset, array));
        }
        let mut extra_edges = Vec::new();
        if sharing == Sharing::Tight {
            extra_edges = add_edges(order, &placed);
        }
        let mut places: Vec<_> = placed
            .iter()
            .map(|(offset, array)| {
                (label(graph.arrays[array.array].name(), array.array), *offset, array.bytes)
            })
            .collect();
        places.sort_by_key(|(_, offset, bytes)| (*offset, *bytes));
        Self { program: graph.name, offsets, places, peak_bytes, lower_bound, sum_bytes, extra_edges }
    }

    /// Where an array begins, in bytes from the start of the block; none for one that the program does not make.
    pub fn offset(&self, array: usize) -> Option<usize> {
        self.offsets.get(array).copied().flatten()
    }

    /// The bytes of the block.
    pub fn peak_bytes(&self) -> usize {
        self.peak_bytes
    }

    /// The bytes of the arrays that are in use at one time in the order of the recording: no plan that follows it needs less.
    pub fn lower_bound_bytes(&self) -> usize {
        self.lower_bound
    }

    /// The bytes of all arrays, if each had a place of its own.
    pub fn sum_bytes(&self) -> usize {
        self.sum_bytes
    }

    /// Pairs of steps of which the second waits for the first only because their arrays share memory.
    pub fn extra_edges(&self) -> &[(usize, usize)] {
        &self.extra_edges
    }
}

/// The arrays that a program makes and uses.
fn arrays(graph: &Graph) -> Vec<Placed> {
    let mut steps: Vec<Vec<usize>> = vec![Vec::new(); graph.arrays.len()];
    let mut keeps = vec![false; graph.arrays.len()];
    for (step, task) in graph.tasks.iter().enumerate() {
        for access in &task.uses {
            let Some(array) = access.array else { continue };
            let root = graph.root(array);
            keeps[root] |= steps[root].is_empty() && access.reads;
            if steps[root].last() != Some(&step) {
                steps[root].push(step);
            }
        }
    }
    let is_made = |array: &usize| graph.arrays[*array].is_temporary() && !steps[*array].is_empty();
    let numbers: Vec<usize> = (0..graph.arrays.len()).filter(is_made).collect();
    let placed = numbers.into_iter().map(|array| Placed {
        array,
        bytes: graph.arrays[array].bytes.next_multiple_of(ALIGN),
        keeps: keeps[array] || graph.arrays[array].initial != dahl_core::__program::Initial::Zeros,
        steps: std::mem::take(&mut steps[array]),
    });
    placed.collect()
}

/// The most bytes that are in use at one time, in the order of the steps.
fn live_bytes(graph: &Graph, arrays: &[Placed]) -> usize {
    let mut change = vec![0_isize; graph.tasks.len() + 1];
    for array in arrays {
        let (first, last) = match (array.keeps, &array.steps[..]) {
            (false, [first, .., last]) => (*first, *last),
            (false, [only]) => (*only, *only),
            _ => (0, graph.tasks.len() - 1),
        };
        change[first] += array.bytes as isize;
        change[last + 1] -= array.bytes as isize;
    }
    let (mut live, mut most) = (0, 0);
    for change in change {
        live += change;
        most = most.max(live);
    }
    most as usize
}

/// The lowest place of so many bytes that is apart from the others, which are sorted by where they begin.
fn place<'p>(bytes: usize, others: impl Iterator<Item = &'p (usize, &'p Placed)>) -> usize {
    let mut end = 0;
    for (begin, other) in others {
        if end + bytes <= *begin {
            return end;
        }
        end = end.max(begin + other.bytes);
    }
    end
}

/// Lets all steps on the later one of two arrays in one place wait for all on the earlier one.
fn add_edges(order: &mut Order, placed: &[(usize, &Placed)]) -> Vec<(usize, usize)> {
    let before = order.clone();
    for (position, (begin, one)) in placed.iter().enumerate() {
        let end = begin + one.bytes;
        for (_, other) in placed[position + 1..].iter().take_while(|(begin, _)| *begin < end) {
            let (earlier, later) =
                if one.steps.last() < other.steps.first() { (one, other) } else { (other, one) };
            for &step in &earlier.steps {
                for &next in &later.steps {
                    order.add(step, next);
                }
            }
        }
    }
    order.reduce();
    let was = |step: usize, next: u32| before.after[step].binary_search(&next).is_ok();
    let edges = order.after.iter().enumerate().flat_map(|(step, after)| {
        after.iter().filter(move |&&next| !was(step, next)).map(move |&next| (step, next as usize))
    });
    edges.collect()
}

/// The peak, the bounds, and the place of each array.
impl fmt::Display for MemoryPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} bytes at most; {} are in use at one time, {} arrays have {} together",
            self.program,
            self.peak_bytes,
            self.lower_bound,
            self.places.len(),
            self.sum_bytes
        )?;
        for (name, offset, bytes) in &self.places {
            write!(f, "\n    {offset:>12} .. {:<12} {name}", offset + bytes)?;
        }
        Ok(())
    }
}
