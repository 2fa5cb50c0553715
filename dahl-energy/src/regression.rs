//! [`Windows`]: the energy of each kind of task, by regression.

use serde::{Deserialize, Serialize};

use crate::student::t_975;

/// A column whose part that no other column explains is smaller than this, relative to itself, cannot be told from them.
const INSEPARABLE: f64 = 1e-9;

/// The energy of windows of time, as sums from which the energy of each kind of task is estimated.
///
/// The energy of a window is `idle watts x seconds + sum over kinds of (joules a task x tasks)`. The coefficients are those of
/// least squares that are not negative (Lawson and Hanson, *Solving Least Squares Problems*, chapter 23). Windows that two
/// runs have seen can be [merged](Self::merge).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Windows {
    count: u64,
    /// The kinds of tasks. The column of the time precedes them.
    kinds: Vec<String>,
    /// The products of the columns, as the lower triangle by rows: the first row is that of the time.
    products: Vec<f64>,
    /// The products of each column with the energy.
    energies: Vec<f64>,
    /// The sum of the squares of the energy.
    squares: f64,
}

/// An estimate by regression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The kind of task; none for the time in which nothing need run.
    pub kind: Option<String>,
    /// The joules of a task, or the watts of the time. At least 0.
    pub value: f64,
    /// The 95 % confidence interval, within which the value lies. None if it cannot be told from others: too few windows, or
    /// the kind always runs with another one, or at the same rate.
    pub interval: Option<(f64, f64)>,
}

/// The place of an element in a lower triangle.
fn place(row: usize, column: usize) -> usize {
    let (row, column) = (row.max(column), row.min(column));
    row * (row + 1) / 2 + column
}

impl Windows {
    /// The number of windows.
    pub fn count(&self) -> u64 {
        self.count
    }

    fn columns(&self) -> usize {
        self.energies.len()
    }

    /// The column of a kind, which is added if it is new.
    fn column(&mut self, kind: &str) -> usize {
        let known = self.kinds.iter().position(|known| known == kind);
        let index = known.unwrap_or_else(|| {
            self.kinds.push(kind.to_owned());
            self.kinds.len() - 1
        });
        let columns = self.kinds.len() + 1;
        self.energies.resize(columns, 0.0);
        self.products.resize(place(columns - 1, columns - 1) + 1, 0.0);
        index + 1
    }

    /// Adds a window: its time, its energy, and how many tasks of each kind ended in it.
    pub fn add<'k>(&mut self, seconds: f64, joules: f64, tasks: impl IntoIterator<Item = (&'k str, f64)>) {
        let mut row = vec![(0, seconds)];
        for (kind, tasks) in tasks {
            row.push((self.column(kind), tasks));
        }
        if self.energies.is_empty() {
            (self.energies, self.products) = (vec![0.0], vec![0.0]);
        }
        for (index, &(column, value)) in row.iter().enumerate() {
            self.energies[column] += value * joules;
            for &(other, factor) in &row[..=index] {
                self.products[place(column, other)] += value * factor;
            }
        }
        self.squares += joules * joules;
        self.count += 1;
    }

    /// Adds the windows of another run.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        let mut columns = vec![0];
        for kind in &other.kinds {
            columns.push(self.column(kind));
        }
        if self.energies.is_empty() {
            (self.energies, self.products) = (vec![0.0], vec![0.0]);
        }
        for (row, &to_row) in columns.iter().enumerate() {
            self.energies[to_row] += other.energies[row];
            for (column, &to_column) in columns[..=row].iter().enumerate() {
                self.products[place(to_row, to_column)] += other.products[place(row, column)];
            }
        }
        self.squares += other.squares;
        self.count += other.count;
    }

    /// The first fact that no windows can have, if these were read from a file.
    pub fn wrong(&self) -> Option<String> {
        let columns = if self.count == 0 && self.energies.is_empty() { 0 } else { self.kinds.len() + 1 };
        let products = columns * (columns + 1) / 2;
        if (self.energies.len(), self.products.len()) != (columns, products) {
            let (kinds, energies) = (self.kinds.len(), self.energies.len());
            let found = self.products.len();
            return Some(format!("{kinds} kinds with {energies} energies and {found} products"));
        }
        let sums = self.energies.iter().chain(&self.products).chain([&self.squares]);
        let wrong = sums.into_iter().find(|sum| !(sum.is_finite() && **sum >= 0.0))?;
        Some(format!("a sum is {wrong}: expected a number from 0 on"))
    }

    /// The estimates: first the watts of the time, then the joules of a task of each kind.
    pub fn estimates(&self) -> Vec<Estimate> {
        if self.count == 0 {
            return Vec::new();
        }
        let system = System::of(self);
        let (values, positive) = system.least_squares();
        let freedom = self.count as f64 - positive.len() as f64;
        let residual = system.residual(&values);
        (0..self.columns())
            .map(|column| {
                let interval = system.interval(column, &values, &positive, residual, freedom);
                let unscaled = |value: f64| value * system.unit(column);
                Estimate {
                    kind: column.checked_sub(1).map(|kind| self.kinds[kind].clone()),
                    value: unscaled(values[column]),
                    interval: interval.map(|(low, high)| (unscaled(low), unscaled(high))),
                }
            })
            .collect()
    }
}

