//! The same programs on plain vectors, where each call is executed immediately.

use dahl_core::Reduction;

use super::kernels::{UNLUCKY, contribution};
use super::program::{ARRAYS, Action, LEN, TOTALS, index_along};

/// The default number of consecutive contributions that share a leaf.
const LEAF: usize = dahl_core::LEAF_LEN.get();

/// The value of an array: elements, or nothing because a task failed.
pub(crate) type Held<T> = Option<Vec<T>>;

/// The values of all arrays.
pub(crate) struct Oracle {
    pub(crate) arrays: [Held<i64>; ARRAYS],
    totals: [Total; TOTALS],
}

/// The value of a total: its old value, whether that is forgotten, and a reduction that is open.
struct Total {
    old: Held<f32>,
    is_forgotten: bool,
    open: Option<Tree>,
    leaf_len: usize,
}

/// A reduction: its kind, and the contributions of each leaf, in the order of submission.
struct Tree {
    reduction: Reduction,
    leaves: Vec<Vec<Vec<f32>>>,
}

impl Tree {
    fn identity(&self) -> Vec<f32> {
        let identity = match self.reduction {
            Reduction::Sum => 0.0,
            Reduction::Max => f32::NEG_INFINITY,
            Reduction::Min => f32::INFINITY,
            Reduction::Custom => unreachable!("no program draws it"),
        };
        vec![identity; LEN]
    }

    fn combine(&self, earlier: &[f32], later: &[f32]) -> Vec<f32> {
        let combine = match self.reduction {
            Reduction::Sum => |earlier, later| earlier + later,
            Reduction::Max => f32::max,
            Reduction::Min => f32::min,
            Reduction::Custom => unreachable!("no program draws it"),
        };
        earlier.iter().zip(later).map(|(&earlier, &later)| combine(earlier, later)).collect()
    }

    fn new(reduction: Reduction) -> Self {
        Self { reduction, leaves: Vec::new() }
    }

    fn push(&mut self, contribution: Vec<f32>, leaf_len: usize) {
        match self.leaves.last_mut() {
            Some(leaf) if leaf.len() < leaf_len => leaf.push(contribution),
            _ => self.leaves.push(vec![contribution]),
        }
    }

    /// Each leaf is folded in order from the identity. The leaves are combined like a binary counter, and the remaining
    /// sums from the latest to the earliest.
    fn total(&self) -> Vec<f32> {
        let mut levels: Vec<(u32, Vec<f32>)> = Vec::new();
        for leaf in &self.leaves {
            let sum = leaf.iter().fold(self.identity(), |sum, next| self.combine(&sum, next));
            levels.push((0, sum));
            while let [.., (earlier_level, earlier), (level, later)] = levels.as_slice()
                && earlier_level == level
            {
                let pair = (level + 1, self.combine(earlier, later));
                levels.truncate(levels.len() - 2);
                levels.push(pair);
            }
        }
        let partial_results = levels.into_iter().map(|(_, sum)| sum);
        partial_results.rev().reduce(|later, earlier| self.combine(&earlier, &later)).expect("a contribution")
    }
}

impl Total {
    fn new() -> Self {
        Self { old: Some(vec![0.0; LEN]), is_forgotten: false, open: None, leaf_len: LEAF }
    }

    fn contribute(&mut self, reduction: Reduction, contribution: Held<f32>, leaf_len: usize) {
        if self.open.as_ref().is_some_and(|tree| tree.reduction != reduction) {
            self.close();
        }
        match (contribution, &self.old) {
            (Some(contribution), Some(_)) => {
                self.open.get_or_insert_with(|| Tree::new(reduction)).push(contribution, leaf_len);
            }
            _ => self.set(None),
        }
    }

    /// The end of a reduction: the old value is combined last, if it is not forgotten.
    fn close(&mut self) -> &Held<f32> {
        if let (Some(tree), Some(old)) = (self.open.take(), &mut self.old) {
            *old = if self.is_forgotten { tree.total() } else { tree.combine(old, &tree.total()) };
        }
        self.is_forgotten = false;
        &self.old
    }

    fn set(&mut self, value: Held<f32>) {
        *self = Self { old: value, leaf_len: self.leaf_len, ..Self::new() };
    }

    /// A reader finds zeros, and a new reduction begins.
    fn forget(&mut self) {
        *self = Self { is_forgotten: true, leaf_len: self.leaf_len, ..Self::new() };
    }
}

fn both(a: &Held<i64>, b: &Held<i64>, f: impl Fn(i64, i64) -> i64) -> Held<i64> {
    Some(a.as_ref()?.iter().zip(b.as_ref()?).map(|(&a, &b)| f(a, b)).collect())
}

fn each(a: &Held<i64>, f: impl Fn(usize, i64) -> i64) -> Held<i64> {
    Some(a.as_ref()?.iter().enumerate().map(|(i, &a)| f(i, a)).collect())
}

/// Contribution number `time` of an array.
fn contribution_of(a: &Held<i64>, time: usize) -> Held<f32> {
    Some(a.as_ref()?.iter().map(|&x| contribution(x, factor(time))).collect())
}

/// The factor of contribution number `time`.
pub(crate) fn factor(time: usize) -> f32 {
    0.1 + 0.3 * time as f32
}

fn mix(a: i64, b: i64) -> i64 {
    a.wrapping_mul(3).wrapping_add(b)
}

