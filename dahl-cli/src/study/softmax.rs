//! Study: softmax as one codelet against four.
//!
//! `out[i] = exp(x[i] - max) / sum`, along the rows of a matrix in f32. As one codelet, `dahl::ops::softmax`, a task
//! reads the matrix once and writes it once. As four (largest element, exponential of the difference, sum, quotient),
//! each is a task of its own, which reads and writes the matrix again.

use dahl::ndarray::{ArrayView2, ArrayViewMut2};
use dahl::ops::Philox;
use dahl::prelude::*;
use dahl::{ops, simd};
use serde::Serialize;

use super::findings::Findings;
use super::plot::{Axis, Figure, Lines, Point, Series, number};
use super::programs::unchecked;
use super::rounds::{Spread, in_turn};
use super::session::Session;
use super::{Study, Time};
use crate::trouble::Trouble;

pub(super) const STUDY: Study = Study {
    name: "softmax",
    question: "What does softmax gain as one codelet, against four, by size?",
    time: Time::Real,
    rounds: 15,
    run,
};

/// Elements of a row.
const COLS: usize = 128;
/// Matrices that are processed in parallel.
const MATRICES: usize = 4;
/// The tolerance of results: sums are in the same order, so only quotients differ.
const TOLERANCE: f32 = 1e-6;

/// The largest element of each row.
#[codelet(R, W, cpu_only, shape(largest = [x.nrows(), 1]), flops = x.len())]
fn row_max<T: Real>(x: ArrayView2<T>, mut largest: ArrayViewMut2<T>) {
    for (row, largest) in x.rows().into_iter().zip(&mut largest) {
        *largest = row.as_slice().map_or_else(|| simd::max(&row.to_vec()), simd::max);
    }
}

/// `out = exp(x - largest)`.
#[codelet(R, R, W, broadcast, cpu_only)]
fn sub_exp<T: Real>(x: T, largest: T) -> T {
    (x - largest).exp()
}

/// The sum of each row.
#[codelet(R, W, cpu_only, shape(sum = [x.nrows(), 1]), flops = x.len())]
fn row_sum<T: Real>(x: ArrayView2<T>, mut sum: ArrayViewMut2<T>) {
    for (row, sum) in x.rows().into_iter().zip(&mut sum) {
        *sum = T::narrow(row.as_slice().map_or_else(|| simd::sum(&row.to_vec()), simd::sum));
    }
}

/// A matrix and the arrays of its softmax.
struct SoftmaxArrays {
    x: Matrix<'static, f32>,
    out: Matrix<'static, f32>,
    largest: Matrix<'static, f32>,
    sum: Matrix<'static, f32>,
}

impl SoftmaxArrays {
    fn new(rt: &Runtime, rows: usize, seed: u64) -> dahl::Result<Self> {
        let mut x = rt.zeros([rows, COLS])?;
        ops::uniform(&mut x, -3.0, 3.0, Philox::new(seed))?;
        Ok(Self { x, out: rt.zeros([rows, COLS])?, largest: rt.zeros([rows, 1])?, sum: rt.zeros([rows, 1])? })
    }

    fn one(&mut self) -> dahl::Result<()> {
        ops::softmax(&self.x, &mut self.out, 1)
    }

    fn four(&mut self) -> dahl::Result<()> {
        row_max(&self.x, &mut self.largest)?;
        sub_exp(&self.x, &self.largest, &mut self.out)?;
        row_sum(&self.out, &mut self.sum)?;
        ops::div_self(&mut self.out, &self.sum)
    }

    fn run(&mut self, codelets: usize) -> dahl::Result<()> {
        if codelets == 1 { self.one() } else { self.four() }
    }
}

#[derive(Clone, Copy, Debug)]
struct Variant {
    codelets: usize,
    rows: usize,
    /// Softmaxes per matrix.
    times: usize,
    workers: usize,
    seed: u64,
}

impl Variant {
    /// Microseconds per softmax.
    fn measure(&self) -> Result<f64, Trouble> {
        let rt = unchecked().cpu_workers(self.workers).build()?;
        let matrices = (0..MATRICES).map(|_| SoftmaxArrays::new(&rt, self.rows, self.seed));
        let mut matrices: Vec<SoftmaxArrays> = matrices.collect::<dahl::Result<_>>()?;
        matrices.iter_mut().try_for_each(|operands| operands.run(self.codelets))?;
        rt.wait()?;
        let begin_ns = rt.clock().now_ns();
        for _ in 0..self.times {
            matrices.iter_mut().try_for_each(|operands| operands.run(self.codelets))?;
        }
        rt.wait()?;
        Ok((rt.clock().now_ns() - begin_ns) as f64 / 1e3 / (self.times * MATRICES) as f64)
    }
}

/// Requires that both ways compute the same.
fn require_same(seed: u64) -> Result<(), Trouble> {
    let rt = unchecked().cpu_workers(1).build()?;
    let mut operands = SoftmaxArrays::new(&rt, 9, seed)?;
    operands.one()?;
    let one = operands.out.to_vec()?;
    operands.four()?;
    let four = operands.out.to_vec()?;
    let is_same = one.iter().zip(&four).all(|(one, four)| (one - four).abs() <= TOLERANCE * one.abs());
    if is_same {
        Ok(())
    } else {
        Err(Trouble::Failed("the two ways of softmax have different results".to_owned()))
    }
}

