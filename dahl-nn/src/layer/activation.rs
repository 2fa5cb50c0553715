//! Activations as modules, for models that are generic in theirs. Each calls the operation of its name.

use dahl::ops;
use dahl::prelude::*;

use crate::module::Module;
use crate::step::Step;

/// Declares activations, whose fields, converted by a function, are the arguments of the operation.
macro_rules! activations {
    ($converted:path; $($(#[$doc:meta])* $Name:ident($($field:ident: $Type:ty = $default:expr),*) => $op:ident;)+) => {$(
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
                ops::$op(step, input $(, $converted(self.$field))*)
            }
        }
    )+};
}

activations! {
    std::convert::identity;
    /// `max(x, 0)`.
    Relu() => relu_init;
    /// `x` above 0, `slope * x` below.
    LeakyRelu(slope: f64 = 0.01) => leaky_relu_init;
    /// `x` above 0, `alpha * (exp(x) - 1)` below.
    Elu(alpha: f64 = 1.0) => elu_init;
    /// `x` above 0, `alpha * (exp(x / alpha) - 1)` below, whose slope at 0 is 1 (Barron 2017).
    Celu(alpha: f64 = 1.0) => celu_init;
    /// The exponential linear unit that keeps mean and variance (Klambauer et al. 2017).
    Selu() => selu_init;
    /// `1 / (1 + exp(-x))`.
    Sigmoid() => sigmoid_init;
    /// The logarithm of the sigmoid.
    LogSigmoid() => log_sigmoid_init;
    /// `ln(1 + exp(beta * x)) / beta` where `beta * x` is at most the threshold, else `x`.
    Softplus(beta: f64 = 1.0, threshold: f64 = 20.0) => softplus_scaled_init;
    /// `x * tanh(softplus(x))` (Misra 2020).
    Mish() => mish_init;
    /// `x / (1 + |x|)`.
    Softsign() => softsign_init;
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
    /// `clamp(x, low, high)`.
    HardTanh(low: f64 = -1.0, high: f64 = 1.0) => hard_tanh_init;
    /// `clamp(x, 0, 6)`.
    Relu6() => relu6_init;
    /// `x - tanh(x)`.
    TanhShrink() => tanh_shrink_init;
}

activations! {
    T::from_f64;
    /// `x` where `|x|` is above the threshold, else 0.
    HardShrink(threshold: f64 = 0.5) => hard_shrink_init;
    /// `x` less the threshold above it, plus the threshold below minus it, else 0.
    SoftShrink(threshold: f64 = 0.5) => soft_shrink_init;
}

/// `x` where `x` is above a limit, else a value. PyTorch has no defaults of these either.
#[derive(Clone, Copy, Debug, Module)]
#[module(crate = crate)]
pub struct Threshold {
    /// The limit.
    pub limit: f64,
    /// The value.
    pub value: f64,
}

impl Threshold {
    /// With this limit and value.
    pub const fn new(limit: f64, value: f64) -> Self {
        Self { limit, value }
    }

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
        ops::threshold_init(step, input, self.limit, self.value)
    }
}
