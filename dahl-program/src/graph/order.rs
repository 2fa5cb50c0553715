//! [`Order`]: which step waits for which; [`Reach`]: whether one waits for another, directly or not.

use super::{Graph, Use};

/// The dependencies between the steps of a graph, which follow from how they use its arrays.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    /// Of each step: those that wait for it, by number, ascending.
    pub(crate) after: Vec<Vec<u32>>,
}

impl Order {
    /// The order of a graph.
    pub(crate) fn of(graph: &Graph) -> Self {
        Self::of_uses(graph.arrays.len(), graph.tasks.iter().map(|task| task.uses.iter().copied()))
    }

    /// The order of steps by their uses of so many arrays: a step waits for the last one before it that changes an array that it uses, and, if it changes
    /// the array, for those that have read it since. What follows from other dependencies is left out.
    pub(crate) fn of_uses(
        arrays: usize,
        steps: impl ExactSizeIterator<Item = impl Iterator<Item = Use>>,
    ) -> Self {
        let count = steps.len();
        let mut last: Vec<(Option<usize>, Vec<usize>)> = vec![(None, Vec::new()); arrays];
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (step, uses) in steps.enumerate() {
            for access in uses {
                let Some(array) = access.array else { continue };
                let (writer, readers) = &mut last[array];
                if access.writes {
                    before[step]
                        .extend(writer.iter().chain(readers.iter()).copied().filter(|&other| other != step));
                    readers.clear();
                    *writer = Some(step);
                } else {
                    before[step].extend(writer.iter().copied().filter(|&other| other != step));
                    readers.push(step);
                }
            }
        }
        let mut order = Self { after: vec![Vec::new(); count] };
        for (step, before) in before.iter_mut().enumerate() {
            before.sort_unstable();
            before.dedup();
            before.iter().for_each(|&earlier| order.after[earlier].push(step as u32));
        }
        order.reduce();
        order
    }

    /// Lets `later` wait for `earlier`.
    pub(crate) fn add(&mut self, earlier: usize, later: usize) {
        debug_assert!(earlier < later, "an order goes forward");
        let after = &mut self.after[earlier];
        if let Err(place) = after.binary_search(&(later as u32)) {
            after.insert(place, later as u32);
        }
    }

    /// Pairs of steps of which the second waits for the first.
    pub(crate) fn edges(&self) -> Vec<(usize, usize)> {
        let after = self.after.iter().enumerate();
        after.flat_map(|(step, after)| after.iter().map(move |&next| (step, next as usize))).collect()
    }

    /// Leaves out dependencies that follow from others, if there are not too many steps to know.
    pub(crate) fn reduce(&mut self) {
        let Some(reach) = Reach::of(self) else { return };
        for step in 0..self.after.len() {
            let after = self.after[step].clone();
            self.after[step].retain(|&next| {
                !after.iter().any(|&other| other < next && reach.is_after(next as usize, other as usize))
            });
        }
    }
}

/// For each pair of steps, whether the later one comes after the earlier one.
#[derive(Debug)]
pub(crate) struct Reach {
    words: usize,
    /// For each step: a bit for each step that it comes after.
    before: Vec<u64>,
}

impl Reach {
    /// The most steps for which all pairs are kept: 32 MiB of bits.
    const MOST: usize = 1 << 14;

    /// That of an order; none if there are too many steps.
    pub(crate) fn of(order: &Order) -> Option<Self> {
        let count = order.after.len();
        if count > Self::MOST {
            return None;
        }
        let words = count.div_ceil(64);
        let mut reach = Self { words, before: vec![0; words * count] };
        for step in 0..count {
            for &next in &order.after[step] {
                reach.include(next as usize, step);
            }
        }
        Some(reach)
    }

    /// `later` comes after `earlier`, and so after all that this comes after.
    fn include(&mut self, later: usize, earlier: usize) {
        let (head, tail) = self.before.split_at_mut(later * self.words);
        let from = &head[earlier * self.words..][..self.words];
        tail[..self.words].iter_mut().zip(from).for_each(|(to, from)| *to |= from);
        tail[earlier / 64] |= 1 << (earlier % 64);
    }

    /// Whether `later` comes after `earlier`.
    pub(crate) fn is_after(&self, later: usize, earlier: usize) -> bool {
        self.before[later * self.words + earlier / 64] >> (earlier % 64) & 1 == 1
    }
}
