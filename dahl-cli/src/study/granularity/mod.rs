//! Study: how small tasks may be.
//!
//! The same work is divided into more and more tasks, in four of the graphs of Task Bench (Slaughter et al. 2020, *Task
//! Bench: A Parameterized Benchmark for Evaluating Parallel Runtime Performance*), four tasks wide for each worker, in
//! dahl, and in rayon with a fork and a join for each step.
//!
//! * Efficiency: the shortest time of the work in a plain loop on one core, divided by the time of all workers.
//! * Granularity: the time of all workers, divided by the number of tasks. METG, the minimum effective task
//!   granularity, is the granularity at which the efficiency is a half.

mod fork_join;
mod pattern;
mod work;

use std::time::Instant;

use serde::Serialize;

use super::findings::Findings;
use super::plot::{Axis, Figure, Lines, Point, Series, number};
use super::programs::unchecked;
use super::rounds::{Spread, in_turn};
use super::session::Session;
use super::{Study, Time};
use crate::trouble::Trouble;
use pattern::{Cells, Pattern};
use work::{NUMBERS, plain_loop};

pub(super) const STUDY: Study = Study {
    name: "granularity",
    question: "How small may tasks be before the runtime's own work counts?",
    time: Time::Real,
    rounds: 15,
    run,
};

/// Parallel tasks per worker.
const WIDTH: usize = 4;

/// The number of steps with the largest tasks.
const LEAST_STEPS: u64 = 32;

/// The system that runs the tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum System {
    Dahl,
    Rayon,
}

impl System {
    const ALL: [Self; 2] = [Self::Dahl, Self::Rayon];

    fn name(self) -> &'static str {
        match self {
            Self::Dahl => "dahl",
            Self::Rayon => "rayon",
        }
    }
}

/// The work, divided into so many steps.
#[derive(Clone, Copy, Debug)]
struct Variant {
    system: System,
    pattern: Pattern,
    workers: usize,
    steps: u64,
    /// Multiply-adds of all tasks, for each number.
    total: u64,
}

/// The measurements of one round, in microseconds.
struct Round {
    loop_us: f64,
    tasks_us: f64,
}

impl Variant {
    fn width(&self) -> usize {
        WIDTH * self.workers
    }

    fn tasks(&self) -> u64 {
        self.pattern.tasks(self.steps, self.width())
    }

    /// Multiply-adds of a task.
    fn times(&self) -> u64 {
        self.total / self.tasks()
    }

    fn measure(&self) -> Result<Round, Trouble> {
        let tasks_us = match self.system {
            System::Dahl => self.with_dahl()?,
            System::Rayon => self.with_rayon()?,
        };
        let begin = Instant::now();
        plain_loop(self.total);
        Ok(Round { loop_us: begin.elapsed().as_secs_f64() * 1e6, tasks_us })
    }

    fn with_dahl(&self) -> Result<f64, Trouble> {
        let rt = unchecked().cpu_workers(self.workers).build()?;
        let row = || (0..self.width()).map(|_| rt.zeros([NUMBERS])).collect::<dahl::Result<Cells>>();
        let mut rows = [row()?, row()?];
        // Runs once beforehand, since records of tasks are allocated when they are first needed.
        self.pattern.submit(&mut rows, self.steps.min(2048), 1)?;
        rt.wait()?;
        let begin = Instant::now();
        self.pattern.submit(&mut rows, self.steps, self.times())?;
        rt.wait()?;
        Ok(begin.elapsed().as_secs_f64() * 1e6)
    }

    fn with_rayon(&self) -> Result<f64, Trouble> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.workers).build();
        let pool = pool.map_err(|error| Trouble::Input(format!("rayon has no threads: {error}")))?;
        let mut rows = [fork_join::cells(self.width()), fork_join::cells(self.width())];
        Ok(pool.install(|| {
            fork_join::run(self.pattern, &mut rows, self.steps.min(2048), 1);
            let begin = Instant::now();
            fork_join::run(self.pattern, &mut rows, self.steps, self.times());
            begin.elapsed().as_secs_f64() * 1e6
        }))
    }
}

