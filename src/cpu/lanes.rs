//! [`Lanes`]: element types whose loops are written in vectors, and [`in_vectors`], which runs them.
//!
//! They are for loops that must keep many sums in registers, which the compiler does not do by itself.
//! [`dahl_core::simd::dispatch`] compiles other loops, which are plain. The crate `pulp` provides the vectors.

mod bits;
mod transpose;
mod unzip;

use dahl_core::Real;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use dahl_core::simd::{Level, level};
use pulp::{Scalar, Simd, WithSimd};

/// The most elements of a vector.
pub(crate) const MOST_LANES: usize = 16;

/// An element type that vectors exist for.
pub(crate) trait Lanes: Real<Compute = Self> {
    /// Several elements.
    type Vector<S: Simd>: Copy;
    /// A truth value for each of them.
    type Mask<S: Simd>: Copy;

    /// How many elements a vector has.
    fn lanes<S: Simd>() -> usize {
        const { assert!(size_of::<Self::Vector<S>>() <= MOST_LANES * size_of::<Self>()) };
        size_of::<Self::Vector<S>>() / size_of::<Self>()
    }

    /// `value` in each lane.
    fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S>;

    /// `a * b + c`, rounded once where the machine has an instruction for that.
    fn multiply_add<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;

    /// `a + b`.
    fn add_lanes<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;

    /// `a * b`.
    fn multiply<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;

    /// Separates the elements of two consecutive vectors into those at even and those at odd indices, both in the order
    /// of lanes that costs least: [`in_order`](Self::in_order) restores the order.
    fn unzip<S: Simd>(simd: S, vectors: [Self::Vector<S>; 2]) -> [Self::Vector<S>; 2];

    /// Interleaves the elements of two vectors: the inverse of [`unzip`](Self::unzip), with the same order of lanes.
    fn zip<S: Simd>(simd: S, vectors: [Self::Vector<S>; 2]) -> [Self::Vector<S>; 2];

    /// Converts from the order of lanes of [`unzip`](Self::unzip) and [`zip`](Self::zip) to that of the elements, and
    /// back.
    fn in_order<S: Simd>(simd: S, vector: Self::Vector<S>) -> Self::Vector<S>;

    /// Transposes a square. `N` is the number of lanes: see [`with_lanes`].
    fn transpose<S: Simd, const N: usize>(simd: S, square: [Self::Vector<S>; N]) -> [Self::Vector<S>; N];

    /// Loads the elements, at most a vector, and zeros after them.
    fn load_first<S: Simd>(simd: S, elements: &[Self]) -> Self::Vector<S>;

    /// Writes the first elements of a vector, as many as `elements` has, at most all.
    fn store_first<S: Simd>(simd: S, vector: Self::Vector<S>, elements: &mut [Self]);

    /// For each lane, whether `a > b`; NaN is larger than any number.
    fn is_larger<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Mask<S>;

    /// For each lane, whether `a <= b`; false if one of them is NaN.
    fn is_at_most<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Mask<S>;

    /// For each lane, whether `a` and `b` have the same bits.
    fn is_same<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Mask<S>;

    /// For each lane, `a` where the mask is set and `b` elsewhere.
    fn select<S: Simd>(
        simd: S,
        mask: Self::Mask<S>,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
    ) -> Self::Vector<S>;

    /// The element with these bits, to be selected like other elements.
    fn of_bits(bits: u32) -> Self;

    /// The lower bits of the element.
    fn bits(self) -> u32;

    /// `a + b` of their bits as integers.
    fn add_bits<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;

    /// Writes the lower bits of each lane.
    fn store_bits<S: Simd>(simd: S, vector: Self::Vector<S>, to: &mut [u32]);

    /// The sum of the lanes.
    fn sum<S: Simd>(simd: S, vector: Self::Vector<S>) -> Self;

    /// The elements as vectors, and the remainder.
    fn vectors<S: Simd>(elements: &[Self]) -> (&[Self::Vector<S>], &[Self]);

    /// As [`vectors`](Self::vectors).
    fn vectors_mut<S: Simd>(elements: &mut [Self]) -> (&mut [Self::Vector<S>], &mut [Self]);
}

/// Whether there is no fused multiply-add: the 128-bit vectors of `pulp` would call a function for each lane.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn rounds_twice<S: Simd>() -> bool {
    is::<S, pulp::x86::V2>()
}

/// Whether vectors are those of `Other`.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn is<S: Simd, Other: Simd>() -> bool {
    std::any::TypeId::of::<S>() == std::any::TypeId::of::<Other>()
}

/// Whether there is no fused multiply-add.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn rounds_twice<S: Simd>() -> bool {
    false
}

