//! [`Returned`]: what a program can return.

use dahl_core::__program::{Bindings, Engine, Outputs};
use dahl_core::{Array, Element, Result};

/// What a program can return: nothing, arrays that it has made, and tuples of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be returned by a program",
    label = "neither `()` nor arrays",
    note = "a program returns `()`, an array that it has made, or a tuple of such arrays"
)]
pub trait Returned {
    /// What a call returns: the same arrays, of the caller's runtime, on their own.
    type Kept;

    /// Notes the arrays of a recording.
    #[doc(hidden)]
    fn note(&self, outputs: &mut Outputs);

    /// Makes the arrays of a call, with these shapes, the first ones.
    #[doc(hidden)]
    fn make(engine: &Engine, shapes: &mut &[Vec<usize>]) -> Result<Self::Kept>;

    /// Adds the arrays of a call, which a replay is to write.
    #[doc(hidden)]
    fn bind<'b>(kept: &'b mut Self::Kept, bindings: &mut Bindings<'b>);
}

impl Returned for () {
    type Kept = ();

    fn note(&self, _: &mut Outputs) {}

    fn make(_: &Engine, _: &mut &[Vec<usize>]) -> Result<()> {
        Ok(())
    }

    fn bind<'b>(_: &'b mut (), _: &mut Bindings<'b>) {}
}

impl<T: Element, const N: usize> Returned for Array<'_, T, N> {
    type Kept = Array<'static, T, N>;

    fn note(&self, outputs: &mut Outputs) {
        outputs.array(self);
    }

    fn make(engine: &Engine, shapes: &mut &[Vec<usize>]) -> Result<Self::Kept> {
        let (shape, rest) = shapes.split_first().expect("as many arrays as were recorded");
        *shapes = rest;
        engine.output(shape[..].try_into().expect("the rank is in the type"))
    }

    fn bind<'b>(kept: &'b mut Self::Kept, bindings: &mut Bindings<'b>) {
        bindings.write(kept);
    }
}

macro_rules! impl_tuples {
    ($($name:ident $index:tt),*) => {
        impl<$($name: Returned),*> Returned for ($($name,)*) {
            type Kept = ($($name::Kept,)*);

            fn note(&self, outputs: &mut Outputs) {
                $(self.$index.note(outputs);)*
            }

            fn make(engine: &Engine, shapes: &mut &[Vec<usize>]) -> Result<Self::Kept> {
                Ok(($($name::make(engine, shapes)?,)*))
            }

            fn bind<'b>(kept: &'b mut Self::Kept, bindings: &mut Bindings<'b>) {
                $($name::bind(&mut kept.$index, bindings);)*
            }
        }
    };
}

impl_tuples!(A 0);
impl_tuples!(A 0, B 1);
impl_tuples!(A 0, B 1, C 2);
impl_tuples!(A 0, B 1, C 2, D 3);
impl_tuples!(A 0, B 1, C 2, D 3, E 4);
impl_tuples!(A 0, B 1, C 2, D 3, E 4, F 5);
