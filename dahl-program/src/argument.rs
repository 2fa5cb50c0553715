//! [`ProgramArgument`]: what a program can be called with; [`Arguments`]: all arguments of a call.

use dahl_core::__program::{Bindings, Varying};
use dahl_core::{Argument, Array, Element};

/// An argument of a program: an array, behind `&` or `&mut`, several of them, or a plain value.
///
/// A plain value is a part of what is recorded: with another value the program is recorded again.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a program",
    label = "neither arrays behind a reference nor a plain value",
    note = "arguments are `&Array`, `&mut Array`, slices and tuples of them, and values whose type has `#[derive(Argument)]`"
)]
pub trait ProgramArgument {
    /// Adds the arrays and values.
    #[doc(hidden)]
    fn bind<'b>(&'b mut self, bindings: &mut Bindings<'b>);

    /// Adds a name for each array, for one called `name`.
    #[doc(hidden)]
    fn name(&self, name: &str, names: &mut Vec<String>);

    /// A replay has been submitted, whose tasks took arguments from these slots: the argument does what the function would
    /// have done to it, apart from its arrays.
    #[doc(hidden)]
    fn replayed(&mut self, _slots: &Slots) {}
}

/// The slots of a call's numbers from which tasks of the program take their plain arguments.
#[derive(Clone, Debug, Default)]
pub struct Slots(Vec<usize>);

impl Slots {
    pub(crate) fn of(varying: &[Vec<Varying>]) -> Self {
        let slot = |varying: &Varying| match varying {
            Varying::Arguments { slot, .. } => Some(*slot),
            Varying::Random { .. } => None,
        };
        let mut slots: Vec<_> = varying.iter().flatten().filter_map(slot).collect();
        slots.sort_unstable();
        slots.dedup();
        Self(slots)
    }

    /// Whether tasks take arguments from a slot.
    pub fn contains(&self, slot: usize) -> bool {
        self.0.binary_search(&slot).is_ok()
    }
}

/// An argument, as it is.
#[doc(hidden)]
pub fn argument<A: ProgramArgument>(argument: A) -> A {
    argument
}

/// The arguments of a call.
pub trait Arguments {
    /// Adds the arrays and values.
    #[doc(hidden)]
    fn bind<'b>(&'b mut self, bindings: &mut Bindings<'b>);

    /// Adds a name for each array of the parameters called `parameters`.
    #[doc(hidden)]
    fn name(&self, parameters: &[&str], names: &mut Vec<String>);

    /// A replay has been submitted, whose tasks took arguments from these slots.
    #[doc(hidden)]
    fn replayed(&mut self, _slots: &Slots) {}
}

impl<T: Element, const N: usize> ProgramArgument for &Array<'_, T, N> {
    fn bind<'b>(&'b mut self, bindings: &mut Bindings<'b>) {
        bindings.read(self);
    }

    fn name(&self, name: &str, names: &mut Vec<String>) {
        names.push(name.to_owned());
    }
}

impl<T: Element, const N: usize> ProgramArgument for &mut Array<'_, T, N> {
    fn bind<'b>(&'b mut self, bindings: &mut Bindings<'b>) {
        bindings.write(self);
    }

    fn name(&self, name: &str, names: &mut Vec<String>) {
        names.push(name.to_owned());
    }
}

impl<T: Element, const N: usize> ProgramArgument for &[Array<'_, T, N>] {
    fn bind<'b>(&'b mut self, bindings: &mut Bindings<'b>) {
        bindings.count(self.len());
        self.iter().for_each(|array| bindings.read(array));
    }

    fn name(&self, name: &str, names: &mut Vec<String>) {
        names.extend((0..self.len()).map(|index| format!("{name}[{index}]")));
    }
}

impl<T: Element, const N: usize> ProgramArgument for &mut [Array<'_, T, N>] {
    fn bind<'b>(&'b mut self, bindings: &mut Bindings<'b>) {
        bindings.count(self.len());
        self.iter_mut().for_each(|array| bindings.write(array));
    }

    fn name(&self, name: &str, names: &mut Vec<String>) {
        names.extend((0..self.len()).map(|index| format!("{name}[{index}]")));
    }
}

/// A plain value among the arguments of a program: `#[program]` wraps parameters in it that are no references.
#[derive(Clone, Copy, Debug)]
pub struct Value<A>(pub A);

impl<A: Argument> ProgramArgument for Value<A> {
    fn bind<'b>(&'b mut self, bindings: &mut Bindings<'b>) {
        bindings.value(self.0);
    }

    fn name(&self, _: &str, _: &mut Vec<String>) {}
}

macro_rules! impl_tuples {
    ($($name:ident $index:tt),*) => {
        impl<$($name: ProgramArgument),*> ProgramArgument for ($($name,)*) {
            fn bind<'b>(&'b mut self, bindings: &mut Bindings<'b>) {
                $(self.$index.bind(bindings);)*
            }

            fn name(&self, name: &str, names: &mut Vec<String>) {
                $(self.$index.name(&format!("{name}.{}", $index), names);)*
            }

            fn replayed(&mut self, slots: &Slots) {
                $(self.$index.replayed(slots);)*
            }
        }

        impl<$($name: ProgramArgument),*> Arguments for ($($name,)*) {
            fn bind<'b>(&'b mut self, bindings: &mut Bindings<'b>) {
                $(ProgramArgument::bind(&mut self.$index, bindings);)*
            }

            fn name(&self, parameters: &[&str], names: &mut Vec<String>) {
                $(ProgramArgument::name(&self.$index, parameters[$index], names);)*
            }

            fn replayed(&mut self, slots: &Slots) {
                $(ProgramArgument::replayed(&mut self.$index, slots);)*
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
impl_tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
impl_tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
impl_tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
impl_tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
impl_tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10);
impl_tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11);