fn map(x: i64, y: i64) -> i64 {
    x.wrapping_mul(7).wrapping_add(y)
}

fn scale(x: i64, add: usize) -> i64 {
    x.wrapping_mul(5).wrapping_add(add as i64)
}

impl Oracle {
    pub(crate) fn new() -> Self {
        Self {
            arrays: std::array::from_fn(|_| Some(vec![0; LEN])),
            totals: std::array::from_fn(|_| Total::new()),
        }
    }

    /// The value of a total that the host reads, as bits, so that each bit is compared.
    pub(crate) fn bits_of_total(&mut self, total: usize) -> Held<u32> {
        let total = self.totals[total].close().as_ref()?;
        Some(total.iter().map(|value| value.to_bits()).collect())
    }

    /// The result of [`Action::ReduceAnew`].
    pub(crate) fn bits_anew(&self, reduction: Reduction, a: usize, times: usize) -> Held<u32> {
        let mut tree = Tree::new(reduction);
        for time in 0..times {
            tree.push(contribution_of(&self.arrays[a], time)?, LEAF);
        }
        let total = tree.total();
        Some(total.iter().map(|value| value.to_bits()).collect())
    }

    pub(crate) fn predict(&mut self, action: &Action) {
        use Action::*;
        let Self { arrays, totals } = self;
        match *action {
            Mix(a, b, c) => arrays[c] = both(&arrays[a], &arrays[b], mix),
            Map(a, b, c) => arrays[c] = both(&arrays[a], &arrays[b], map),
            MixSelf(a, b) | MixParts(a, b, _) => arrays[a] = both(&arrays[a], &arrays[b], mix),
            MapSelf(a, b) => arrays[b] = both(&arrays[a], &arrays[b], map),
            Scale(a, UNLUCKY) => arrays[a] = None,
            Scale(a, add) => arrays[a] = each(&arrays[a], |_, x| scale(x, add as usize)),
            Fill(a, value) => arrays[a] = Some(vec![value; LEN]),
            AddUp(a, b) | AddUpParts(a, b, _, _) => {
                arrays[b] = both(&arrays[a], &arrays[b], i64::wrapping_add);
            }
            AddAny(a, b, times) => {
                let add = |a: i64, b: i64| b.wrapping_add(a.wrapping_mul(times as i64));
                arrays[b] = both(&arrays[a], &arrays[b], add);
            }
            ScaleParts(a, axis, chunk) => {
                arrays[a] = each(&arrays[a], |i, x| scale(x, index_along(i, axis) / chunk));
            }
            ScaleNested(a, axis) => {
                arrays[a] = each(&arrays[a], |i, x| {
                    let (part, nested) = (index_along(i, axis) / 2, index_along(i, 1 - axis));
                    scale(x, 10 * part + 100 * nested)
                });
            }
            FillParts(a, axis, chunk) => {
                arrays[a] = Some((0..LEN).map(|i| (index_along(i, axis) / chunk) as i64).collect());
            }
            MapParts(a, b, _, _) => arrays[b] = both(&arrays[a], &arrays[a], map),
            LeakParts(a, _) => arrays[a] = each(&arrays[a], |_, x| scale(x, 1)),
            Reduce(reduction, a, f, times) => {
                for time in 0..times {
                    let leaf_len = totals[f].leaf_len;
                    totals[f].contribute(reduction, contribution_of(&arrays[a], time), leaf_len);
                }
            }
            ReduceParts(reduction, a, f, _, times) => {
                // A partition is an access of its own, and so is its end.
                totals[f].close();
                for time in 0..times {
                    totals[f].contribute(reduction, contribution_of(&arrays[a], time), LEAF);
                }
                totals[f].close();
            }
            ReducePartsAnew(reduction, a, f, _, times) => {
                totals[f].forget();
                for time in 0..times {
                    totals[f].contribute(reduction, contribution_of(&arrays[a], time), LEAF);
                }
                totals[f].close();
            }
            SetLeafLen(f, len) => totals[f].leaf_len = len.get(),
            FinalizeTotal(f) => {
                totals[f].close();
            }
            InvalidateTotal(f) => totals[f].forget(),
            Invalidate(a) => arrays[a] = Some(vec![0; LEN]),
            FillTotal(f, value) => totals[f].set(Some(vec![f32::from(value); LEN])),
            WriteTotal(f, value) => {
                totals[f].close();
                let written = totals[f].old.as_ref().map(|_| vec![f32::from(value); LEN]);
                totals[f].set(written);
            }
            InArena(a, rounds, _) => {
                // In each round: 2 a + 1, through arrays of the arena.
                for _ in 0..rounds {
                    arrays[a] = each(&arrays[a], |_, x| x.wrapping_mul(2).wrapping_add(1));
                }
            }
            Unwind(a, _, axis) => {
                // The first part of two was done before the panic.
                let chunk = if axis == 0 { 3 } else { 2 };
                arrays[a] =
                    each(&arrays[a], |i, x| if index_along(i, axis) < chunk { scale(x, 3) } else { x });
            }
            Write(a, value) => arrays[a] = arrays[a].as_ref().map(|_| vec![value; LEN]),
            Replace(a) | Forget(a) => arrays[a] = Some(vec![0; LEN]),
            ReduceAnew(..) | ReadTotal(_) | Read(_) | Wait => {}
        }
    }
}
