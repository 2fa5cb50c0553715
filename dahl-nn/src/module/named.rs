//! [`Named`]: a parameter with its name in a model.

use std::ops::Deref;

use dahl::prelude::*;

use super::{Member, Module, Parameter, Visit};

/// A parameter and its name: the fields on the way to it, joined by dots.
#[derive(Debug)]
pub struct Named<'a, T: Real> {
    name: String,
    parameter: &'a Parameter<'a, T>,
}

impl<'a, T: Real> Named<'a, T> {
    /// The name: `blocks.1.norm.weight`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The parameter.
    pub fn parameter(&self) -> &'a Parameter<'a, T> {
        self.parameter
    }
}

impl<'a, T: Real> Deref for Named<'a, T> {
    type Target = Parameter<'a, T>;

    fn deref(&self) -> &Parameter<'a, T> {
        self.parameter
    }
}

pub(super) fn parameters<T: Real, M: Module<T> + ?Sized>(module: &M) -> Vec<Named<'_, T>> {
    let mut parameters = Vec::new();
    Visit::all(module, &mut |name, member| {
        if let Member::Parameter(parameter) = member {
            parameters.push(Named { name: name.to_string(), parameter });
        }
    });
    parameters
}
