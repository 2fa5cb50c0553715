//! [`Pointwise`]: a map whose arrays all have one real element type. Derived maps are declared so: their loop is here, once,
//! and not in the code of each.

use super::Views;
use crate::element::Real;
use dahl_element::__private::{At, Body, map, narrow_block, narrows_in_blocks, widen};

/// A map of `INPUTS` arrays to one, all of elements of type `T`.
pub trait Pointwise<T: Real, const INPUTS: usize> {
    /// The plain arguments, as the body gets them.
    type Arguments: Copy + Sync;

    /// Takes the arguments.
    fn arguments(views: &mut Views<'_>) -> Self::Arguments;

    /// The body, for one element of each array.
    fn value(inputs: [T::Compute; INPUTS], arguments: Self::Arguments) -> T::Compute;
}

/// The kernel of a [`Pointwise`].
pub fn pointwise<P: Pointwise<T, INPUTS>, T: Real, const INPUTS: usize>(views: &mut Views<'_>) {
    let arguments = P::arguments(views);
    views.for_each_run(|run| {
        let inputs = std::array::from_fn(|_| run.slice::<T>());
        map(run.slice_mut::<T>(), Elements::<P, T, INPUTS> { inputs, arguments });
    });
}

/// The same on several cores.
pub fn pointwise_in_parallel<P: Pointwise<T, INPUTS>, T: Real, const INPUTS: usize>(views: &mut Views<'_>) {
    let arguments = P::arguments(views);
    views.for_each_run_in_parallel(|run| {
        let inputs = std::array::from_fn(|_| run.slice::<T>());
        map(run.slice_mut::<T>(), Elements::<P, T, INPUTS> { inputs, arguments });
    });
}

/// A run of elements.
struct Elements<'a, P: Pointwise<T, INPUTS>, T: Real, const INPUTS: usize> {
    inputs: [&'a [T]; INPUTS],
    arguments: P::Arguments,
}

impl<P: Pointwise<T, INPUTS>, T: Real, const INPUTS: usize> Body<T> for Elements<'_, P, T, INPUTS> {
    type Wide = T::Compute;

    #[inline(always)]
    fn narrows_in_blocks<const LEVEL: u8>(at: At<LEVEL>) -> bool {
        narrows_in_blocks::<T, LEVEL>(at)
    }

    #[inline(always)]
    fn compute<const LEVEL: u8>(&self, at: At<LEVEL>, begin: usize, out: &mut [T], wide: &mut [T::Compute]) {
        let len = out.len();
        let inputs = self.inputs.map(|input| &input[begin..][..len]);
        let arguments = self.arguments;
        if narrows_in_blocks::<T, LEVEL>(at) {
            let wide = &mut wide[..len];
            for i in 0..len {
                wide[i] = P::value(inputs.map(|input| widen(at, input[i])), arguments);
            }
            narrow_block(at, wide, out);
        } else {
            for i in 0..len {
                out[i] = T::narrow(P::value(inputs.map(|input| widen(at, input[i])), arguments));
            }
        }
    }
}
