//! [`Labels`]: which labels of a classification count, and how much.

use dahl::prelude::*;

use crate::step::Step;

/// A label that none is: what PyTorch ignores by default.
const NO_LABEL: i64 = -100;

/// The options of losses with labels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Labels<'w, T: Real> {
    /// The weights of the classes; 1 by default.
    pub(super) weights: Option<&'w Vector<'w, T>>,
    /// The label of samples that do not count.
    pub(super) ignored: Option<u32>,
}

impl<T: Real> Default for Labels<'_, T> {
    fn default() -> Self {
        Self { weights: None, ignored: None }
    }
}

impl<T: Real> Labels<'_, T> {
    /// The ignored label as the operations take it.
    pub(super) fn ignored(&self) -> i64 {
        self.ignored.map_or(NO_LABEL, i64::from)
    }

    /// Calls `f` with the weights as the operations take them: one for each class, or one for all.
    #[track_caller]
    pub(super) fn with_weights<R>(
        &self,
        step: &Step<'_>,
        f: impl FnOnce(&Vector<'_, T>) -> dahl::Result<R>,
    ) -> dahl::Result<R> {
        match self.weights {
            Some(weights) => f(weights),
            None => f(&step.detached().from_slice([1], &[T::ONE])?),
        }
    }
}
