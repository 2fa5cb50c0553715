//! [`Windows`]: the energy of each kind of task, by regression.

use serde::{Deserialize, Serialize};

use crate::least_squares::{System, place};

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
        let system = System::new(&self.products, &self.energies, self.squares);
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
