//! [`Operand`]: the elements of an array that a program reads, of any type whose values are numbers of `f64`.

use std::any::TypeId;

use crate::codelet::Run;
use crate::element::{ElementType, Real};
use crate::{bf16, f16};

use super::tile::TILE;

/// Elements.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand<'a> {
    F16(&'a [f16]),
    Bf16(&'a [bf16]),
    F32(&'a [f32]),
    F64(&'a [f64]),
    U8(&'a [u8]),
    U32(&'a [u32]),
    I32(&'a [i32]),
}

impl<'a> Operand<'a> {
    /// Whether a program can read elements of this type.
    pub(super) fn can_be(element: ElementType) -> bool {
        element.is::<f16>()
            || element.is::<bf16>()
            || element.is::<f32>()
            || element.is::<f64>()
            || element.is::<u8>()
            || element.is::<u32>()
            || element.is::<i32>()
    }

    /// The elements of the next parameter of a run.
    pub(super) fn of_run(run: &mut Run<'a>, element: ElementType) -> Self {
        match () {
            () if element.is::<f16>() => Self::F16(run.slice()),
            () if element.is::<bf16>() => Self::Bf16(run.slice()),
            () if element.is::<f32>() => Self::F32(run.slice()),
            () if element.is::<f64>() => Self::F64(run.slice()),
            () if element.is::<u8>() => Self::U8(run.slice()),
            () if element.is::<u32>() => Self::U32(run.slice()),
            () => Self::I32(run.slice()),
        }
    }

    /// `to[i]` is element `begin + i`.
    pub(super) fn load<S: Real>(self, begin: usize, to: &mut [S]) {
        match self {
            Self::F16(elements) => widen(&elements[begin..][..to.len()], to),
            Self::Bf16(elements) => widen(&elements[begin..][..to.len()], to),
            Self::F32(elements) => convert(&elements[begin..], to, f64::from),
            Self::F64(elements) => convert(&elements[begin..], to, |element| element),
            Self::U8(elements) => convert(&elements[begin..], to, f64::from),
            Self::U32(elements) => convert(&elements[begin..], to, f64::from),
            Self::I32(elements) => convert(&elements[begin..], to, f64::from),
        }
    }
}

fn convert<T: Copy, S: Real>(from: &[T], to: &mut [S], in_f64: impl Fn(T) -> f64) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = S::from_f64(in_f64(from));
    }
}

fn widen<T: Real<Compute = f32>, S: Real>(from: &[T], to: &mut [S]) {
    let mut wide = [0.0_f32; TILE];
    let wide = &mut wide[..to.len()];
    T::widen_slice(from, wide);
    convert(wide, to, f64::from);
}

/// `to[i]` is `from[i]`, rounded to the compute type and then to the element type.
pub(super) fn store<S: Real, T: Real>(from: &[S], to: &mut [T]) {
    if TypeId::of::<T>() == TypeId::of::<T::Compute>() {
        for (to, from) in to.iter_mut().zip(from) {
            *to = T::from_f64(from.to_f64());
        }
        return;
    }
    let mut compute = [<T::Compute as crate::element::Element>::ZERO; TILE];
    let compute = &mut compute[..to.len()];
    for (compute, from) in compute.iter_mut().zip(from) {
        *compute = T::Compute::from_f64(from.to_f64());
    }
    T::narrow_slice(compute, to);
}