#[derive(Debug, Serialize)]
struct Row {
    codelets: usize,
    workers: usize,
    elements: usize,
    time_us: f64,
    time_us_low: f64,
    time_us_high: f64,
    /// Relative to the time of one codelet with the same workers.
    of_one: f64,
}

impl Row {
    fn spread(&self) -> Spread {
        Spread { median: self.time_us, low: self.time_us_low, high: self.time_us_high }
    }
}

fn run(session: &mut Session<'_>) -> Result<Findings, Trouble> {
    require_same(session.settings.seed)?;
    let most_rows: usize = session.either(1 << 14, 1 << 6);
    let elements_a_round: usize = session.either(1 << 21, 1 << 12);
    session.setting("elements_of_a_row", COLS as i64);
    session.setting("matrices", MATRICES as i64);
    let rows = std::iter::successors(Some(1), |rows| Some(4 * rows)).take_while(|&rows| rows <= most_rows);
    let rows: Vec<usize> = rows.collect();
    let mut workers = vec![1, session.settings.workers];
    workers.dedup();
    let mut variants = Vec::new();
    for &workers in &workers {
        for &rows in &rows {
            let times = (elements_a_round / (MATRICES * rows * COLS)).max(1);
            let variant = |codelets| Variant { codelets, rows, times, workers, seed: session.settings.seed };
            variants.extend([1, 4].map(variant));
        }
    }
    let name =
        |variant: &Variant| format!("{} elements in {} codelets", variant.rows * COLS, variant.codelets);
    let measured = in_turn(session, "softmax", &variants, name, Variant::measure)?;
    let rows = table(&variants, &measured);
    session.table("softmax.csv", &rows)?;
    session.figure("softmax.svg", &figure(&rows, &workers))?;

    let mut findings = Findings::new(["elements", "workers", "one codelet, us", "four, us", "four of one"]);
    for pair in rows.chunks(2) {
        findings.row([
            pair[0].elements.to_string(),
            pair[0].workers.to_string(),
            number(pair[0].time_us),
            number(pair[1].time_us),
            format!("{:.2}", pair[1].of_one),
        ]);
    }
    for &workers in &workers {
        let of_workers: Vec<&Row> = rows.iter().filter(|row| row.workers == workers).collect();
        findings.remark(conclusion(&of_workers, workers));
    }
    Ok(findings)
}

/// The number of sizes at which one way is faster than the other, beyond the spread of the rounds. Rows come in pairs.
fn conclusion(rows: &[&Row], workers: usize) -> String {
    let apart = || rows.chunks(2).filter(|pair| pair[0].spread().is_apart(&pair[1].spread()));
    let slower = apart().filter(|pair| pair[1].of_one > 1.0).count();
    let faster = apart().count() - slower;
    let sizes = rows.len() / 2;
    let plural = if workers == 1 { "" } else { "s" };
    format!(
        "{workers} worker{plural}: of {sizes} sizes, four codelets take longer at {slower}, shorter at {faster}; at {} the \
         differences are within the spread.",
        sizes - slower - faster
    )
}

/// Variants come in pairs: with one codelet and with four.
fn table(variants: &[Variant], measured: &[Vec<f64>]) -> Vec<Row> {
    let spreads: Vec<Spread> = measured.iter().map(|rounds| Spread::over(rounds, |us| *us)).collect();
    let row = |(index, variant): (usize, &Variant)| Row {
        codelets: variant.codelets,
        workers: variant.workers,
        elements: variant.rows * COLS,
        time_us: spreads[index].median,
        time_us_low: spreads[index].low,
        time_us_high: spreads[index].high,
        of_one: spreads[index].median / spreads[index - index % 2].median,
    };
    variants.iter().enumerate().map(row).collect()
}

fn figure(rows: &[Row], workers: &[usize]) -> Figure {
    let x = || Axis::log("elements of the matrix");
    let mut times = Lines::new("time of a softmax", x(), Axis::log("µs"));
    let mut ratios = Lines::new("four codelets against one", x(), Axis::linear("times as long"));
    for &workers in workers {
        let plural = if workers == 1 { "" } else { "s" };
        for (codelets, way) in [(1, "one codelet"), (4, "four codelets")] {
            let of = || rows.iter().filter(move |row| row.workers == workers && row.codelets == codelets);
            let name = format!("{way}, {workers} worker{plural}");
            let point = |row: &Row| Point {
                x: row.elements as f64,
                y: row.time_us,
                low: row.time_us_low,
                high: row.time_us_high,
            };
            times = times.series(Series::new(name.clone(), of().map(point).collect()));
            if codelets == 4 {
                let points = of().map(|row| Point::exact(row.elements as f64, row.of_one));
                ratios = ratios.series(Series::new(name, points.collect()));
            }
        }
    }
    let ends = |row: Option<&Row>| row.map_or(1.0, |row| row.elements as f64);
    let guide = vec![(ends(rows.first()), 1.0), (ends(rows.last()), 1.0)];
    Figure::new("Softmax as one codelet and as four", 2).panel(times).panel(ratios.guide("as long", guide))
}
