//! [`Curve`]: a duration as a function of the work, fitted to measurements of other footprints.

/// The least number of different sizes that a curve is fitted to: one more than it has parameters.
const SIZES: usize = 4;
/// The factor beyond the measured sizes up to which a curve is used.
const REACH: f64 = 10.0;
/// The error that at least half of the durations must not exceed for a curve to be used.
const WORST_MISS: f64 = 0.3;
/// The range of exponents that are tried.
const EXPONENTS: (f64, f64) = (0.2, 3.0);
const STEPS: usize = 28;

/// The duration of a kernel on a kind of worker as a function of a task's [size](super::History::size): `a size^b + c`,
/// where `a` and `c` are not negative. It predicts the duration for footprints that have not been measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    /// In nanoseconds, for the largest size.
    a: f64,
    b: f64,
    c: f64,
    smallest: f64,
    largest: f64,
}

/// A size, relative to the largest, and the measured duration, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Point {
    size: f64,
    ns: f64,
}

impl Curve {
    /// `a`, `b` and `c` of `a size^b + c` in microseconds.
    pub fn coefficients(&self) -> (f64, f64, f64) {
        (self.a / self.largest.powf(self.b) / 1e3, self.b, self.c / 1e3)
    }

    /// The smallest and the largest size that it was fitted to.
    pub fn sizes(&self) -> (f64, f64) {
        (self.smallest, self.largest)
    }

    /// The duration at `size` in microseconds, if the size is not too far from the measured ones.
    pub fn us(&self, size: f64) -> Option<f64> {
        self.is_near(size).then(|| self.ns(size) / 1e3)
    }

    /// The curve with the least sum of relative deviations from `points`, each a size and a duration in nanoseconds.
    /// The sum is of absolute values, not of squares, so that one bad measurement does not distort it. None if there
    /// are fewer than [`SIZES`] different sizes, or no curve fits.
    pub(super) fn fit(points: &[(f64, f64)]) -> Option<Self> {
        let mut usable: Vec<_> =
            points.iter().copied().filter(|&(size, ns)| size > 0.0 && ns > 0.0).collect();
        usable.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (smallest, largest) = (usable.first()?.0, usable.last()?.0);
        let sizes = 1 + usable.windows(2).filter(|pair| pair[0].0 != pair[1].0).count();
        if sizes < SIZES {
            return None;
        }
        let points: Vec<_> = usable.iter().map(|&(size, ns)| Point { size: size / largest, ns }).collect();
        let b = best_exponent(&points);
        let (a, c) = coefficients(&points, b);
        let mut misses: Vec<_> = points.iter().map(|point| miss(point, a, b, c).abs()).collect();
        misses.sort_by(f64::total_cmp);
        (misses[misses.len() / 2] <= WORST_MISS).then_some(Self { a, b, c, smallest, largest })
    }

    /// The duration at `size`, if the size is not too far from the measured ones.
    pub(super) fn at(&self, size: f64) -> Option<u64> {
        self.is_near(size).then(|| self.ns(size).round() as u64)
    }

    fn is_near(&self, size: f64) -> bool {
        (self.smallest / REACH..=self.largest * REACH).contains(&size)
    }

    fn ns(&self, size: f64) -> f64 {
        self.a * (size / self.largest).powf(self.b) + self.c
    }
}

/// The relative error of the curve at a point.
fn miss(point: &Point, a: f64, b: f64, c: f64) -> f64 {
    (a * point.size.powf(b) + c) / point.ns - 1.0
}

fn cost(points: &[Point], b: f64) -> f64 {
    let (a, c) = coefficients(points, b);
    points.iter().map(|point| miss(point, a, b, c).abs()).sum()
}

/// The exponent with the least cost: the best of a grid, then refined between its neighbours.
fn best_exponent(points: &[Point]) -> f64 {
    let (low, high) = EXPONENTS;
    let width = (high - low) / STEPS as f64;
    let grid = (0..=STEPS).map(|step| low + width * step as f64);
    let costs = grid.map(|b| (cost(points, b), b));
    let (mut least, mut best) = costs.min_by(|a, b| a.0.total_cmp(&b.0)).expect("the grid has points");
    let mut width = width / 2.0;
    while width > 1e-4 {
        for b in [best - width, best + width] {
            let cost = cost(points, b);
            if cost < least {
                (least, best) = (cost, b);
            }
        }
        width /= 2.0;
    }
    best
}

/// `a` and `c` with the least sum of absolute relative deviations for an exponent: by iteratively reweighted least
/// squares.
fn coefficients(points: &[Point], b: f64) -> (f64, f64) {
    let mut weights = vec![1.0; points.len()];
    let mut solution = (0.0, 0.0);
    for _ in 0..12 {
        solution = least_squares(points, b, &weights);
        for (weight, point) in weights.iter_mut().zip(points) {
            *weight = 1.0 / miss(point, solution.0, b, solution.1).abs().max(1e-6);
        }
    }
    solution
}

/// Minimises the weighted sum of `(a x + c y - 1)^2` with `x = size^b / ns` and `y = 1 / ns`.
fn least_squares(points: &[Point], b: f64, weights: &[f64]) -> (f64, f64) {
    let [mut xx, mut xy, mut yy, mut x1, mut y1] = [0.0; 5];
    for (point, weight) in points.iter().zip(weights) {
        let (x, y) = (point.size.powf(b) / point.ns, 1.0 / point.ns);
        xx += weight * x * x;
        xy += weight * x * y;
        yy += weight * y * y;
        x1 += weight * x;
        y1 += weight * y;
    }
    let determinant = xx * yy - xy * xy;
    let (a, c) = ((x1 * yy - y1 * xy) / determinant, (y1 * xx - x1 * xy) / determinant);
    match (a >= 0.0, c >= 0.0) {
        (true, true) => (a, c),
        (true, false) => (x1 / xx, 0.0),
        _ => (0.0, y1 / yy),
    }
}
