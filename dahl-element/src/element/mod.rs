//! What an array holds: [`Element`], plain data, and above it [`Real`], the numbers that kernels compute with.
//!
//! A real number has a *storage type* (itself) and a *compute type*, [`Real::Compute`]: `f32` for `f16` and `bf16`,
//! itself for the others. Kernels load storage, [`widen`](Real::widen) it, compute, and [`narrow`](Real::narrow) once
//! at the end.
//!
//! Not here: how loops over elements are vectorised (`simd`), and the elementary functions' code (`simd::math`).

mod approximate;
mod conversion;
mod float;
mod half_precision;
mod integer;
mod real;

use std::any::TypeId;
use std::fmt::{Debug, Display};

pub use approximate::{Approximate, ApproximateFloat};
pub use real::Real;

use crate::argument::Argument;

/// Plain data that an array can hold: any bit pattern is a value, there is no padding, and copies are bitwise.
///
/// Implemented for `f16`, `bf16`, `f32`, `f64`, `u8`, `u32`, `i32` and `i64`. A crate can add its own type (a
/// double-double, a dual number): [`bytemuck::Pod`] carries the proof that it is plain data.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element of arrays",
    label = "not an element type",
    note = "elements are `f16`, `bf16`, `f32`, `f64`, `u8`, `u32`, `i32`, `i64`; a type parameter needs a bound: `T: Real` or `T: Element`"
)]
pub trait Element:
    bytemuck::Pod + Argument + PartialEq + PartialOrd + Debug + Display + Default + Send + Sync + 'static
{
    /// The name in messages, traces and performance models: `"f32"`.
    const NAME: &'static str;
    /// Zero, the identity of sums.
    const ZERO: Self;
    /// One, the identity of products.
    const ONE: Self;
    /// The lower bound of all values: minus infinity, or the smallest integer. The identity of maxima.
    const LOWEST: Self;
    /// The upper bound of all values: infinity, or the largest integer. The identity of minima.
    const HIGHEST: Self;

    /// `self + other`; integers wrap around.
    fn plus(self, other: Self) -> Self;

    /// The larger of two; NaN if either is NaN, and `+0` is above `-0` (IEEE 754-2019 `maximum`).
    fn maximum(self, other: Self) -> Self;

    /// The smaller of two; NaN if either is NaN, and `-0` is below `+0` (IEEE 754-2019 `minimum`).
    fn minimum(self, other: Self) -> Self;
}

/// The runtime's description of an element type.
#[derive(Clone, Copy, Debug)]
pub struct ElementType {
    /// [`Element::NAME`].
    pub name: &'static str,
    /// Bytes of one element.
    pub size_bytes: usize,
    /// Alignment of one element, in bytes.
    pub align_bytes: usize,
    id: TypeId,
}

impl ElementType {
    /// The description of `T`.
    #[inline]
    pub const fn of<T: Element>() -> Self {
        Self {
            name: T::NAME,
            size_bytes: size_of::<T>(),
            align_bytes: align_of::<T>(),
            id: TypeId::of::<T>(),
        }
    }

    /// Whether this describes `T`.
    #[inline]
    pub fn is<T: Element>(&self) -> bool {
        self.id == TypeId::of::<T>()
    }
}

impl PartialEq for ElementType {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for ElementType {}

/// The value of an element of one of this crate's types, rounded to `f64` if it is a large integer.
pub fn to_f64<T: Element>(value: T) -> Option<f64> {
    macro_rules! first_of {
        ($($ty:ty => $convert:expr),*) => {
            $(if TypeId::of::<T>() == TypeId::of::<$ty>() {
                let value: $ty = bytemuck::cast(value);
                return Some($convert(value));
            })*
        };
    }
    first_of!(
        half::f16 => f64::from, half::bf16 => f64::from, f32 => f64::from, f64 => f64::from,
        u8 => f64::from, u32 => f64::from, i32 => f64::from, i64 => |value| value as f64
    );
    None
}
