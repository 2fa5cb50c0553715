//! [`cast`]: converts from one element type to another.

use dahl::__private::{Gradient, Linear, Rule};
use dahl::prelude::*;

/// An element type whose values can be converted to `U`, as [`cast`] does.
pub trait CastTo<U: Element>: Element {
    /// The nearest value of `U`.
    fn cast_to(self) -> U;
}

/// `out = input`, converted to the output's element type.
///
/// To a real type: rounded once, to nearest, ties to even; overflow becomes infinity. From a real to an integer type:
/// the fraction is dropped, values out of range become the nearest integer of the type, and NaN becomes 0, as `as` does
/// in Rust. From integer to integer: the low bits are kept, also as `as` does.
#[codelet(
    R, W,
    shape(out = input),
    cuda = crate::kernels::CAST,
    gradient = data(cast_gradient),
    reference = crate::reference::moved::cast,
    error = rounded
)]
pub fn cast<T: CastTo<U> + Element, U: Element>(input: &[T], out: &mut [U]) {
    for (out, &input) in out.iter_mut().zip(input) {
        *out = input.cast_to();
    }
}

/// The gradient by the input is that by the output, converted back.
fn cast_gradient<T: CastTo<U> + Element, U: Element>() -> &'static Gradient {
    /// Between two real types.
    fn of<T: CastTo<U> + Real, U: CastTo<T> + Real>() -> &'static Gradient {
        const {
            &Gradient {
                inputs: 1,
                outputs: 2,
                reads: 0,
                rule: Rule::Adjoint(|| Linear {
                    codelet: Cast::codelet::<U, T>(),
                    gradient: Cast::gradient::<U, T>(),
                }),
                addition: crate::gradient::addition,
            }
        }
    }
    fn from<T: CastTo<f16> + CastTo<bf16> + CastTo<f32> + CastTo<f64> + Real, U: Element>()
    -> &'static Gradient
    where
        f16: CastTo<T>,
        bf16: CastTo<T>,
        f32: CastTo<T>,
        f64: CastTo<T>,
    {
        Gradient::of_real::<U>([of::<T, f16>, of::<T, bf16>, of::<T, f32>, of::<T, f64>])
    }
    Gradient::of_real::<T>([from::<f16, U>, from::<bf16, U>, from::<f32, U>, from::<f64, U>])
}

/// Implements [`CastTo`] from a type to others by an expression.
macro_rules! impl_cast_to {
    ($(|$value:ident: $from:ty| $($to:ty = $converted:expr),*;)*) => {$($(
        impl CastTo<$to> for $from {
            #[inline(always)]
            fn cast_to(self) -> $to {
                let $value = self;
                $converted
            }
        }
    )*)*};
}

/// Implements it between types that Rust's `as` converts, and from them to `f16` and `bf16` by way of a type that holds
/// the value exactly.
macro_rules! impl_cast_to_primitives {
    ($($from:ty),*) => {
        impl_cast_to! {$(
            |x: $from| f32 = x as f32, f64 = x as f64, u8 = x as u8, u32 = x as u32, i32 = x as i32, i64 = x as i64;
        )*}
    };
}

impl_cast_to_primitives!(f32, f64, u8, u32, i32, i64);

impl_cast_to! {
    |x: f32| f16 = Real::narrow(x), bf16 = Real::narrow(x);
    |x: f64| f16 = Real::from_f64(x), bf16 = Real::from_f64(x);
    |x: u8| f16 = Real::narrow(f32::from(x)), bf16 = Real::narrow(f32::from(x));
    |x: u32| f16 = Real::from_f64(f64::from(x)), bf16 = Real::from_f64(f64::from(x));
    |x: i32| f16 = Real::from_f64(f64::from(x)), bf16 = Real::from_f64(f64::from(x));
    |x: i64| f16 = Real::from_f64(to_odd(x)), bf16 = Real::from_f64(to_odd(x));
    |x: f16| f16 = x, bf16 = Real::narrow(x.widen()), f32 = x.widen(), f64 = Real::to_f64(x),
        u8 = x.widen() as u8, u32 = x.widen() as u32, i32 = x.widen() as i32, i64 = x.widen() as i64;
    |x: bf16| f16 = Real::narrow(x.widen()), bf16 = x, f32 = x.widen(), f64 = Real::to_f64(x),
        u8 = x.widen() as u8, u32 = x.widen() as u32, i32 = x.widen() as i32, i64 = x.widen() as i64;
}

/// `x` rounded to odd: 53 significant bits, of which the last is set if any bits were cut off. Rounding the result to a
/// type of fewer bits gives the same as rounding `x` (Boldo and Melquiond 2008, *Emulation of FMA and correctly rounded
/// sums: proved algorithms using rounding to odd*).
#[inline(always)]
fn to_odd(x: i64) -> f64 {
    let cut = (1_i64 << 10) - 1;
    if x.unsigned_abs() < 1 << 53 { x as f64 } else { ((x & !cut) | (i64::from(x & cut != 0) << 10)) as f64 }
}
