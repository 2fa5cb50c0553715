//! [`Weight`]: an element of a parameter, as an update reads and writes it. With a master copy it is [`Mastered`]: a number
//! in the compute type, of which the parameter has the rounded value.
//!
//! The formula of an update is one function of weights; an operation of the parameter alone and one of the parameter and its
//! master copy call it.

use dahl::prelude::*;

/// An element that is updated once.
pub(super) trait Weight<S> {
    /// Its value before the update.
    fn value(&self) -> S;

    /// Writes the value after the update.
    fn set(self, value: S);
}

/// Without a master copy, a value is rounded to the parameter's type.
impl<T: Real> Weight<T::Compute> for &mut T {
    #[inline(always)]
    fn value(&self) -> T::Compute {
        self.widen()
    }

    #[inline(always)]
    fn set(self, value: T::Compute) {
        *self = T::narrow(value);
    }
}

/// An element with its master copy (Micikevicius et al. 2018, [arXiv:1710.03740](https://arxiv.org/abs/1710.03740),
/// section 3.1).
///
/// The element is the master copy, rounded, after each update. If it is not before the next one, something else has written
/// the parameter since: then the master copy is taken from the element. So a master copy needs no first value, and a model
/// that is loaded, averaged or restored goes on from what it has.
pub(super) struct Mastered<'a, T: Real> {
    value: &'a mut T,
    master: &'a mut T::Compute,
}

impl<T: Real> Weight<T::Compute> for Mastered<'_, T> {
    #[inline(always)]
    fn value(&self) -> T::Compute {
        if T::narrow(*self.master) == *self.value { *self.master } else { self.value.widen() }
    }

    #[inline(always)]
    fn set(self, value: T::Compute) {
        *self.master = value;
        *self.value = T::narrow(value);
    }
}

/// The elements of a parameter with those of its master copy.
#[inline(always)]
pub(super) fn mastered<'a, T: Real>(
    value: &'a mut [T],
    master: &'a mut [T::Compute],
) -> impl Iterator<Item = Mastered<'a, T>> {
    value.iter_mut().zip(master).map(|(value, master)| Mastered { value, master })
}
