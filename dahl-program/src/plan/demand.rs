//! [`Demand`]: the arrays that a program makes, as the planner sees them: how large they are, and which steps use them.

use dahl_core::__program::Initial;

use crate::graph::{Graph, Origin, Use};
use crate::listing::label;

/// Arrays begin at multiples of this: the width of an AVX-512 register.
pub(super) const ALIGN: usize = 64;

/// The arrays that a program makes and uses.
#[derive(Clone, Debug)]
pub(crate) struct Demand {
    pub(super) program: String,
    /// How many steps there are.
    pub(super) steps: usize,
    /// How many arrays there are, with those that the program does not make.
    pub(super) numbers: usize,
    pub(super) arrays: Vec<Placed>,
}

/// An array to be placed.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    /// Its number in the program.
    pub(super) array: usize,
    pub(super) label: String,
    /// Its bytes, a multiple of [`ALIGN`].
    pub(super) bytes: usize,
    /// The steps that use it or a part of it, ascending.
    pub(super) steps: Vec<usize>,
    /// Whether it has a value before the first step, and so no other array its place.
    pub(super) keeps: bool,
}

/// An array of a program.
pub(crate) struct Described<'a> {
    pub(crate) name: Option<&'a str>,
    pub(crate) bytes: usize,
    pub(crate) origin: Origin,
    /// Whether the program fills it with values.
    pub(crate) is_constant: bool,
}

impl Placed {
    /// The first and the last step at which it has its place, of so many.
    pub(super) fn lifetime(&self, steps: usize) -> (usize, usize) {
        match (self.keeps, &self.steps[..]) {
            (false, [first, .., last]) => (*first, *last),
            (false, [only]) => (*only, *only),
            _ => (0, steps - 1),
        }
    }
}

impl Demand {
    /// That of a graph.
    pub(crate) fn of(graph: &Graph) -> Self {
        let described = graph.arrays.iter().map(|array| Described {
            name: array.name(),
            bytes: array.bytes,
            origin: array.origin,
            is_constant: array.initial != Initial::Zeros,
        });
        let described: Vec<_> = described.collect();
        Self::new(graph.name, &described, graph.tasks.iter().map(|task| task.uses.iter().copied()))
    }

    /// That of the arrays and the steps of a program.
    pub(crate) fn new(
        program: &str,
        described: &[Described<'_>],
        uses: impl ExactSizeIterator<Item = impl Iterator<Item = Use>>,
    ) -> Self {
        let root = |mut array: usize| {
            while let Origin::Part(whole) = described[array].origin {
                array = whole;
            }
            array
        };
        let count = uses.len();
        let mut steps: Vec<Vec<usize>> = vec![Vec::new(); described.len()];
        let mut keeps: Vec<bool> = described.iter().map(|array| array.is_constant).collect();
        for (step, uses) in uses.enumerate() {
            for access in uses {
                let Some(array) = access.array else { continue };
                let root = root(array);
                keeps[root] |= steps[root].is_empty() && access.reads;
                if steps[root].last() != Some(&step) {
                    steps[root].push(step);
                }
            }
        }
        let arrays = described.iter().enumerate().filter_map(|(array, described)| {
            let is_made = described.origin == Origin::Temporary && !steps[array].is_empty();
            is_made.then(|| Placed {
                array,
                label: label(described.name, array),
                bytes: described.bytes.next_multiple_of(ALIGN),
                steps: std::mem::take(&mut steps[array]),
                keeps: keeps[array],
            })
        });
        let arrays = arrays.collect();
        Self { program: program.to_owned(), steps: count, numbers: described.len(), arrays }
    }

    /// The same arrays, if the steps run in this order.
    pub(super) fn reordered(&self, order: &[usize]) -> Self {
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(position, &step)| place[step] = position);
        let mut demand = self.clone();
        for array in &mut demand.arrays {
            array.steps.iter_mut().for_each(|step| *step = place[*step]);
            array.steps.sort_unstable();
        }
        demand
    }

    /// The bytes of all arrays.
    pub(super) fn sum_bytes(&self) -> usize {
        self.arrays.iter().map(|array| array.bytes).sum()
    }

    /// The most bytes that are in use at one time, in the order of the steps.
    pub(super) fn live_bytes(&self) -> usize {
        let mut change = vec![0_isize; self.steps + 1];
        for array in &self.arrays {
            let (first, last) = array.lifetime(self.steps);
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
}
