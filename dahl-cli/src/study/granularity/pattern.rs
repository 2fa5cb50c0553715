//! [`Pattern`]: the predecessors of each task, and the tasks of dahl with these dependencies.

use dahl::prelude::*;
use serde::Serialize;

use super::work::{mean, multiply_and_add};

/// A row of arrays, one for each task of a step.
pub(super) type Cells = Vec<Vector<'static, f32>>;

/// Graphs of Task Bench, by their names there: steps of so many tasks, one step after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Pattern {
    /// `no_comm`: a task follows the one at its index in the step before.
    Chains,
    /// `stencil_1d_periodic`: it follows that one and its two neighbours.
    Stencil,
    /// `fft`: it follows that one and those at a distance, which doubles from step to step and then starts again.
    Fft,
    /// `tree`: two tasks follow each task until the width is reached; then each task of a step's first half has two
    /// followers.
    Tree,
}

/// The tasks of the previous step that a task follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    One(usize),
    Two([usize; 2]),
    Three([usize; 3]),
}

impl Pattern {
    pub(super) const ALL: [Self; 4] = [Self::Chains, Self::Stencil, Self::Fft, Self::Tree];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Chains => "chains",
            Self::Stencil => "stencil",
            Self::Fft => "fft",
            Self::Tree => "tree",
        }
    }

    pub(super) fn caption(self) -> &'static str {
        match self {
            Self::Chains => "chains: a task follows one other",
            Self::Stencil => "stencil: a task follows three others",
            Self::Fft => "fft: two or three others, at distances that double",
            Self::Tree => "tree: two tasks follow one",
        }
    }

    /// The number of tasks of a step, counted from 0, with at most `most`.
    pub(super) fn tasks_of(self, step: u64, most: usize) -> usize {
        match self {
            Self::Tree if step < u64::from(usize::BITS) => most.min(1 << step),
            _ => most,
        }
    }

    /// Tasks of so many steps.
    pub(super) fn tasks(self, steps: u64, most: usize) -> u64 {
        (0..steps).map(|step| self.tasks_of(step, most) as u64).sum()
    }

    /// The tasks of the previous step that task `task` of `step` follows; `most` is at least 4.
    pub(super) fn reads(self, step: u64, task: usize, most: usize) -> Reads {
        match self {
            Self::Chains => Reads::One(task),
            Self::Stencil => Reads::Three([(task + most - 1) % most, task, (task + 1) % most]),
            Self::Fft => {
                let stages = u64::from(most.next_power_of_two().trailing_zeros());
                let distance = 1 << (step % stages);
                let (before, after) = (task.checked_sub(distance), task + distance);
                match before {
                    Some(before) if after < most => Reads::Three([before, task, after]),
                    Some(before) => Reads::Two([before, task]),
                    None if after < most => Reads::Two([task, after]),
                    None => Reads::One(task),
                }
            }
            Self::Tree => Reads::One(task / 2),
        }
    }

    /// Submits so many steps of tasks, which alternate between the two rows.
    pub(super) fn submit(self, rows: &mut [Cells; 2], steps: u64, times: u64) -> dahl::Result<()> {
        let [even, odd] = rows;
        for step in 0..steps {
            if self == Self::Chains {
                even.iter_mut().try_for_each(|values| link(values, times))?;
                continue;
            }
            let (read, written) = if step % 2 == 0 { (&*even, &mut *odd) } else { (&*odd, &mut *even) };
            let most = written.len();
            for (task, out) in written[..self.tasks_of(step, most)].iter_mut().enumerate() {
                match self.reads(step, task, most) {
                    Reads::One(a) => after_one(&read[a], out, times)?,
                    Reads::Two([a, b]) => after_two(&read[a], &read[b], out, times)?,
                    Reads::Three([a, b, c]) => after_three(&read[a], &read[b], &read[c], out, times)?,
                }
            }
        }
        Ok(())
    }
}

/// A task of a chain.
#[codelet(RW, cpu_only)]
fn link(values: &mut [f32], times: u64) {
    multiply_and_add(values, times);
}

/// A task that reads what another task wrote a step before.
#[codelet(R, W, cpu_only)]
fn after_one(a: &[f32], out: &mut [f32], times: u64) {
    mean([a], out);
    multiply_and_add(out, times);
}

/// A task that reads what two have written.
#[codelet(R, R, W, cpu_only)]
fn after_two(a: &[f32], b: &[f32], out: &mut [f32], times: u64) {
    mean([a, b], out);
    multiply_and_add(out, times);
}

/// A task that reads what three have written.
#[codelet(R, R, R, W, cpu_only)]
fn after_three(a: &[f32], b: &[f32], c: &[f32], out: &mut [f32], times: u64) {
    mean([a, b, c], out);
    multiply_and_add(out, times);
}

#[cfg(test)]
mod tests {
    use super::{Pattern, Reads};

    #[test]
    fn a_stencil_has_no_ends() {
        let reads = |task| Pattern::Stencil.reads(3, task, 8);
        assert_eq!([reads(0), reads(7)], [Reads::Three([7, 0, 1]), Reads::Three([6, 7, 0])]);
    }

    #[test]
    fn distances_in_an_fft_double_and_begin_anew() {
        let reads = |step| Pattern::Fft.reads(step, 4, 8);
        let doubled = [Reads::Three([3, 4, 5]), Reads::Three([2, 4, 6]), Reads::Two([0, 4])];
        assert_eq!([reads(0), reads(1), reads(2)], doubled);
        assert_eq!(reads(3), reads(0));
        assert_eq!(Pattern::Fft.reads(3, 5, 12), Reads::One(5), "8 away there is none of 12");
    }

    #[test]
    fn a_tree_grows_to_its_width() {
        let widths: Vec<_> = (0..5).map(|step| Pattern::Tree.tasks_of(step, 8)).collect();
        assert_eq!(widths, [1, 2, 4, 8, 8]);
        assert_eq!(Pattern::Tree.tasks(5, 8), 23);
        assert_eq!(Pattern::Tree.tasks_of(1 << 20, 8), 8);
        assert_eq!(Pattern::Tree.reads(2, 3, 8), Reads::One(1));
    }
}
