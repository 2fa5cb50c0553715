//! Elementary functions of `f32` and `f64`, written so that a loop over them vectorises.

mod exponential;
mod hyperbolic;
mod inverse_trigonometric;
mod logarithm;
mod polynomial;
mod power;
mod rounding;
mod scale;
mod trigonometric;

pub(crate) use exponential::Exponential;
pub(crate) use hyperbolic::Hyperbolic;
pub(crate) use inverse_trigonometric::InverseTrigonometric;
pub(crate) use logarithm::Logarithm;
pub(crate) use power::Power;
pub(crate) use rounding::Rounding;
pub(crate) use trigonometric::Trigonometric;
