//! Activations as modules, for models that are generic in theirs. Each calls the operation of its name.

use dahl::ops;
use dahl::prelude::*;

use crate::module::Module;
use crate::step::Step;

macro_rules! activations {
    ($($(#[$doc:meta])* $Name:ident($($field:ident: $Type:ty = $default:expr),*) => $op:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Module)]
        #[module(crate = crate)]
        pub struct $Name {
            $(
                /// The argument of the operation.
                pub $field: $Type,
            )*
        }

        impl Default for $Name {
            /// PyTorch's settings.
            fn default() -> Self {
                Self { $($field: $default),* }
            }
        }

        impl $Name {
            /// Applies it to each element.
            ///
            /// # Errors
            /// Those of the operation.
            #[track_caller]
            pub fn forward<'s, T: Real, const N: usize>(
                &self,
                step: &'s Step<'_>,
                input: &Array<'_, T, N>,
            ) -> dahl::Result<Array<'s, T, N>> {
                ops::$op(step, input $(, T::from_f64(self.$field))*)
            }
        }
    )+};
}

activations! {
    /// `max(x, 0)`.
    Relu() => relu_init;
    /// `x` above 0, `slope * x` below.
    LeakyRelu(slope: f64 = 0.01) => leaky_relu_init;
    /// `x` above 0, `alpha * (exp(x) - 1)` below.
    Elu(alpha: f64 = 1.0) => elu_init;
    /// The exponential linear unit that keeps mean and variance (Klambauer et al. 2017).
    Selu() => selu_init;
    /// `1 / (1 + exp(-x))`.
    Sigmoid() => sigmoid_init;
    /// The logarithm of the sigmoid.
    LogSigmoid() => log_sigmoid_init;
    /// `ln(1 + exp(x))`.
    Softplus() => softplus_init;
    /// `x * sigmoid(x)`, also known as swish.
    Silu() => silu_init;
    /// `x` times the standard normal distribution function of `x`.
    Gelu() => gelu_init;
    /// The approximation of GELU by a hyperbolic tangent.
    GeluTanh() => gelu_tanh_init;
    /// The hyperbolic tangent.
    Tanh() => tanh_init;
    /// `clamp(x / 6 + 1 / 2, 0, 1)`.
    HardSigmoid() => hard_sigmoid_init;
    /// `x * hard_sigmoid(x)`.
    HardSwish() => hard_swish_init;
    /// `clamp(x, -1, 1)`.
    HardTanh() => hard_tanh_init;
}