/// Copies `from` to `to`, which has the same length.
#[inline(always)]
pub(crate) fn copy<C: Lanes, S: Simd>(_simd: S, from: &[C], to: &mut [C]) {
    assert_eq!(from.len(), to.len());
    let Some(last) = from.len().checked_sub(C::lanes::<S>()) else {
        return to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    };
    let (vectors, _) = C::vectors::<S>(from);
    for (to, from) in C::vectors_mut::<S>(to).0.iter_mut().zip(vectors) {
        *to = *from;
    }
    // The last vector overlaps the one before it.
    C::vectors_mut::<S>(&mut to[last..]).0.copy_from_slice(C::vectors::<S>(&from[last..]).0);
}

macro_rules! lanes {
    ($element:ty, $bits:ty, $vector:ident, $mask:ident, $splat:ident, $add:ident, $mul_add:ident, $sum:ident, $as:ident,
     $as_mut:ident, $le:ident, $not:ident, $and:ident, $select:ident, $to_bits:ident, $of_bits:ident, $equal:ident,
     $add_bits:ident, $store_bits:ident, $mul:ident, $unzip:ident, $zip:ident, $transpose:ident, $load:ident, $store:ident) => {
        impl Lanes for $element {
            type Vector<S: Simd> = S::$vector;
            type Mask<S: Simd> = S::$mask;

            #[inline(always)]
            fn add_lanes<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$vector {
                simd.$add(a, b)
            }

            #[inline(always)]
            fn multiply<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$vector {
                simd.$mul(a, b)
            }

            #[inline(always)]
            fn unzip<S: Simd>(simd: S, vectors: [S::$vector; 2]) -> [S::$vector; 2] {
                unzip::$unzip(simd, vectors)
            }

            #[inline(always)]
            fn in_order<S: Simd>(simd: S, vector: S::$vector) -> S::$vector {
                unzip::in_order(simd, vector)
            }

            #[inline(always)]
            fn zip<S: Simd>(simd: S, vectors: [S::$vector; 2]) -> [S::$vector; 2] {
                unzip::$zip(simd, vectors)
            }

            #[inline(always)]
            fn transpose<S: Simd, const N: usize>(simd: S, square: [S::$vector; N]) -> [S::$vector; N] {
                assert_eq!(N, Self::lanes::<S>());
                transpose::$transpose(simd, square)
            }

            #[inline(always)]
            fn load_first<S: Simd>(simd: S, elements: &[Self]) -> S::$vector {
                simd.$load(elements)
            }

            #[inline(always)]
            fn store_first<S: Simd>(simd: S, vector: S::$vector, elements: &mut [Self]) {
                simd.$store(elements, vector);
            }

            #[inline(always)]
            fn is_larger<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$mask {
                simd.$and(simd.$not(simd.$le(a, b)), simd.$le(b, b))
            }

            #[inline(always)]
            fn is_at_most<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$mask {
                simd.$le(a, b)
            }

            #[inline(always)]
            fn is_same<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$mask {
                simd.$equal(simd.$to_bits(a), simd.$to_bits(b))
            }

            #[inline(always)]
            fn select<S: Simd>(simd: S, mask: S::$mask, a: S::$vector, b: S::$vector) -> S::$vector {
                simd.$select(mask, a, b)
            }

            #[inline(always)]
            fn of_bits(bits: u32) -> Self {
                Self::from_bits(<$bits>::from(bits))
            }

            #[inline(always)]
            fn bits(self) -> u32 {
                self.to_bits() as u32
            }

            #[inline(always)]
            fn add_bits<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$vector {
                simd.$of_bits(simd.$add_bits(simd.$to_bits(a), simd.$to_bits(b)))
            }

            #[inline(always)]
            fn store_bits<S: Simd>(simd: S, vector: S::$vector, to: &mut [u32]) {
                bits::$store_bits(simd, simd.$to_bits(vector), to);
            }

            #[inline(always)]
            fn splat<S: Simd>(simd: S, value: Self) -> S::$vector {
                simd.$splat(value)
            }

            #[inline(always)]
            fn multiply_add<S: Simd>(simd: S, a: S::$vector, b: S::$vector, c: S::$vector) -> S::$vector {
                if rounds_twice::<S>() { simd.$add(simd.$mul(a, b), c) } else { simd.$mul_add(a, b, c) }
            }

            #[inline(always)]
            fn sum<S: Simd>(simd: S, vector: S::$vector) -> Self {
                simd.$sum(vector)
            }

            #[inline(always)]
            fn vectors<S: Simd>(elements: &[Self]) -> (&[S::$vector], &[Self]) {
                S::$as(elements)
            }

            #[inline(always)]
            fn vectors_mut<S: Simd>(elements: &mut [Self]) -> (&mut [S::$vector], &mut [Self]) {
                S::$as_mut(elements)
            }
        }
    };
}

