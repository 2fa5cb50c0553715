//! [`System`]: least squares whose coefficients are not negative, by their normal equations.

use crate::student::t_975;

/// A column whose part that no other column explains is smaller than this, relative to itself, cannot be told from them.
const INSEPARABLE: f64 = 1e-9;

/// The place of an element in a lower triangle.
pub(crate) fn place(row: usize, column: usize) -> usize {
    let (row, column) = (row.max(column), row.min(column));
    row * (row + 1) / 2 + column
}

/// The normal equations of columns of length 1.
pub(crate) struct System<'w> {
    /// The products of the columns, as the lower triangle by rows.
    products: &'w [f64],
    /// The products of each column with what they explain.
    energies: &'w [f64],
    /// The sum of the squares of the latter.
    squares: f64,
    /// The length of each column.
    lengths: Vec<f64>,
}

impl<'w> System<'w> {
    pub(crate) fn new(products: &'w [f64], energies: &'w [f64], squares: f64) -> Self {
        let lengths = (0..energies.len()).map(|column| products[place(column, column)].sqrt());
        Self { products, energies, squares, lengths: lengths.collect() }
    }

    /// What a coefficient of a column of length 1 is in units of the column.
    pub(crate) fn unit(&self, column: usize) -> f64 {
        if self.lengths[column] > 0.0 { 1.0 / self.lengths[column] } else { 0.0 }
    }

    fn product(&self, a: usize, b: usize) -> f64 {
        self.products[place(a, b)] * self.unit(a) * self.unit(b)
    }

    fn energy(&self, column: usize) -> f64 {
        self.energies[column] * self.unit(column)
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
    pub(crate) fn least_squares(&self) -> (Vec<f64>, Vec<usize>) {
        let columns = self.lengths.len();
        let mut values = vec![0.0; columns];
        let mut positive: Vec<usize> = Vec::new();
        let mut refused: Vec<usize> = Vec::new();
        let scale = self.squares.sqrt();
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
    pub(crate) fn residual(&self, values: &[f64]) -> f64 {
        let columns = 0..values.len();
        let linear: f64 = columns.clone().map(|column| self.energy(column) * values[column]).sum();
        let pairs = columns.clone().flat_map(|a| columns.clone().map(move |b| (a, b)));
        let quadratic: f64 = pairs.map(|(a, b)| self.product(a, b) * values[a] * values[b]).sum();
        (self.squares - 2.0 * linear + quadratic).max(0.0)
    }

    /// The confidence interval of a coefficient: that of the linear regression with the positive columns and this one, without
    /// what is negative.
    pub(crate) fn interval(
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

    const COLUMNS: usize = 4;

    /// Against all sets of coefficients that may be positive.
    #[test]
    fn no_other_coefficients_fit_better() {
        for seed in 0..300 {
            let mut rng = Rng::with_seed(seed);
            let (mut products, mut energies, mut squares) = ([0.0; 10], [0.0; COLUMNS], 0.0);
            for _ in 0..rng.usize(1..12) {
                let counts = [(); 3].map(|()| f64::from(rng.u32(0..6)));
                let row = [rng.f64(), counts[0], counts[1], counts[2]];
                // Energies that no such machine has, so that coefficients reach their bounds.
                let energy = 10.0 * rng.f64() * rng.f64();
                for a in 0..COLUMNS {
                    energies[a] += row[a] * energy;
                    (0..=a).for_each(|b| products[place(a, b)] += row[a] * row[b]);
                }
                squares += energy * energy;
            }
            let system = System::new(&products, &energies, squares);
            let residual = |values: &[f64]| system.residual(values);
            let mut least = squares;
            for set in 1_u32..1 << COLUMNS {
                let columns: Vec<_> = (0..COLUMNS).filter(|column| set >> column & 1 == 1).collect();
                let Some(solution) = system.unbounded(&columns) else { continue };
                if solution.iter().all(|&value| value >= 0.0) {
                    let mut values = vec![0.0; COLUMNS];
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
            assert!(found <= least + 1e-9 * squares, "{seed}: {found} instead of {least}");
        }
    }
}