/// The normal equations of columns of length 1.
struct System<'w> {
    windows: &'w Windows,
    /// The length of each column.
    lengths: Vec<f64>,
}

impl<'w> System<'w> {
    fn of(windows: &'w Windows) -> Self {
        let lengths = (0..windows.columns()).map(|column| windows.products[place(column, column)].sqrt());
        Self { windows, lengths: lengths.collect() }
    }

    /// What a coefficient of a column of length 1 is in units of the column.
    fn unit(&self, column: usize) -> f64 {
        if self.lengths[column] > 0.0 { 1.0 / self.lengths[column] } else { 0.0 }
    }

    fn product(&self, a: usize, b: usize) -> f64 {
        self.windows.products[place(a, b)] * self.unit(a) * self.unit(b)
    }

    fn energy(&self, column: usize) -> f64 {
        self.windows.energies[column] * self.unit(column)
    }

    /// The Cholesky factor of the products of these columns, by rows; none if a column is a combination of those before it.
    fn factor(&self, columns: &[usize]) -> Option<Vec<f64>> {
        let mut factor: Vec<f64> = vec![0.0; columns.len() * (columns.len() + 1) / 2];
        for row in 0..columns.len() {
            for column in 0..=row {
                let before = (0..column).map(|k| factor[place(row, k)] * factor[place(column, k)]);
                let rest = self.product(columns[row], columns[column]) - before.sum::<f64>();
                factor[place(row, column)] = if row > column {
                    rest / factor[place(column, column)]
                } else if rest > INSEPARABLE {
                    rest.sqrt()
                } else {
                    return None;
                };
            }
        }
        Some(factor)
    }

    /// The solution of the equations of a factor.
    fn solve(factor: &[f64], mut right: Vec<f64>) -> Vec<f64> {
        for row in 0..right.len() {
            let before: f64 = (0..row).map(|k| factor[place(row, k)] * right[k]).sum();
            right[row] = (right[row] - before) / factor[place(row, row)];
        }
        for row in (0..right.len()).rev() {
            let after: f64 = (row + 1..right.len()).map(|k| factor[place(k, row)] * right[k]).sum();
            right[row] = (right[row] - after) / factor[place(row, row)];
        }
        right
    }

    /// The coefficients of these columns, without bounds.
    fn unbounded(&self, columns: &[usize]) -> Option<Vec<f64>> {
        let right = columns.iter().map(|&column| self.energy(column)).collect();
        Some(Self::solve(&self.factor(columns)?, right))
    }

