//! The same work without a task graph: rayon forks the tasks of each step and joins them before the next.

use rayon::prelude::*;

use super::pattern::{Pattern, Reads};
use super::work::{NUMBERS, bare, mean};

/// A row of the cells that tasks work on, far enough apart to avoid false sharing.
pub(super) type Cells = Vec<Cell>;

#[derive(Clone, Copy, Debug)]
#[repr(align(128))]
pub(super) struct Cell([f32; NUMBERS]);

pub(super) fn cells(count: usize) -> Cells {
    vec![Cell([0.0; NUMBERS]); count]
}

/// Runs so many steps of a pattern on the threads of the current pool.
pub(super) fn run(pattern: Pattern, rows: &mut [Cells; 2], steps: u64, times: u64) {
    let [even, odd] = rows;
    for step in 0..steps {
        let (read, written) = if step % 2 == 0 { (&*even, &mut *odd) } else { (&*odd, &mut *even) };
        let most = written.len();
        let tasks = written[..pattern.tasks_of(step, most)].par_iter_mut().with_max_len(1).enumerate();
        tasks.for_each(|(task, Cell(out))| {
            let of = |task: usize| &read[task].0[..];
            match pattern.reads(step, task, most) {
                Reads::One(a) => mean([of(a)], out),
                Reads::Two([a, b]) => mean([of(a), of(b)], out),
                Reads::Three([a, b, c]) => mean([of(a), of(b), of(c)], out),
            }
            bare(out, times);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::pattern;
    use super::*;

    /// The tasks of dahl and this code compute the same numbers.
    #[test]
    fn both_ways_compute_the_same() -> dahl::Result<()> {
        let rt = dahl::Runtime::builder().cpu_workers(2).build()?;
        for pattern in Pattern::ALL {
            let row = || (0..8).map(|_| rt.zeros([NUMBERS])).collect::<dahl::Result<pattern::Cells>>();
            let (mut tasks, mut forks) = ([row()?, row()?], [cells(8), cells(8)]);
            pattern.submit(&mut tasks, 7, 2)?;
            run(pattern, &mut forks, 7, 2);
            // Chains stay in their row; with the other patterns, the seventh step writes the other row.
            let last = if pattern == Pattern::Chains { 0 } else { 1 };
            for (task, fork) in tasks[last].iter().zip(&forks[1]) {
                assert_eq!(task.to_vec()?, fork.0, "{}", pattern.name());
            }
        }
        Ok(())
    }
}
