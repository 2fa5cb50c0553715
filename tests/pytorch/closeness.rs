//! Compares as `torch.testing.assert_close(actual, expected, equal_nan=True)` does, and counts.

use dahl::prelude::*;

use crate::fixture::Case;

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

/// What was compared of one op in one element type.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) cases: usize,
    pub(crate) elements: usize,
    /// The largest difference, in parts of the tolerance there: at most 1.
    pub(crate) largest_part: f64,
    /// The largest relative difference of results that the absolute tolerance alone does not admit.
    pub(crate) largest_relative: f64,
    failures: Vec<String>,
}

impl Tally {
    /// Compares the result `role` of a case.
    pub(crate) fn compare<T: Real, const N: usize>(&mut self, case: &Case<'_>, role: &str, actual: &Array<'_, T, N>) {
        let (shape, expected) = case.values::<T>(role);
        self.shape(case, role, &actual.shape(), &shape);
        let [relative, absolute] = tolerances(T::NAME);
        for (index, (actual, expected)) in actual.to_vec().unwrap().into_iter().zip(expected).enumerate() {
            self.elements += 1;
            let (actual, expected) = (actual.to_f64(), expected.to_f64());
            if actual == expected || actual.is_nan() && expected.is_nan() {
                continue;
            }
            let (difference, tolerance) = ((actual - expected).abs(), absolute + relative * expected.abs());
            if !expected.is_finite() || !(difference <= tolerance) {
                self.fail(case, role, &unravel(index, &shape), &format!("{expected:?}"), &format!("{actual:?}"));
                continue;
            }
            self.largest_part = self.largest_part.max(difference / tolerance);
            if expected.abs() > absolute {
                self.largest_relative = self.largest_relative.max(difference / expected.abs());
            }
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
        for (index, (actual, expected)) in actual.to_vec().unwrap().into_iter().zip(case.integers(role)).enumerate() {
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

    /// Asserts that all was close, in at least 10 cases with at least 20 elements.
    #[track_caller]
    pub(crate) fn assert_enough(&self) {
        self.assert_close();
        println!("{} cases, {} elements", self.cases, self.elements);
        assert!(self.cases >= 10 && self.elements >= 20, "{} cases are too few", self.cases);
    }

    #[track_caller]
    pub(crate) fn assert_close(&self) {
        let shown = self.failures.iter().take(20).map(|line| format!("\n  {line}")).collect::<String>();
        let count = self.failures.len();
        assert!(count == 0, "{count} elements are not close to PyTorch's:{shown}");
    }
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
