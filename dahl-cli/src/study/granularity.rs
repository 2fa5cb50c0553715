//! Study: how small tasks may be.
//!
//! The same work is cut into more and more tasks, by two of the patterns of Task Bench (Slaughter et al. 2020, *Task Bench:
//! A Parameterized Benchmark for Evaluating Parallel Runtime Performance*): `chains`, where a task follows one other, and
//! `stencil`, where it follows three. A task multiplies and adds in registers, so that memory does not matter.
//!
//! * Efficiency: how long the work takes in a plain loop on one core, at least, divided by the time of all workers.
//! * Granularity: the time of all workers, divided by the number of tasks. METG, the minimum effective task granularity, is
//!   the one at which the efficiency is a half.

use std::hint::black_box;
use std::time::Instant;

use dahl::prelude::*;
use dahl::simd::{Vectorised, dispatch};
use serde::Serialize;

use super::findings::Findings;
use super::plot::{Axis, Figure, Lines, Point, Series, number};
use super::programs::unchecked;
use super::rounds::{Spread, in_turn};
use super::session::Session;
use super::{Study, Time};
use crate::trouble::Trouble;

pub(super) const STUDY: Study = Study {
    name: "granularity",
    question: "How small may tasks be before the runtime's own work counts?",
    time: Time::Real,
    rounds: 15,
    run,
};

/// Tasks that may run at once.
const WIDTH: usize = 32;

/// Numbers that each task works on: a register's worth.
const NUMBERS: usize = 8;

/// `v = 0.5 v + 1`, so often for each number.
#[inline(always)]
fn multiply_and_add(values: &mut [f32], times: u64) {
    let mut numbers = [0.0; NUMBERS];
    numbers.copy_from_slice(values);
    for _ in 0..times {
        for number in &mut numbers {
            *number = 0.5 * *number + 1.0;
        }
    }
    values.copy_from_slice(&numbers);
}

/// A task of a chain.
#[codelet(RW, cpu_only)]
fn link(values: &mut [f32], times: u64) {
    multiply_and_add(values, times);
}

/// A task of a stencil: it reads what three tasks have written a step before.
#[codelet(R, R, R, W, cpu_only)]
fn cell(left: &[f32], middle: &[f32], right: &[f32], out: &mut [f32], times: u64) {
    for (i, out) in out.iter_mut().enumerate() {
        *out = (left[i] + middle[i] + right[i]) / 3.0;
    }
    multiply_and_add(out, times);
}

/// The same loop without a task around it.
struct Loop(u64);

impl Vectorised for Loop {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut values = [1.0; NUMBERS];
        multiply_and_add(black_box(&mut values), self.0);
        black_box(values);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Pattern {
    Chains,
    Stencil,
}

impl Pattern {
    fn name(self) -> &'static str {
        match self {
            Self::Chains => "chains",
            Self::Stencil => "stencil",
        }
    }

