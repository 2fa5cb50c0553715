//! [`Accumulator`]: what the private buffers of a `REDUX` parameter hold, and how they combine.

use bytemuck::{cast_slice, cast_slice_mut};

use super::combination::{Combination, Combines};
use super::views::{Line, Views};
use crate::access::Reduction;
use crate::cuda::{self, CudaInstance};
use crate::element::{Element, ElementType, Real};

/// The private buffers of a `REDUX` parameter: their element type, identity and combination, and the conversion to the
/// array's element type.
#[derive(Debug, Clone, Copy)]
pub struct Accumulator {
    pub(crate) element: ElementType,
    operation: Operation,
}

#[derive(Debug, Clone, Copy)]
enum Operation {
    BuiltIn {
        reduction: Reduction,
        /// Fills a buffer with the identity.
        identity: fn(&mut [u8]),
        /// `earlier[i] = combine(earlier[i], later[i])`.
        combine: fn(&mut [u8], &[u8]),
        /// `target[i] = narrow(combine(widen(target[i]), total[i]))`, or without the old value.
        finish: fn(&mut [u8], &[u8], bool),
    },
    Custom {
        combination: Combination,
        /// The conversions between the array's elements and the buffers'; none if they have the same type.
        conversion: Option<Conversion>,
    },
}

/// Conversions between an array and private buffers of another element type.
#[derive(Debug, Clone, Copy)]
struct Conversion {
    widen: fn(&[u8], &mut [u8]),
    narrow: fn(&[u8], &mut [u8]),
}

impl Accumulator {
    /// Buffers of the array's own type.
    ///
    /// # Panics
    /// For a reduction of the user's, which [`same_by`](Self::same_by) makes.
    pub const fn same<T: Element>(reduction: Reduction) -> Self {
        match reduction {
            Reduction::Sum => Self::of::<T, T, Sum>(reduction),
            Reduction::Max => Self::of::<T, T, Max>(reduction),
            Reduction::Min => Self::of::<T, T, Min>(reduction),
            Reduction::Custom => panic!("a reduction of the user's needs a combining codelet"),
        }
    }

    /// Buffers of the array's compute type, rounded once at the end.
    ///
    /// # Panics
    /// For a reduction of the user's, which [`compute_by`](Self::compute_by) makes.
    pub const fn compute<T: Real>(reduction: Reduction) -> Self {
        match reduction {
            Reduction::Sum => Self::of::<Widened<T>, T, Sum>(reduction),
            Reduction::Max => Self::of::<Widened<T>, T, Max>(reduction),
            Reduction::Min => Self::of::<Widened<T>, T, Min>(reduction),
            Reduction::Custom => panic!("a reduction of the user's needs a combining codelet"),
        }
    }