lanes!(
    f32,
    u32,
    f32s,
    m32s,
    splat_f32s,
    add_f32s,
    mul_add_e_f32s,
    reduce_sum_f32s,
    as_simd_f32s,
    as_mut_simd_f32s,
    less_than_or_equal_f32s,
    not_m32s,
    and_m32s,
    select_f32s,
    transmute_u32s_f32s,
    transmute_f32s_u32s,
    equal_u32s,
    add_u32s,
    store_u32s,
    mul_f32s,
    unzip_f32,
    zip_f32,
    transpose_f32,
    partial_load_f32s,
    partial_store_f32s
);
lanes!(
    f64,
    u64,
    f64s,
    m64s,
    splat_f64s,
    add_f64s,
    mul_add_e_f64s,
    reduce_sum_f64s,
    as_simd_f64s,
    as_mut_simd_f64s,
    less_than_or_equal_f64s,
    not_m64s,
    and_m64s,
    select_f64s,
    transmute_u64s_f64s,
    transmute_f64s_u64s,
    equal_u64s,
    add_u64s,
    store_u64s,
    mul_f64s,
    unzip_f64,
    zip_f64,
    transpose_f64,
    partial_load_f64s,
    partial_store_f64s
);

/// The size of the vectors of [`in_vectors`], in bytes.
pub(crate) fn vector_bytes() -> usize {
    struct Bytes;
    impl WithSimd for Bytes {
        type Output = usize;

        #[inline(always)]
        fn with_simd<S: Simd>(self, _simd: S) -> usize {
            size_of::<S::f32s>()
        }
    }
    in_vectors(Bytes)
}

/// Runs `work` with the vectors of this machine's [`level`].
pub(crate) fn in_vectors<W: WithSimd>(work: W) -> W::Output {
    // By `const`, so that levels without loops in this build are not compiled here either.
    #[cfg(target_arch = "x86_64")]
    {
        use pulp::x86::{V2, V3, V4};
        if const { Level::V4.is_compiled() }
            && level() >= Level::V4
            && let Some(simd) = V4::try_new()
        {
            return Simd::vectorize(simd, work);
        }
        if const { Level::V3.is_compiled() }
            && level() >= Level::V3
            && let Some(simd) = V3::try_new()
        {
            return Simd::vectorize(simd, work);
        }
        if const { Level::V2.is_compiled() }
            && level() >= Level::V2
            && let Some(simd) = V2::try_new()
        {
            return Simd::vectorize(simd, work);
        }
    }
    #[cfg(target_arch = "aarch64")]
    if level() == Level::Neon
        && let Some(simd) = pulp::aarch64::Neon::try_new()
    {
        return Simd::vectorize(simd, work);
    }
    work.with_simd(Scalar)
}

/// Whether the machine has 16 vector registers, not 32.
pub(crate) const fn has_few_registers<S: Simd>() -> bool {
    S::REGISTER_COUNT < 32
}

/// Whether vectors have `count` elements.
pub(crate) const fn has_lanes<C: Lanes, S: Simd>(count: usize) -> bool {
    size_of::<C::Vector<S>>() == count * size_of::<C>()
}

/// `$then`, with the constant `$N` the number of elements of a vector of `$C`: arrays of that length stay in registers.
macro_rules! with_lanes {
    ($C:ty, $S:ty, $N:ident => $then:expr) => {
        $crate::cpu::lanes::with_lanes!(@ [16, 8, 4, 2, 1] $C, $S, $N => $then)
    };
    (@ [$count:literal $(, $rest:literal)*] $C:ty, $S:ty, $N:ident => $then:expr) => {
        // `const`, so that code for other vectors is not compiled.
        if const { $crate::cpu::lanes::has_lanes::<$C, $S>($count) } {
            const $N: usize = $count;
            $then
        } else {
            $crate::cpu::lanes::with_lanes!(@ [$($rest),*] $C, $S, $N => $then)
        }
    };
    (@ [] $C:ty, $S:ty, $N:ident => $then:expr) => {
        unreachable!("vectors have 1, 2, 4, 8 or 16 elements")
    };
}
pub(crate) use with_lanes;

/// `Some($then)`, with `$U` the type that `$element` is, if it or its compute type has vectors. For functions that are
/// not generic, so that the loops are compiled only in this crate, and not for every type in every crate that calls an
/// operation.
macro_rules! in_lanes {
    ($element:expr, $U:ident => $then:expr) => {{
        let element: dahl_core::ElementType = $element;
        if element.is::<f32>() {
            type $U = f32;
            Some($then)
        } else if element.is::<f64>() {
            type $U = f64;
            Some($then)
        } else if element.is::<half::f16>() {
            type $U = half::f16;
            Some($then)
        } else if element.is::<half::bf16>() {
            type $U = half::bf16;
            Some($then)
        } else {
            None
        }
    }};
}
pub(crate) use in_lanes;
