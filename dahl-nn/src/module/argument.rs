//! Modules as arguments of programs: their parameters with gradients, and their buffers.

use dahl::prelude::*;
use dahl::program::Bindings;

use super::{Member, MemberMut, Module, Visit, VisitMut};

/// Adds the arrays of a module that a program may change.
pub fn bind_mut<T: Real, M: Module<T>>(module: &mut M, bindings: &mut Bindings<'_>) {
    VisitMut::all(module, &mut |_, member| match member {
        MemberMut::Parameter(parameter) => {
            bindings.count(usize::from(parameter.frozen));
            bindings.write_inside(&mut parameter.value);
            bindings.write_inside(&mut parameter.gradient);
        }
        MemberMut::Buffer(buffer) => bindings.write_inside(&mut *buffer.value()),
    });
}

/// Adds the arrays of a module that a program reads; buffers, which a forward pass may change, it may change.
pub fn bind<T: Real, M: Module<T>>(module: &M, bindings: &mut Bindings<'_>) {
    Visit::all(module, &mut |_, member| match member {
        Member::Parameter(parameter) => {
            bindings.count(usize::from(parameter.frozen));
            bindings.read_inside(&parameter.value);
            bindings.read_inside(&parameter.gradient);
        }
        Member::Buffer(buffer) => bindings.write_inside(&mut *buffer.value()),
        Member::Module { .. } => {}
    });
}

/// Adds a name for each of these arrays.
pub fn name<T: Real, M: Module<T>>(module: &M, name: &str, names: &mut Vec<String>) {
    Visit::all(module, &mut |inside, member| match member {
        Member::Parameter(_) => {
            names.extend([format!("{name}.{inside}"), format!("{name}.{inside}.gradient")])
        }
        Member::Buffer(_) => names.push(format!("{name}.{inside}")),
        Member::Module { .. } => {}
    });
}

/// Lets modules of dahl be arguments of programs, as `#[derive(Module)]` does with others.
macro_rules! impl_program_argument {
    ($($module:ty),* $(,)?) => {$(
        impl<T: dahl::Real> dahl::program::ProgramArgument for &mut $module {
            fn bind<'b>(&'b mut self, bindings: &mut dahl::program::Bindings<'b>) {
                $crate::__private::bind_mut::<T, _>(&mut **self, bindings);
            }

            fn name(&self, name: &str, names: &mut Vec<String>) {
                $crate::__private::name::<T, _>(&**self, name, names);
            }
        }

        impl<T: dahl::Real> dahl::program::ProgramArgument for &$module {
            fn bind<'b>(&'b mut self, bindings: &mut dahl::program::Bindings<'b>) {
                $crate::__private::bind::<T, _>(&**self, bindings);
            }

            fn name(&self, name: &str, names: &mut Vec<String>) {
                $crate::__private::name::<T, _>(&**self, name, names);
            }
        }
    )*};
}

impl_program_argument!(crate::Sequential<'_, T>, crate::layer::Linear<'_, T>);
