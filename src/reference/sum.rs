//! [`Sum`]: a compensated sum, so that the references are also more accurate than the kernels in `f64`.

/// A compensated sum (Neumaier 1974).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    sum: f64,
    errors: f64,
}

impl Sum {
    pub(crate) fn add(&mut self, term: f64) {
        let sum = self.sum + term;
        let larger_first = self.sum.abs() >= term.abs();
        self.errors += if larger_first { (self.sum - sum) + term } else { (term - sum) + self.sum };
        self.sum = sum;
    }

    /// Adds a product and its rounding error.
    pub(crate) fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        self.add(product);
        let error = a.mul_add(b, -product);
        if error.is_finite() {
            self.errors += error;
        }
    }

    /// The total. A sum that is not finite has no error.
    pub(crate) fn total(self) -> f64 {
        if self.sum.is_finite() { self.sum + self.errors } else { self.sum }
    }
}

/// The sum of all.
pub(crate) fn sum_of(terms: impl IntoIterator<Item = f64>) -> f64 {
    let mut sum = Sum::default();
    terms.into_iter().for_each(|term| sum.add(term));
    sum.total()
}

/// The mean of all, even if the sum overflows.
pub(crate) fn mean_of(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = sum_of(values.iter().copied()) / count;
    if mean.is_finite() { mean } else { sum_of(values.iter().map(|value| value / count)) }
}
