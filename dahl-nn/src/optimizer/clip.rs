//! Clipping of gradients: [`clip_gradient_norm`] and [`clip_gradient_value`].

use dahl::ndarray::{ArrayView0, ArrayViewMut0};
use dahl::ops;
use dahl::prelude::*;

use crate::module::Module;
use crate::setting;

/// Added to the norm that divides, as in PyTorch.
const EPS: f64 = 1e-6;

/// Sums that are added to in turn, so that the loop is not one chain of additions.
const SUMS: usize = 8;

/// The Euclidean norm of all gradients of a model. It is a task's result: to look at it is to wait.
#[derive(Debug)]
pub struct GradientNorm {
    /// None of a model without parameters that learn.
    norm: Option<Scalar<'static, f64>>,
}

impl GradientNorm {
    /// The norm. Waits for it.
    ///
    /// # Errors
    /// If a task failed that it depends on.
    pub fn value(&self) -> dahl::Result<f64> {
        self.norm.as_ref().map_or(Ok(0.0), |norm| Ok(norm.read()?[[]]))
    }
}

/// Scales the gradients of all parameters that are not frozen so that their norm together is at most about `max_norm`, and
/// returns the norm that they had. As `torch.nn.utils.clip_grad_norm_`:
/// `gradient *= min(max_norm / (norm + 1e-6), 1)`. Waits for nothing.
///
/// The squares are summed in f64. A norm that is infinite or not a number makes the gradients 0 or not numbers, as in
/// PyTorch.
///
/// # Errors
/// If `max_norm` is negative or not a number. And those of the tasks.
#[track_caller]
pub fn clip_gradient_norm<T: Real>(model: &mut impl Module<T>, max_norm: f64) -> dahl::Result<GradientNorm> {
    setting::require(max_norm >= 0.0, "clip_gradient_norm: max_norm", max_norm, "a number from 0")?;
    let mut total: Option<Scalar<'static, f64>> = None;
    model.for_each_parameter(|_, parameter| {
        if parameter.frozen {
            return Ok(());
        }
        if total.is_none() {
            total = Some(parameter.gradient.zeros_of([])?);
        }
        let Some(total) = &mut total else { return Ok(()) };
        add_squares(&parameter.gradient, total)
    })?;
    let Some(mut norm) = total else { return Ok(GradientNorm { norm: None }) };
    ops::sqrt_self(&mut norm)?;
    model.for_each_parameter(|_, parameter| {
        if parameter.frozen { Ok(()) } else { scale_to_norm(&mut parameter.gradient, &norm, max_norm) }
    })?;
    Ok(GradientNorm { norm: Some(norm) })
}

/// Replaces each element of the gradients by the nearest number from `-limit` to `limit`, as
/// `torch.nn.utils.clip_grad_value_`. Waits for nothing.
///
/// # Errors
/// If `limit` is negative or not a number. And those of the tasks.
#[track_caller]
pub fn clip_gradient_value<T: Real>(model: &mut impl Module<T>, limit: f64) -> dahl::Result<()> {
    setting::require(limit >= 0.0, "clip_gradient_value: limit", limit, "a number from 0")?;
    model.for_each_parameter(|_, parameter| {
        if parameter.frozen { Ok(()) } else { limit_values(&mut parameter.gradient, limit) }
    })
}

/// Adds to `total` the sum of the squares of the gradient, in f64.
///
/// # Shapes
/// `gradient: [elements]`, `total: []`.
#[codelet(R, REDUX, shape(total = []), flops = 2 * gradient.len(), cuda = crate::kernels::ADD_SQUARES)]
pub fn add_squares<T: Real>(gradient: &[T], mut total: ArrayViewMut0<f64>) {
    let mut sums = [0.0; SUMS];
    let (chunks, rest) = gradient.as_chunks::<SUMS>();
    for chunk in chunks {
        for (sum, gradient) in sums.iter_mut().zip(chunk) {
            let wide = gradient.to_f64();
            *sum += wide * wide;
        }
    }
    for (sum, gradient) in sums.iter_mut().zip(rest) {
        let wide = gradient.to_f64();
        *sum += wide * wide;
    }
    total[[]] += sums.iter().sum::<f64>();
}

/// `gradient *= min(max_norm / (norm + 1e-6), 1)`.
///
/// # Shapes
/// `gradient: [elements]`, `norm: []`.
#[codelet(RW, R, flops = gradient.len(), cuda = crate::kernels::SCALE_TO_NORM)]
pub fn scale_to_norm<T: Real>(gradient: &mut [T], norm: ArrayView0<f64>, max_norm: f64) {
    let factor = max_norm / (norm[[]] + EPS);
    // Most gradients are left as they are, without reading them.
    if factor >= 1.0 {
        return;
    }
    // Not a number stays one.
    let factor = T::Compute::from_f64(factor);
    for gradient in gradient {
        *gradient = T::narrow(gradient.widen() * factor);
    }
}

/// Replaces each element by the nearest number from `-limit` to `limit`.
///
/// # Shapes
/// `gradient: [elements]`.
#[codelet(RW, flops = 2 * gradient.len(), cuda = crate::kernels::LIMIT_VALUES)]
pub fn limit_values<T: Real>(gradient: &mut [T], limit: f64) {
    let limit = T::Compute::from_f64(limit);
    for gradient in gradient {
        let wide = gradient.widen();
        // Not a number stays one.
        let below = if wide > limit { limit } else { wide };
        *gradient = T::narrow(if below < -limit { -limit } else { below });
    }
}
