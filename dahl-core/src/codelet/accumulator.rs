//! [`Accumulator`]: what the private buffers of a `REDUX` parameter hold and how they combine.

use bytemuck::{cast_slice, cast_slice_mut};

use crate::access::Reduction;
use crate::element::{Element, ElementType, Real};

/// The private buffers of a `REDUX` parameter: their element type, identity and combination, and the step back to the
/// array's element type.
#[derive(Debug, Clone, Copy)]
pub struct Accumulator {
    pub(crate) element: ElementType,
    reduction: Reduction,
    /// Fills a buffer with the identity.
    pub(crate) identity: fn(&mut [u8]),
    /// `earlier[i] = combine(earlier[i], later[i])`.
    pub(crate) combine: fn(&mut [u8], &[u8]),
    /// `target[i] = narrow(combine(widen(target[i]), total[i]))`, or without the old value.
    pub(crate) finish: fn(&mut [u8], &[u8], bool),
}

impl Accumulator {
    /// Buffers of the array's own type.
    pub const fn same<T: Element>(reduction: Reduction) -> Self {
        match reduction {
            Reduction::Sum => Self::of::<T, T, Sum>(reduction),
            Reduction::Max => Self::of::<T, T, Max>(reduction),
            Reduction::Min => Self::of::<T, T, Min>(reduction),
        }
    }

    /// Buffers of the array's compute type, rounded once at the end.
    pub const fn compute<T: Real>(reduction: Reduction) -> Self {
        match reduction {
            Reduction::Sum => Self::of::<Widened<T>, T, Sum>(reduction),
            Reduction::Max => Self::of::<Widened<T>, T, Max>(reduction),
            Reduction::Min => Self::of::<Widened<T>, T, Min>(reduction),
        }
    }

    /// The element type of the buffers.
    pub(crate) fn element(&self) -> ElementType {
        self.element
    }

    /// Whether buffers of both combine alike.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.element == other.element && self.reduction == other.reduction
    }

    const fn of<S: Storage<T>, T: Element, C: Combine>(reduction: Reduction) -> Self {
        Self {
            element: ElementType::of::<S::Wide>(),
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
                    *target = S::narrow(if keep_old { C::combine(S::widen(*target), total) } else { total });
                }
            },
        }
    }
}

/// How `T` is held in a private buffer.
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
