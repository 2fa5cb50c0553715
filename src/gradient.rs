//! What the reverse pass of a tape needs of the operations: how gradients are added.

use dahl::__private::Addition;
use dahl::ElementType;
use dahl::prelude::*;

use crate::ops::codelets;

/// The operations that add gradients of an element type.
pub fn addition(element: ElementType) -> Option<&'static Addition> {
    fn of<T: Real>(element: ElementType) -> Option<&'static Addition> {
        let addition = const {
            &Addition {
                add: || codelets::Add::codelet::<T>(),
                add_gradient: || codelets::Add::gradient::<T>(),
                sum_axis: || codelets::SumAxis::codelet::<T>(),
                sum_axis_gradient: || codelets::SumAxis::gradient::<T>(),
                sum_axes: || codelets::SumAxes::codelet::<T>(),
                sum_axes_gradient: || codelets::SumAxes::gradient::<T>(),
            }
        };
        element.is::<T>().then_some(addition)
    }
    of::<f32>(element)
        .or_else(|| of::<f64>(element))
        .or_else(|| of::<bf16>(element))
        .or_else(|| of::<f16>(element))
}
