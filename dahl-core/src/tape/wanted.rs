//! [`Wanted`] and [`Accumulated`]: the arrays by which gradients are wanted; [`GradientElement`]: their elements.

use super::pass::Pass;
use crate::array::Array;
use crate::element::Real;
use crate::error::Result;

pub(super) mod sealed {
    /// Implemented by what gradients can be asked for by, `dahl_nn`'s models among it.
    pub trait Sealed {}
}

/// An element type of arrays of which, and by which, there are gradients: every [`Real`].
#[diagnostic::on_unimplemented(
    message = "gradients exist only for real arrays, and `{Self}` is not a real number",
    label = "an array of `{Self}`",
    note = "real numbers are `f16`, `bf16`, `f32`, `f64` and other types that implement `Real`; nothing flows to integers, such as labels and indices"
)]
pub trait GradientElement: Real {}

#[diagnostic::do_not_recommend]
impl<T: Real> GradientElement for T {}

/// Arrays by which gradients are wanted: `&array`, or a tuple of such.
#[diagnostic::on_unimplemented(
    message = "gradients by `{Self}` cannot be asked for",
    note = "give `&array` of real numbers, or a tuple of up to 12 of such"
)]
pub trait Wanted: sealed::Sealed {
    /// The gradients: arrays of the same types.
    type Gradients<'t>;

    /// Asks a pass for the gradients.
    #[doc(hidden)]
    fn want(&self, pass: &mut Pass<'_>);

    /// The gradients that a pass has found.
    #[doc(hidden)]
    fn take<'t>(&self, pass: &Pass<'t>) -> Result<Self::Gradients<'t>>;
}

/// Arrays by which gradients are wanted, each with the array that its gradient is added to: `(&x, &mut by_x)`, or a tuple of
/// such pairs.
#[diagnostic::on_unimplemented(
    message = "gradients cannot be added to `{Self}`",
    note = "give `(&array, &mut sum)`, or a tuple of up to 12 of such pairs"
)]
pub trait Accumulated: sealed::Sealed {
    /// Asks a pass for the gradients.
    #[doc(hidden)]
    fn want(&self, pass: &mut Pass<'_>);

    /// Requires that the pass has found all of them.
    #[doc(hidden)]
    fn require_found(&self, pass: &Pass<'_>) -> Result<()>;

    /// Adds the gradients that a pass has found.
    #[doc(hidden)]
    fn add(self, pass: &Pass<'_>) -> Result<()>;
}

impl<T: GradientElement, const N: usize> sealed::Sealed for &Array<'_, T, N> {}

impl<T: GradientElement, const N: usize> Wanted for &Array<'_, T, N> {
    type Gradients<'t> = Array<'t, T, N>;

    fn want(&self, pass: &mut Pass<'_>) {
        pass.want_array(self);
    }

    fn take<'t>(&self, pass: &Pass<'t>) -> Result<Array<'t, T, N>> {
        pass.take(self)
    }
}

impl<T: GradientElement, const N: usize> sealed::Sealed for &mut Array<'_, T, N> {}

impl<T: GradientElement, const N: usize> Accumulated for (&Array<'_, T, N>, &mut Array<'_, T, N>) {
    fn want(&self, pass: &mut Pass<'_>) {
        pass.want_sum(self.0, self.1);
    }

    fn require_found(&self, pass: &Pass<'_>) -> Result<()> {
        pass.require_found(self.0)
    }

    fn add(self, pass: &Pass<'_>) -> Result<()> {
        pass.accumulate(self.0, self.1)
    }
}

macro_rules! tuples {
    ($(($($Item:ident $place:tt),+);)*) => {$(
        impl<$($Item: sealed::Sealed),+> sealed::Sealed for ($($Item,)+) {}

        impl<$($Item: Wanted),+> Wanted for ($($Item,)+) {
            type Gradients<'t> = ($($Item::Gradients<'t>,)+);

            fn want(&self, pass: &mut Pass<'_>) {
                $(self.$place.want(pass);)+
            }

            fn take<'t>(&self, pass: &Pass<'t>) -> Result<Self::Gradients<'t>> {
                Ok(($(self.$place.take(pass)?,)+))
            }
        }

        impl<$($Item: Accumulated),+> Accumulated for ($($Item,)+) {
            fn want(&self, pass: &mut Pass<'_>) {
                $(self.$place.want(pass);)+
            }

            fn require_found(&self, pass: &Pass<'_>) -> Result<()> {
                $(self.$place.require_found(pass)?;)+
                Ok(())
            }

            fn add(self, pass: &Pass<'_>) -> Result<()> {
                $(self.$place.add(pass)?;)+
                Ok(())
            }
        }
    )*};
}

tuples! {
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11);
}