    /// Submits so many steps of tasks.
    fn submit(self, rows: &mut [Vec<Vector<'static, f32>>; 2], steps: u64, times: u64) -> dahl::Result<()> {
        let [before, after] = rows;
        for step in 0..steps {
            match self {
                Self::Chains => before.iter_mut().try_for_each(|values| link(values, times))?,
                Self::Stencil => {
                    let (read, written) =
                        if step % 2 == 0 { (&*before, &mut *after) } else { (&*after, &mut *before) };
                    for (i, out) in written.iter_mut().enumerate() {
                        let (left, right) = (&read[(i + WIDTH - 1) % WIDTH], &read[(i + 1) % WIDTH]);
                        cell(left, &read[i], right, out, times)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The work in so many steps of [`WIDTH`] tasks.
#[derive(Clone, Copy, Debug)]
struct Variant {
    pattern: Pattern,
    workers: usize,
    steps: u64,
    /// Multiplications and additions of all tasks, for each number.
    total: u64,
}

/// Microseconds, as one round has measured them.
struct Round {
    loop_us: f64,
    tasks_us: f64,
}

impl Variant {
    fn tasks(&self) -> u64 {
        self.steps * WIDTH as u64
    }

    fn measure(&self) -> Result<Round, Trouble> {
        let rt = unchecked().cpu_workers(self.workers).build()?;
        let row = || (0..WIDTH).map(|_| rt.zeros([NUMBERS])).collect::<dahl::Result<Vec<_>>>();
        let mut rows = [row()?, row()?];
        // Records of tasks are made as they are first needed.
        self.pattern.submit(&mut rows, self.steps.min(256), 1)?;
        rt.wait()?;
        let begin = Instant::now();
        self.pattern.submit(&mut rows, self.steps, self.total / self.tasks())?;
        rt.wait()?;
        let tasks_us = begin.elapsed().as_secs_f64() * 1e6;
        drop(rt);
        let begin = Instant::now();
        dispatch(Loop(self.total));
        Ok(Round { loop_us: begin.elapsed().as_secs_f64() * 1e6, tasks_us })
    }
}

#[derive(Debug, Serialize)]
struct Row {
    pattern: Pattern,
    workers: usize,
    tasks: u64,
    /// Of the work in one task, by the plain loop.
    work_us: f64,
    granularity_us: f64,
    efficiency: f64,
    efficiency_low: f64,
    efficiency_high: f64,
}

impl Row {
    fn spread(&self) -> Spread {
        Spread { median: self.efficiency, low: self.efficiency_low, high: self.efficiency_high }
    }

    fn new(variant: &Variant, rounds: &[Round], loop_us: f64) -> Self {
        let (workers, tasks) = (variant.workers as f64, variant.tasks() as f64);
        let efficiency = Spread::over(rounds, |round| loop_us / (workers * round.tasks_us));
        Self {
            pattern: variant.pattern,
            workers: variant.workers,
            tasks: variant.tasks(),
            work_us: loop_us / tasks,
            granularity_us: Spread::over(rounds, |round| workers * round.tasks_us).median / tasks,
            efficiency: efficiency.median,
            efficiency_low: efficiency.low,
            efficiency_high: efficiency.high,
        }
    }
}

/// The granularity at which the efficiency is a half, between the two rows around it, if their quartiles do not overlap; rows
/// have more and more tasks.
fn metg<'r>(rows: impl Iterator<Item = &'r Row>) -> String {
    let rows: Vec<&Row> = rows.collect();
    let around = rows.windows(2).find(|pair| pair[0].efficiency >= 0.5 && pair[1].efficiency < 0.5);
    let Some(around) = around else { return "not reached".to_owned() };
    if !around[0].spread().is_apart(&around[1].spread()) {
        return "within the spread".to_owned();
    }
    let share = (around[0].efficiency - 0.5) / (around[0].efficiency - around[1].efficiency);
    let (above, below) = (around[0].granularity_us.ln(), around[1].granularity_us.ln());
    format!("{:.2} us", (above + (below - above) * share).exp())
}

/// 1, 2, 4, .. and the most.
pub(super) fn powers_to(most: usize) -> Vec<usize> {
    let powers =
        std::iter::successors(Some(1), |workers| Some(2 * workers)).take_while(|&workers| workers < most);
    powers.chain([most]).collect()
}

fn run(session: &mut Session<'_>) -> Result<Findings, Trouble> {
    let total: u64 = session.either(1 << 23, 1 << 19);
    let most_steps: u64 = session.either(1 << 12, 1 << 8);
    session.setting("multiply_adds", total as i64);
    session.setting("tasks_at_once", WIDTH as i64);
    let workers = powers_to(session.settings.workers);
    let steps = || (0..).map(|power| 1 << power).take_while(|steps| *steps <= most_steps);
    let mut variants = Vec::new();
    for pattern in [Pattern::Chains, Pattern::Stencil] {
        for &workers in &workers {
            variants.extend(steps().map(|steps| Variant { pattern, workers, steps, total }));
        }
    }
    let name = |variant: &Variant| format!("{} tasks on {} workers", variant.tasks(), variant.workers);
    let measured = in_turn(session, "granularity", &variants, name, Variant::measure)?;
    // The work is the same in all, and what disturbs the loop only adds to its time.
    let loop_us = measured.iter().flatten().map(|round| round.loop_us).fold(f64::INFINITY, f64::min);
    let rows: Vec<Row> =
        variants.iter().zip(&measured).map(|(variant, rounds)| Row::new(variant, rounds, loop_us)).collect();
    session.table("efficiency.csv", &rows)?;
    let of =
        |pattern, workers| rows.iter().filter(move |row| row.pattern == pattern && row.workers == workers);

    let mut figure = Figure::new("Efficiency against task granularity", 2);
    let mut findings =
        Findings::new(["pattern", "workers", "METG at 50 %", "efficiency of the largest tasks"]);
    for pattern in [Pattern::Chains, Pattern::Stencil] {
        let caption = match pattern {
            Pattern::Chains => "chains: a task follows one other",
            Pattern::Stencil => "stencil: a task follows three others",
        };
        let (x, y) = (Axis::log("workers x time / tasks (µs)"), Axis::linear("efficiency").to(1.1));
        let mut lines = Lines::new(caption, x, y);
        for &workers in &workers {
            let point = |row: &Row| Point {
                x: row.granularity_us,
                y: row.efficiency,
                low: row.efficiency_low,
                high: row.efficiency_high,
            };
            let plural = if workers == 1 { "" } else { "s" };
            lines = lines.series(Series::new(
                format!("{workers} worker{plural}"),
                of(pattern, workers).map(point).collect(),
            ));
            let largest = of(pattern, workers).map(|row| row.efficiency).next().unwrap_or(0.0);
            findings.row([
                pattern.name().to_owned(),
                workers.to_string(),
                metg(of(pattern, workers)),
                format!("{:.0} %", 100.0 * largest),
            ]);
        }
        let ends = rows
            .iter()
            .map(|row| row.granularity_us)
            .fold((f64::INFINITY, 0.0_f64), |(least, most), us| (least.min(us), most.max(us)));
        figure = figure.panel(lines.guide("a half", vec![(ends.0, 0.5), (ends.1, 0.5)]));
    }
    session.figure("efficiency.svg", &figure)?;
    let smallest = rows.iter().map(|row| row.work_us).fold(f64::INFINITY, f64::min);
    findings.remark(format!("The smallest tasks have {} us of work.", number(smallest)));
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(granularity_us: f64, efficiency: f64) -> Row {
        Row {
            pattern: Pattern::Chains,
            workers: 1,
            tasks: 1,
            work_us: granularity_us * efficiency,
            granularity_us,
            efficiency,
            efficiency_low: efficiency,
            efficiency_high: efficiency,
        }
    }

    #[test]
    fn metg_lies_between_the_rows_around_a_half() {
        let rows = [row(100.0, 0.99), row(10.0, 0.75), row(1.0, 0.25)];
        assert_eq!(metg(rows.iter()), "3.16 us");
        assert_eq!(metg(rows[..2].iter()), "not reached");
        let noise = rows.map(|row| Row { efficiency_low: 0.1, efficiency_high: 0.9, ..row });
        assert_eq!(metg(noise.iter()), "within the spread");
    }

    #[test]
    fn workers_double_up_to_the_most() {
        assert_eq!(powers_to(1), [1]);
        assert_eq!(powers_to(2), [1, 2]);
        assert_eq!(powers_to(6), [1, 2, 4, 6]);
    }
}
