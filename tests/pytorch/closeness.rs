//! Compares as `torch.testing.assert_close(actual, expected, equal_nan=True)` does, and counts.

use dahl::prelude::*;

use super::difference;
use super::fixture::Case;

/// PyTorch's default tolerances, relative and absolute, of an element type.
pub(crate) fn tolerances(type_name: &str) -> [f64; 2] {
    match type_name {
        "f16" => [1e-3, 1e-5],
        "bf16" => [1.6e-2, 1e-5],
        "f32" => [1.3e-6, 1e-5],
        "f64" => [1e-7, 1e-7],
        integer => panic!("{integer} is compared exactly"),
    }
}

/// The comparisons of one op in one element type.
#[derive(Default)]
pub(crate) struct Closeness {
    pub(crate) cases: usize,
    pub(crate) elements: usize,
    /// The results that are not close to PyTorch's result in this type, but no farther from its result in f64.
    pub(crate) closer: usize,
    /// The results that differ as [`difference`] describes.
    pub(crate) deliberate: usize,
    /// The largest relative difference, of results above the absolute tolerance.
    pub(crate) largest_relative: f64,
    failures: Vec<String>,
}

impl Closeness {
    /// Compares the result `role` of a case. Instead of being close, a result may be no farther from PyTorch's result in
    /// f64 than PyTorch's in this type is.
    pub(crate) fn compare<T: Real, const N: usize>(
        &mut self,
        case: &Case<'_>,
        role: &str,
        actual: &Array<'_, T, N>,
    ) {
        let (shape, expected) = case.values::<T>(role);
        self.shape(case, role, &actual.shape(), &shape);
        let exact = case.has(&format!("{role}_exact")).then(|| case.values::<T>(&format!("{role}_exact")).1);
        for (index, (actual, expected)) in actual.to_vec().unwrap().into_iter().zip(expected).enumerate() {
            self.elements += 1;
            let (actual, expected) = (actual.to_f64(), expected.to_f64());
            let exact = exact.as_ref().map(|exact| exact[index].to_f64());
            if is_close::<T>(actual, expected) {
                self.measure::<T>(actual, expected);
            } else if let Some(exact) = exact.filter(|&exact| is_no_farther(actual, expected, exact)) {
                self.closer += 1;
                self.measure::<T>(actual, exact);
            } else if difference::is_deliberate(&case.name, role, expected, actual) {
                self.deliberate += 1;
            } else {
                self.fail(
                    case,
                    role,
                    &unravel(index, &shape),
                    &format!("{expected:?}"),
                    &format!("{actual:?}"),
                );
            }
        }
    }

    /// Records the largest relative difference of finite results that are not close to zero.
    fn measure<T: Real>(&mut self, actual: f64, expected: f64) {
        if expected.is_finite() && expected.abs() > tolerances(T::NAME)[1] {
            self.largest_relative = self.largest_relative.max((actual - expected).abs() / expected.abs());
        }
    }

    /// Compares integers, which are equal or not.
    pub(crate) fn compare_integers<I: Element + Into<i64>, const N: usize>(
        &mut self,
        case: &Case<'_>,
        role: &str,
        actual: &Array<'_, I, N>,
    ) {
        let shape = case.shape::<N>(role);
        self.shape(case, role, &actual.shape(), &shape);
        for (index, (actual, expected)) in
            actual.to_vec().unwrap().into_iter().zip(case.integers(role)).enumerate()
        {
            self.elements += 1;
            let actual: i64 = actual.into();
            if actual != expected {
                self.fail(case, role, &unravel(index, &shape), &expected.to_string(), &actual.to_string());
            }
        }
    }

    fn shape(&self, case: &Case<'_>, role: &str, actual: &[usize], expected: &[usize]) {
        assert_eq!(actual, expected, "{}: the shape of {role}", case.name);
    }

    fn fail(&mut self, case: &Case<'_>, role: &str, index: &[usize], expected: &str, actual: &str) {
        let failure = format!("{}: {role}{index:?}: expected {expected}, got {actual}", case.name);
        if !self.failures.contains(&failure) {
            self.failures.push(failure);
        }
    }

    /// Asserts that all results were close, in at least so many cases.
    #[track_caller]
    pub(crate) fn assert_enough(&self, cases: usize) {
        self.assert_close();
        println!("{} cases, {} elements", self.cases, self.elements);
        assert!(self.cases >= cases && self.elements > cases, "{} cases are too few", self.cases);
    }

    #[track_caller]
    pub(crate) fn assert_close(&self) {
        let shown = self.failures.iter().take(20).map(|line| format!("\n  {line}")).collect::<String>();
        let count = self.failures.len();
        assert!(count == 0, "{count} elements are not close to PyTorch's:{shown}");
    }
}

/// Whether `actual` is close to `expected`, at PyTorch's tolerances; NaN is close to NaN, infinity to itself.
fn is_close<T: Real>(actual: f64, expected: f64) -> bool {
    let [relative, absolute] = tolerances(T::NAME);
    actual == expected
        || actual.is_nan() && expected.is_nan()
        || expected.is_finite() && (actual - expected).abs() <= absolute + relative * expected.abs()
}

/// Whether `actual` is not farther from `exact` than PyTorch's own `expected` is.
fn is_no_farther(actual: f64, expected: f64, exact: f64) -> bool {
    let is_same = actual == exact || actual.is_nan() && exact.is_nan();
    is_same || (actual - exact).abs() <= (expected - exact).abs()
}

/// The index in an array of `shape` of the element that is `index`th in order.
fn unravel(mut index: usize, shape: &[usize]) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (at, &extent) in at.iter_mut().zip(shape).rev() {
        *at = index % extent;
        index /= extent;
    }
    at
}
