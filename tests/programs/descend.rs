//! Gradient descent with a loop and a branch in it, as a program and as tasks that are submitted.

use dahl::ops::codelets::{Greater, Mul, Norm, Relu, Sub};
use dahl::ops::{axpy_self, greater, greater_init, mul_init, norm_init, relu_init, scale_self, sub_init};
use dahl::prelude::*;

/// All operations of these programs.
pub(crate) trait Scopes:
    ControlFlow + Scope<Greater> + Scope<Mul> + Scope<Norm> + Scope<Relu> + Scope<Sub>
{
}

impl<S> Scopes for S where
    S: ControlFlow + Scope<Greater> + Scope<Mul> + Scope<Norm> + Scope<Relu> + Scope<Sub>
{
}

/// Gradient descent on `|x - target|^2 / 2` until the norm of the gradient is at most `tolerance`. Steps are longer while it is
/// above 1.
pub(crate) fn descend_under<T: Real>(
    scope: &impl Scopes,
    target: &Vector<'_, T>,
    one: &Scalar<'_, T>,
    tolerance: &Scalar<'_, T>,
    x: &mut Vector<'_, T>,
) -> dahl::Result<()> {
    let norm = norm_init(scope, &sub_init(scope, &*x, target)?)?;
    let mut goes_on = greater_init(scope, &norm, tolerance)?;
    scope.repeat_while(&mut goes_on, |scope, goes_on| {
        let mut gradient = sub_init(scope, &*x, target)?;
        let is_far = greater_init(scope, &norm_init(scope, &gradient)?, one)?;
        scope.branch(&is_far, |scope, is_far| {
            if is_far {
                return scale_self(&mut gradient, T::from_f64(1.5));
            }
            // Each element changes by at most an eighth of itself.
            let squares = relu_init(scope, &mul_init(scope, &gradient, &gradient)?)?;
            axpy_self(&squares, &mut gradient, T::from_f64(-0.125))
        })?;
        axpy_self(&gradient, x, T::from_f64(-0.25))?;
        greater(&norm_init(scope, &sub_init(scope, &*x, target)?)?, tolerance, goes_on)
    })
}

#[program]
pub(crate) fn descend<T: Real>(
    scope: &Recording<'_>,
    target: &Vector<'_, T>,
    one: &Scalar<'_, T>,
    tolerance: &Scalar<'_, T>,
    x: &mut Vector<'_, T>,
) -> dahl::Result<()> {
    descend_under(scope, target, one, tolerance, x)
}