    /// The coefficients of least squares that are not negative, and the columns of those that are positive.
    fn least_squares(&self) -> (Vec<f64>, Vec<usize>) {
        let columns = self.lengths.len();
        let mut values = vec![0.0; columns];
        let mut positive: Vec<usize> = Vec::new();
        let mut refused: Vec<usize> = Vec::new();
        let scale = self.windows.squares.sqrt();
        // Each entering column makes the residual smaller; more rounds than this only move rounding errors.
        for _ in 0..3 * columns {
            let gradient = |column: usize| {
                let fitted: f64 =
                    positive.iter().map(|&other| self.product(column, other) * values[other]).sum();
                self.energy(column) - fitted
            };
            let free = (0..columns).filter(|column| !positive.contains(column) && !refused.contains(column));
            let best = free.map(|column| (column, gradient(column))).max_by(|a, b| a.1.total_cmp(&b.1));
            let Some((entering, _)) = best.filter(|&(_, gain)| gain > 1e-12 * scale) else { break };
            positive.push(entering);
            match self.settle(&mut positive, &mut values, entering) {
                true => refused.clear(), // they may enter now that others have left
                false => refused.push(entering),
            }
        }
        positive.sort_unstable();
        (values, positive)
    }

    /// Solves for the positive columns, of which one has just entered, and drops those that would become negative. Returns
    /// whether the one that entered could be told from the others.
    fn settle(&self, positive: &mut Vec<usize>, values: &mut [f64], entering: usize) -> bool {
        loop {
            let Some(solution) = self.unbounded(positive) else {
                positive.retain(|&column| column != entering);
                values[entering] = 0.0;
                return false;
            };
            let step_to_zero =
                |(&column, &target): (&usize, &f64)| values[column] / (values[column] - target);
            let pairs = positive.iter().zip(&solution);
            let step =
                pairs.clone().filter(|(_, target)| **target <= 0.0).map(step_to_zero).fold(1.0, f64::min);
            for (&column, &target) in positive.iter().zip(&solution) {
                values[column] += step * (target - values[column]);
            }
            if step >= 1.0 {
                return true;
            }
            let is_out = |column: usize, target: f64| target <= 0.0 && values[column] <= 1e-15;
            let out: Vec<_> = positive
                .iter()
                .zip(&solution)
                .filter(|&(&column, &target)| is_out(column, target))
                .map(|(&c, _)| c)
                .collect();
            out.iter().for_each(|&column| values[column] = 0.0);
            positive.retain(|column| !out.contains(column));
            if out.contains(&entering) {
                return false;
            }
        }
    }

    /// The sum of the squares of what the coefficients do not explain.
    fn residual(&self, values: &[f64]) -> f64 {
        let columns = 0..values.len();
        let linear: f64 = columns.clone().map(|column| self.energy(column) * values[column]).sum();
        let pairs = columns.clone().flat_map(|a| columns.clone().map(move |b| (a, b)));
        let quadratic: f64 = pairs.map(|(a, b)| self.product(a, b) * values[a] * values[b]).sum();
        (self.windows.squares - 2.0 * linear + quadratic).max(0.0)
    }

    /// The confidence interval of a coefficient: that of the linear regression with the positive columns and this one, without
    /// what is negative.
    fn interval(
        &self,
        column: usize,
        values: &[f64],
        positive: &[usize],
        residual: f64,
        freedom: f64,
    ) -> Option<(f64, f64)> {
        // The column last: its variance is then the inverse of its last pivot's square.
        let columns: Vec<_> =
            positive.iter().copied().filter(|&other| other != column).chain([column]).collect();
        let freedom = if positive.contains(&column) { freedom } else { freedom - 1.0 };
        if freedom < 1.0 || self.is_inseparable(column) {
            return None;
        }
        let factor = self.factor(&columns)?;
        let estimate =
            *Self::solve(&factor, columns.iter().map(|&column| self.energy(column)).collect()).last()?;
        let last = factor[place(columns.len() - 1, columns.len() - 1)];
        let half = t_975(freedom) * (residual / freedom).sqrt() / last;
        // One at the bound has an estimate that is negative or 0, and an interval from 0 on.
        let value = values[column];
        Some(((estimate - half).clamp(0.0, value), (estimate + half).max(value)))
    }