#[derive(Debug, Serialize)]
struct Row {
    system: System,
    pattern: Pattern,
    workers: usize,
    tasks: u64,
    /// The work in one task, measured with the plain loop.
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
        // The fraction that the tasks do: if the work cannot be divided equally, a rest is left.
        let loop_us = loop_us * (tasks * variant.times() as f64) / variant.total as f64;
        let efficiency = Spread::over(rounds, |round| loop_us / (workers * round.tasks_us));
        Self {
            system: variant.system,
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

/// The granularity at which the efficiency is a half, between the two rows around it, if their quartiles do not
/// overlap; rows have more and more tasks. `< 0.10 us` if the efficiency is above a half even with the smallest tasks.
fn metg<'r>(rows: impl Iterator<Item = &'r Row>) -> String {
    let rows: Vec<&Row> = rows.collect();
    let around = rows.windows(2).find(|pair| pair[0].efficiency >= 0.5 && pair[1].efficiency < 0.5);
    let Some(around) = around else {
        let smallest = rows.last().filter(|row| row.efficiency >= 0.5);
        return smallest
            .map_or("not reached".to_owned(), |smallest| format!("< {:.2} us", smallest.granularity_us));
    };
    if !around[0].spread().is_apart(&around[1].spread()) {
        return "within the spread".to_owned();
    }
    let share = (around[0].efficiency - 0.5) / (around[0].efficiency - around[1].efficiency);
    let (above, below) = (around[0].granularity_us.ln(), around[1].granularity_us.ln());
    format!("{:.2} us", (above + (below - above) * share).exp())
}

/// 1, 2, 4, .. and `most`.
pub(super) fn powers_to(most: usize) -> Vec<usize> {
    let powers =
        std::iter::successors(Some(1), |workers| Some(2 * workers)).take_while(|&workers| workers < most);
    powers.chain([most]).collect()
}

/// All variants: fewer and larger tasks before more and smaller ones.
fn variants(workers: &[usize], total: u64, most_tasks: u64) -> Vec<Variant> {
    let mut variants = Vec::new();
    for system in System::ALL {
        for pattern in Pattern::ALL {
            for &workers in workers {
                let most_steps = (most_tasks / (WIDTH * workers) as u64).max(LEAST_STEPS);
                let steps = std::iter::successors(Some(LEAST_STEPS), |steps| Some(2 * steps));
                let steps = steps.take_while(|&steps| steps <= most_steps);
                variants.extend(steps.map(|steps| Variant { system, pattern, workers, steps, total }));
            }
        }
    }
    variants
}

fn run(session: &mut Session<'_>) -> Result<Findings, Trouble> {
    let total: u64 = session.either(1 << 23, 1 << 19);
    session.setting("multiply_adds", total as i64);
    session.setting("tasks_at_once_for_each_worker", WIDTH as i64);
    let workers = powers_to(session.settings.workers);
    let variants = variants(&workers, total, session.either(1 << 17, 1 << 13));
    let name = |variant: &Variant| {
        let (system, pattern) = (variant.system.name(), variant.pattern.name());
        format!("{pattern}, {} tasks on {} workers, {system}", variant.tasks(), variant.workers)
    };
    let measured = in_turn(session, "granularity", &variants, name, Variant::measure)?;
    // The work is the same in all rounds, and disturbances only make the loop slower, so the minimum counts.
    let loop_us = measured.iter().flatten().map(|round| round.loop_us).fold(f64::INFINITY, f64::min);
    let rows: Vec<Row> =
        variants.iter().zip(&measured).map(|(variant, rounds)| Row::new(variant, rounds, loop_us)).collect();
    session.table("efficiency.csv", &rows)?;
    session.figure("efficiency.svg", &figure(&rows, &workers))?;
    Ok(findings(&rows, &workers))
}

/// The rows of a line of the figure, the largest tasks first.
fn line(rows: &[Row], system: System, pattern: Pattern, workers: usize) -> impl Iterator<Item = &Row> {
    rows.iter().filter(move |row| (row.system, row.pattern, row.workers) == (system, pattern, workers))
}

fn figure(rows: &[Row], workers: &[usize]) -> Figure {
    let ends = rows
        .iter()
        .map(|row| row.granularity_us)
        .fold((f64::INFINITY, 0.0_f64), |(least, most), us| (least.min(us), most.max(us)));
    let mut figure = Figure::new("Efficiency against task granularity", 2);
    for pattern in Pattern::ALL {
        let (x, y) = (Axis::log("workers x time / tasks (µs)"), Axis::linear("efficiency").to(1.1));
        let mut lines = Lines::new(pattern.caption(), x, y);
        for system in System::ALL {
            for &workers in workers {
                let point = |row: &Row| Point {
                    x: row.granularity_us,
                    y: row.efficiency,
                    low: row.efficiency_low,
                    high: row.efficiency_high,
                };
                let plural = if workers == 1 { "" } else { "s" };
                lines = lines.series(Series::new(
                    format!("{}, {workers} worker{plural}", system.name()),
                    line(rows, system, pattern, workers).map(point).collect(),
                ));
            }
        }
        figure = figure.panel(lines.guide("a half", vec![(ends.0, 0.5), (ends.1, 0.5)]));
    }
    figure
}

fn findings(rows: &[Row], workers: &[usize]) -> Findings {
    let mut findings =
        Findings::new(["pattern", "workers", "METG at 50 %", "rayon's", "efficiency of the largest tasks"]);
    for pattern in Pattern::ALL {
        for &workers in workers {
            let of = |system| line(rows, system, pattern, workers);
            let largest = of(System::Dahl).map(|row| row.efficiency).next().unwrap_or(0.0);
            findings.row([
                pattern.name().to_owned(),
                workers.to_string(),
                metg(of(System::Dahl)),
                metg(of(System::Rayon)),
                format!("{:.0} %", 100.0 * largest),
            ]);
        }
    }
    let smallest = rows.iter().map(|row| row.work_us).fold(f64::INFINITY, f64::min);
    findings.remark(format!("The smallest tasks have {} us of work.", number(smallest)));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(granularity_us: f64, efficiency: f64) -> Row {
        Row {
            system: System::Dahl,
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
        assert_eq!(metg(rows[..2].iter()), "< 10.00 us");
        assert_eq!(metg(rows[2..].iter()), "not reached");
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