    /// Buffers of the array's own type that the codelet `C` combines. `identity` is the text of the expression with
    /// which `fill` fills a buffer.
    pub const fn same_by<T: Element, C: Combines<T>>(
        identity: &'static str,
        fill: fn(&mut Views<'_>),
    ) -> Self {
        let combination = Combination::new::<T, C>(identity, fill);
        Self {
            element: ElementType::of::<T>(),
            operation: Operation::Custom { combination, conversion: None },
        }
    }

    /// Buffers of the array's compute type that the codelet `C` combines, rounded once at the end.
    pub const fn compute_by<T: Real, C: Combines<T::Compute>>(
        identity: &'static str,
        fill: fn(&mut Views<'_>),
    ) -> Self {
        let conversion = Conversion {
            widen: |from, to| T::widen_slice(cast_slice(from), cast_slice_mut(to)),
            narrow: |from, to| T::narrow_slice(cast_slice(from), cast_slice_mut(to)),
        };
        Self {
            element: ElementType::of::<T::Compute>(),
            operation: Operation::Custom {
                combination: Combination::new::<T::Compute, C>(identity, fill),
                conversion: Some(conversion),
            },
        }
    }

    /// The element type of the buffers.
    pub(crate) fn element(&self) -> ElementType {
        self.element
    }

    /// Whether both have the same buffers and combine them in the same way.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.element == other.element
            && match (&self.operation, &other.operation) {
                (Operation::BuiltIn { reduction, .. }, Operation::BuiltIn { reduction: theirs, .. }) => {
                    reduction == theirs
                }
                (Operation::Custom { combination, .. }, Operation::Custom { combination: theirs, .. }) => {
                    combination.is_like(theirs)
                }
                _ => false,
            }
    }

    /// Whether it is a sum, a maximum or a minimum.
    pub(crate) fn is_built_in(&self) -> bool {
        matches!(self.operation, Operation::BuiltIn { .. })
    }

    /// The kernel in CUDA that corresponds to [`combine`](Self::combine), if there is one.
    pub(crate) fn cuda_fold(&self) -> Option<CudaInstance> {
        match self.operation {
            Operation::BuiltIn { reduction, .. } => cuda::fold(reduction, self.element),
            Operation::Custom { .. } => None,
        }
    }

    /// The kernel in CUDA that corresponds to [`finish`](Self::finish) for an array of elements `target`, if there is
    /// one.
    pub(crate) fn cuda_finish(&self, target: ElementType) -> Option<CudaInstance> {
        match self.operation {
            Operation::BuiltIn { reduction, .. } => cuda::finish(reduction, target, self.element),
            Operation::Custom { .. } => None,
        }
    }

    /// The four bytes that a buffer with the identity repeats; none if there are no such bytes.
    #[cfg_attr(any(dahl_fuzz, not(feature = "cuda")), allow(dead_code, reason = "there are no such devices"))]
    pub(crate) fn identity_word(&self) -> Option<u32> {
        let Operation::BuiltIn { identity, .. } = self.operation else { return None };
        // Eight bytes: a whole number of elements of any type.
        let mut elements = 0_u64;
        identity(bytemuck::bytes_of_mut(&mut elements));
        let [first, second] = bytemuck::cast::<u64, [u32; 2]>(elements);
        (first == second).then_some(first)
    }

    /// Fills a buffer with the identity.
    pub(crate) fn fill_identity(&self, buffer: &mut [u8]) {
        match &self.operation {
            Operation::BuiltIn { identity, .. } => identity(buffer),
            Operation::Custom { combination, .. } => combination.fill_identity(self.element, buffer),
        }
    }

    /// Combines the later partial result into the earlier one.
    pub(crate) fn combine(&self, earlier: &mut [u8], later: &[u8]) {
        match &self.operation {
            Operation::BuiltIn { combine, .. } => combine(earlier, later),
            Operation::Custom { combination, .. } => combination.combine(self.element, earlier, later),
        }
    }

    /// Stores the total in the array, in its element type. If the array's old value is kept, it is the left operand:
    /// `combine(old, total)`.
    pub(crate) fn finish(&self, target: &mut [u8], total: &[u8], keep_old: bool) {
        let (combination, conversion) = match &self.operation {
            Operation::BuiltIn { finish, .. } => return finish(target, total, keep_old),
            Operation::Custom { combination, conversion } => (combination, conversion),
        };
        match (conversion, keep_old) {
            (None, false) => target.copy_from_slice(total),
            (None, true) => combination.combine(self.element, target, total),
            (Some(conversion), false) => (conversion.narrow)(total, target),
            (Some(conversion), true) => {
                let mut old = vec![Line::default(); total.len().div_ceil(size_of::<Line>())];
                let old = &mut cast_slice_mut(&mut old)[..total.len()];
                (conversion.widen)(target, old);
                combination.combine(self.element, old, total);
                (conversion.narrow)(old, target);
            }
        }
    }

    const fn of<S: Storage<T>, T: Element, C: Combine>(reduction: Reduction) -> Self {
        Self {
            element: ElementType::of::<S::Wide>(),
            operation: Operation::BuiltIn {
                reduction,
                identity: |buffer| cast_slice_mut(buffer).fill(C::identity::<S::Wide>()),
                combine: |earlier, later| {
                    let later: &[S::Wide] = cast_slice(later);
                    for (earlier, &later) in cast_slice_mut::<u8, S::Wide>(earlier).iter_mut().zip(later) {
                        *earlier = C::combine(*earlier, later);
                    }
                },
                finish: |target, total, keep_old| {
                    let total: &[S::Wide] = cast_slice(total);
                    for (target, &total) in cast_slice_mut::<u8, T>(target).iter_mut().zip(total) {
                        *target =
                            S::narrow(if keep_old { C::combine(S::widen(*target), total) } else { total });
                    }
                },
            },
        }
    }
}

/// The representation of `T` in a private buffer.
trait Storage<T> {
    type Wide: Element;

    fn widen(value: T) -> Self::Wide;
    fn narrow(value: Self::Wide) -> T;
}

impl<T: Element> Storage<T> for T {
    type Wide = T;

    fn widen(value: T) -> T {
        value
    }

    fn narrow(value: T) -> T {
        value
    }
}

struct Widened<T>(std::marker::PhantomData<T>);

impl<T: Real> Storage<T> for Widened<T> {
    type Wide = T::Compute;

    fn widen(value: T) -> T::Compute {
        value.widen()
    }

    fn narrow(value: T::Compute) -> T {
        T::narrow(value)
    }
}

trait Combine {
    fn identity<A: Element>() -> A;
    fn combine<A: Element>(earlier: A, later: A) -> A;
}

macro_rules! impl_combine {
    ($($name:ident, $identity:ident, $combine:ident);*) => {$(
        struct $name;

        impl Combine for $name {
            fn identity<A: Element>() -> A {
                A::$identity
            }

            fn combine<A: Element>(earlier: A, later: A) -> A {
                earlier.$combine(later)
            }
        }
    )*};
}

impl_combine!(Sum, ZERO, plus; Max, LOWEST, maximum; Min, HIGHEST, minimum);

#[cfg(test)]
mod tests {
    use half::bf16;

    use super::Accumulator;
    use crate::access::Reduction;
    use crate::element::Element;

    fn word<T: Element>(reduction: Reduction) -> Option<u32> {
        Accumulator::same::<T>(reduction).identity_word()
    }

    #[test]
    fn an_identity_is_a_word_again_and_again_if_it_can_be() {
        assert_eq!(word::<f64>(Reduction::Sum), Some(0));
        assert_eq!(word::<u8>(Reduction::Min), Some(u32::MAX));
        assert_eq!(word::<f32>(Reduction::Max), Some(f32::NEG_INFINITY.to_bits()));
        assert_eq!(word::<bf16>(Reduction::Max), Some(0xFF80_FF80));
        assert_eq!(word::<i64>(Reduction::Max), None);
        assert_eq!(Accumulator::compute::<bf16>(Reduction::Min).identity_word(), Some(0x7F80_0000));
    }
}