    /// Whether a column is a combination of all others, those included that are at the bound.
    fn is_inseparable(&self, column: usize) -> bool {
        let mut others: Vec<usize> = Vec::new();
        for other in (0..self.lengths.len()).filter(|&other| other != column) {
            others.push(other);
            if self.factor(&others).is_none() {
                others.pop();
            }
        }
        others.push(column);
        self.factor(&others).is_none()
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    const KINDS: [&str; 3] = ["gemm", "relu", "copy"];
    const TRUTH: [f64; 4] = [20.0, 0.5, 0.02, 0.0];

    /// A normal variable, by the central limit theorem.
    fn normal(rng: &mut Rng) -> f64 {
        (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0
    }

    /// Windows of a machine with the true coefficients and a noise of so many joules.
    fn windows(seed: u64, count: usize, noise: f64) -> Windows {
        let mut rng = Rng::with_seed(seed);
        let mut windows = Windows::default();
        for _ in 0..count {
            let seconds = 0.1 + 0.01 * rng.f64();
            let tasks = [rng.u32(0..20), rng.u32(0..300), rng.u32(0..50)].map(f64::from);
            let exact = TRUTH[0] * seconds + tasks.iter().zip(&TRUTH[1..]).map(|(n, j)| n * j).sum::<f64>();
            let joules = (exact + noise * normal(&mut rng)).max(0.0);
            windows.add(seconds, joules, KINDS.into_iter().zip(tasks));
        }
        windows
    }

    #[test]
    fn counters_without_noise_give_the_truth() {
        let estimates = windows(1, 50, 0.0).estimates();
        assert_eq!(estimates[0].kind, None);
        for (estimate, truth) in estimates.iter().zip(TRUTH) {
            assert!((estimate.value - truth).abs() < 1e-6 * TRUTH[0], "{estimate:?} for {truth}");
            let (low, high) = estimate.interval.expect("they can be told apart");
            assert!(low <= estimate.value && estimate.value <= high && high - low < 1e-3, "{estimate:?}");
        }
    }

    #[test]
    fn intervals_contain_the_truth_nearly_as_often_as_they_say() {
        const RUNS: u64 = 400;
        let mut hits = [0_u64; 4];
        for seed in 0..RUNS {
            for (place, estimate) in windows(seed, 60, 0.5).estimates().iter().enumerate() {
                let (low, high) = estimate.interval.expect("they can be told apart");
                assert!(estimate.value >= 0.0 && low <= estimate.value && estimate.value <= high);
                hits[place] += u64::from(low <= TRUTH[place] && TRUTH[place] <= high);
            }
        }
        // 95 %, within four standard deviations of a binomial variable; at a bound only one side can fail.
        let deviation = (0.95 * 0.05 / RUNS as f64).sqrt();
        for hits in hits.map(|hits| hits as f64 / RUNS as f64) {
            assert!(hits > 0.95 - 4.0 * deviation, "{hits}");
        }
        assert!(hits[1] < RUNS, "intervals that never fail are too wide");
    }

    /// Against all sets of coefficients that may be positive.
    #[test]
    fn no_other_coefficients_fit_better() {
        for seed in 0..300 {
            let mut rng = Rng::with_seed(seed);
            let mut windows = Windows::default();
            for _ in 0..rng.usize(1..12) {
                let tasks = ["a", "b", "c"].map(|kind| (kind, f64::from(rng.u32(0..6))));
                // Energies that no such machine has, so that coefficients reach their bounds.
                windows.add(rng.f64(), 10.0 * rng.f64() * rng.f64(), tasks);
            }
            let system = System::of(&windows);
            let residual = |values: &[f64]| system.residual(values);
            let mut least = windows.squares;
            for set in 1_u32..1 << windows.columns() {
                let columns: Vec<_> =
                    (0..windows.columns()).filter(|column| set >> column & 1 == 1).collect();
                let Some(solution) = system.unbounded(&columns) else { continue };
                if solution.iter().all(|&value| value >= 0.0) {
                    let mut values = vec![0.0; windows.columns()];
                    columns.iter().zip(&solution).for_each(|(&column, &value)| values[column] = value);
                    least = least.min(residual(&values));
                }
            }
            let (values, positive) = system.least_squares();
            assert!(values.iter().all(|&value| value >= 0.0), "{seed}: {values:?}");
            assert!(
                positive.iter().all(|&column| values[column] > 0.0),
                "{seed}: {values:?} at {positive:?}"
            );
            let found = residual(&values);
            assert!(found <= least + 1e-9 * windows.squares, "{seed}: {found} instead of {least}");
        }
    }

    #[test]
    fn more_windows_give_narrower_intervals() {
        let width = |count| {
            let (low, high) = windows(3, count, 0.5).estimates()[1].interval.expect("an interval");
            high - low
        };
        assert!(width(1600) < width(100) / 3.0);
    }

    #[test]
    fn kinds_that_always_run_together_are_not_told_apart() {
        let mut rng = Rng::with_seed(7);
        let mut windows = Windows::default();
        for _ in 0..40 {
            let (seconds, steps) = (0.1 + 0.1 * rng.f64(), f64::from(rng.u32(1..9)));
            let tasks = [("forward", steps), ("backward", 2.0 * steps), ("alone", f64::from(rng.u32(0..5)))];
            let joules = 10.0 * seconds + 0.3 * steps + 0.25 * tasks[2].1 + 0.01 * rng.f64();
            windows.add(seconds, joules, tasks);
        }
        let estimates = windows.estimates();
        let of = |kind: &str| estimates.iter().find(|one| one.kind.as_deref() == Some(kind)).expect("a kind");
        assert_eq!((of("forward").interval, of("backward").interval), (None, None));
        let (low, high) = of("alone").interval.expect("it can be told apart");
        assert!(low < 0.25 && 0.25 < high && high - low < 0.05, "{low} to {high}");
    }

    #[test]
    fn too_few_windows_have_no_interval() {
        assert_eq!(Windows::default().estimates(), []);
        assert!(windows(5, 3, 0.1).estimates().iter().all(|estimate| estimate.interval.is_none()));
        let mut idle = Windows::default();
        idle.add(2.0, 30.0, []);
        assert_eq!(idle.estimates(), [Estimate { kind: None, value: 15.0, interval: None }]);
    }

    #[test]
    fn merged_windows_are_those_of_one_run() {
        let mut first = Windows::default();
        first.add(1.0, 20.0, [("relu", 3.0)]);
        let (mut second, mut all) = (Windows::default(), first.clone());
        for windows in [&mut second, &mut all] {
            windows.add(2.0, 44.0, [("gemm", 5.0), ("relu", 1.0)]);
            windows.add(1.0, 24.0, [("gemm", 7.0)]);
        }
        first.merge(&second);
        first.merge(&Windows::default());
        assert_eq!(first, all);
        let mut empty = Windows::default();
        empty.merge(&all);
        assert_eq!(empty, all);
    }

    #[test]
    fn files_that_no_run_has_written_are_told() {
        let good = windows(1, 5, 0.1);
        assert_eq!((good.wrong(), Windows::default().wrong()), (None, None));
        let text = serde_json::to_string(&good).expect("plain data");
        assert_eq!(serde_json::from_str::<Windows>(&text).expect("as written"), good);
        assert!(Windows { squares: f64::NAN, ..good.clone() }.wrong().is_some());
        assert!(Windows { kinds: Vec::new(), ..good }.wrong().is_some());
    }
}
