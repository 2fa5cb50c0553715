//! [`Softmax`], [`LogSoftmax`] and [`Softmin`]: scores as probabilities, or as their logarithms.

use dahl::ops;
use dahl::prelude::*;

use crate::module::Module;
use crate::step::Step;

macro_rules! along_an_axis {
    ($($(#[$doc:meta])* $Name:ident($step:ident, $scores:ident, $axis:ident) => $result:expr;)+) => {$(
        $(#[$doc])*
        ///
        /// # Shapes
        /// The output as the input, with any other axes.
        #[derive(Clone, Copy, Debug, Module)]
        #[module(crate = crate)]
        pub struct $Name {
            axis: usize,
        }

        impl $Name {
            /// Along this axis of the input; the axis of the batch is 0.
            pub const fn new(axis: usize) -> Self {
                Self { axis }
            }

            /// Applies it to scores.
            ///
            /// # Errors
            /// If there is no such axis, and those of the operations.
            #[track_caller]
            pub fn forward<'s, T: Real, const N: usize>(
                &self,
                $step: &'s Step<'_>,
                $scores: &Array<'_, T, N>,
            ) -> dahl::Result<Array<'s, T, N>> {
                let $axis = self.axis;
                $result
            }
        }
    )+};
}

along_an_axis! {
    /// `exp(x)` divided by its sum along an axis: probabilities of scores.
    Softmax(step, scores, axis) => ops::softmax_init(step, scores, axis);
    /// `x - ln(sum of exp(x))` along an axis: the logarithms of [`Softmax`], which [`Nll`](crate::loss::Nll) and
    /// [`KlDiv`](crate::loss::KlDiv) take.
    LogSoftmax(step, scores, axis) => ops::log_softmax_init(step, scores, axis);
    /// `exp(-x)` divided by its sum along an axis: the smallest score is the most probable one.
    Softmin(step, scores, axis) => ops::softmax_init(step, &ops::neg_init(step, scores)?, axis);
}
