//! [`Visit`] and [`VisitMut`]: a walk over the parameters and buffers of a module, with their names.

use std::fmt::{self, Display};

use dahl::prelude::*;

use super::{Buffer, Module, Name, Parameter};

/// Something inside of a module.
#[derive(Debug)]
pub enum Member<'a, 'd, T: Real> {
    /// A parameter.
    Parameter(&'a Parameter<'a, T>),
    /// A buffer.
    Buffer(&'a Buffer<T>),
    /// A module; what is inside of it follows.
    Module {
        /// The name of its type.
        kind: &'static str,
        /// Its settings: `64 -> 10`.
        detail: fmt::Arguments<'d>,
    },
}

/// Something inside of a module that can be changed.
#[derive(Debug)]
pub enum MemberMut<'a, 'm, T: Real> {
    /// A parameter.
    Parameter(&'a mut Parameter<'m, T>),
    /// A buffer.
    Buffer(&'a mut Buffer<T>),
}

/// A walk over what is inside of a module.
pub struct Visit<'v, 'a, T: Real> {
    name: Name<'v>,
    see: &'v mut dyn FnMut(&Name<'_>, Member<'a, '_, T>),
}

impl<'v, 'a, T: Real> Visit<'v, 'a, T> {
    /// Calls `see` with the name and each member of `module`.
    pub fn all<M: Module<T> + ?Sized>(module: &'a M, see: &'v mut dyn FnMut(&Name<'_>, Member<'a, '_, T>)) {
        module.visit(&mut Self { name: Name::ROOT, see });
    }

    /// Visits a field.
    pub fn field<M: Module<T> + ?Sized>(&mut self, name: impl Display, module: &'a M) {
        module.visit(&mut Visit { name: self.name.of_field(&name), see: &mut *self.see });
    }

    /// Says that a module of this type begins, with its settings as text. A table of modules prints both.
    pub fn module(&mut self, kind: &'static str, detail: fmt::Arguments<'_>) {
        (self.see)(&self.name, Member::Module { kind, detail });
    }

    pub(super) fn member(&mut self, member: Member<'a, 'static, T>) {
        (self.see)(&self.name, member);
    }
}

/// A walk over what is inside of a module, mutably.
pub struct VisitMut<'v, T: Real> {
    name: Name<'v>,
    see: &'v mut dyn FnMut(&Name<'_>, MemberMut<'_, '_, T>),
}

impl<'v, T: Real> VisitMut<'v, T> {
    /// Calls `see` with the name and each member of `module`.
    pub fn all<M: Module<T> + ?Sized>(
        module: &mut M,
        see: &'v mut dyn FnMut(&Name<'_>, MemberMut<'_, '_, T>),
    ) {
        module.visit_mut(&mut Self { name: Name::ROOT, see });
    }

    /// Visits a field.
    pub fn field<M: Module<T> + ?Sized>(&mut self, name: impl Display, module: &mut M) {
        module.visit_mut(&mut VisitMut { name: self.name.of_field(&name), see: &mut *self.see });
    }

    pub(super) fn member(&mut self, member: MemberMut<'_, '_, T>) {
        (self.see)(&self.name, member);
    }
}

/// Calls `f` with every parameter until a call fails.
pub(super) fn for_each_parameter<T: Real, M: Module<T> + ?Sized>(
    module: &mut M,
    f: &mut dyn FnMut(&Name<'_>, &mut Parameter<'_, T>) -> dahl::Result<()>,
) -> dahl::Result<()> {
    let mut result = Ok(());
    VisitMut::all(module, &mut |name, member| {
        if let (MemberMut::Parameter(parameter), Ok(())) = (member, &result) {
            result = f(name, parameter);
        }
    });
    result
}

/// Whether a name is that of `module`, or of something inside of it.
fn is_inside(name: &str, module: &str) -> bool {
    let module = module.trim_end_matches('.');
    let rest = name.strip_prefix(module);
    module.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Freezes the parameters of a module by its name, or a parameter, or includes them again. Returns how many.
pub(super) fn set_frozen<T: Real, M: Module<T> + ?Sized>(
    module: &mut M,
    prefix: &str,
    frozen: bool,
) -> usize {
    let mut count = 0;
    VisitMut::all(module, &mut |name, member| {
        if let MemberMut::Parameter(parameter) = member
            && is_inside(&name.to_string(), prefix)
        {
            parameter.frozen = frozen;
            count += 1;
        }
    });
    count
}
