//! [`Warmup`]: the first steps of a schedule, in which the rate rises.

use super::line;

/// A rise in a line from `from` times the peak to the peak, in `steps` steps, as PyTorch's `LinearLR`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Warmup {
    pub(super) steps: usize,
    pub(super) from: f64,
}

impl Warmup {
    /// The rate, if the step is one of these.
    pub(super) fn at(self, step: usize, peak: f64) -> Option<f64> {
        (step < self.steps).then(|| line(self.from * peak, peak, step as f64 / self.steps as f64))
    }
}
