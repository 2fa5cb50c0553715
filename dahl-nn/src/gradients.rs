//! Gradients of a loss by the parameters of a model.

use std::marker::PhantomData;
use std::panic::Location;

use dahl::__nn::{Pass, SealedWanted};
use dahl::Accumulated;
use dahl::prelude::*;

use crate::error::Error;
use crate::module::{Member, MemberMut, Module, Name, Parameter, Visit, VisitMut};

/// Adds the gradients of `loss` by the parameters that are not frozen to theirs.
#[track_caller]
pub(crate) fn accumulate<T: Real, M: Module<T>>(
    tape: &Tape<'_>,
    loss: &Scalar<'_, T>,
    model: &mut M,
) -> dahl::Result<()> {
    let mut all_are_frozen = true;
    Visit::all(&*model, &mut |_, member| {
        all_are_frozen &= !matches!(member, Member::Parameter(parameter) if !parameter.frozen);
    });
    if all_are_frozen {
        return Ok(());
    }
    let location = Location::caller();
    tape.accumulate(loss, Gradients { model, location, element: PhantomData })
}

/// Adds the gradients of `loss` by the parameters that are not frozen to `sums`, one for each, in their order.
#[track_caller]
pub(crate) fn accumulate_to<T: Real, M: Module<T>>(
    tape: &Tape<'_>,
    loss: &Scalar<'_, T>,
    model: &M,
    sums: Vec<&mut Vector<'_, T>>,
) -> dahl::Result<()> {
    if sums.is_empty() {
        return Ok(());
    }
    tape.accumulate(loss, GradientsTo { model, sums, location: Location::caller() })
}

/// Calls `f` with each parameter that is not frozen, and its name.
pub(crate) fn for_each_learned<'a, T: Real, M: Module<T>>(
    model: &'a M,
    mut f: impl FnMut(&Name<'_>, &'a Parameter<'a, T>),
) {
    Visit::all(model, &mut |name, member| {
        if let Member::Parameter(parameter) = member
            && !parameter.frozen
        {
            f(name, parameter);
        }
    });
}

/// The gradients of a model's parameters, with a sum for each that is not the parameter's.
struct GradientsTo<'a, 's, T: Real, M> {
    model: &'a M,
    sums: Vec<&'a mut Vector<'s, T>>,
    location: &'static Location<'static>,
}

impl<T: Real, M: Module<T>> SealedWanted for GradientsTo<'_, '_, T, M> {}

impl<T: Real, M: Module<T>> Accumulated for GradientsTo<'_, '_, T, M> {
    fn want(&self, pass: &mut Pass<'_>) {
        let mut sums = self.sums.iter();
        for_each_learned(self.model, |_, parameter| {
            if let Some(sum) = sums.next() {
                pass.want_sum(&parameter.value, sum);
            }
        });
    }

    fn require_found(&self, pass: &Pass<'_>) -> dahl::Result<()> {
        let mut result = Ok(());
        for_each_learned(self.model, |name, parameter| {
            if result.is_ok() && pass.require_found(&parameter.value).is_err() {
                let (parameter, location) = (name.to_string(), self.location);
                result = Err(Error::Unused { parameter, location }.into());
            }
        });
        result
    }

    fn add(self, pass: &Pass<'_>) -> dahl::Result<()> {
        let (mut result, mut sums) = (Ok(()), self.sums.into_iter());
        for_each_learned(self.model, |_, parameter| {
            if let (Some(sum), Ok(())) = (sums.next(), &result) {
                result = pass.accumulate(&parameter.value, sum);
            }
        });
        result
    }
}

/// The gradients of a model's parameters, as sums of a reverse pass.
struct Gradients<'a, T: Real, M> {
    model: &'a mut M,
    location: &'static Location<'static>,
    element: PhantomData<T>,
}

impl<T: Real, M: Module<T>> SealedWanted for Gradients<'_, T, M> {}

impl<T: Real, M: Module<T>> Accumulated for Gradients<'_, T, M> {
    fn want(&self, pass: &mut Pass<'_>) {
        Visit::all(&*self.model, &mut |_, member| {
            if let Member::Parameter(parameter) = member
                && !parameter.frozen
            {
                pass.want_sum(&parameter.value, &parameter.gradient);
            }
        });
    }

    fn require_found(&self, pass: &Pass<'_>) -> dahl::Result<()> {
        let mut result = Ok(());
        Visit::all(&*self.model, &mut |name, member| {
            if let (Member::Parameter(parameter), Ok(())) = (member, &result)
                && !parameter.frozen
                && pass.require_found(&parameter.value).is_err()
            {
                let (parameter, location) = (name.to_string(), self.location);
                result = Err(Error::Unused { parameter, location }.into());
            }
        });
        result
    }

    fn add(self, pass: &Pass<'_>) -> dahl::Result<()> {
        let mut result = Ok(());
        VisitMut::all(self.model, &mut |_, member| {
            if let (MemberMut::Parameter(parameter), Ok(())) = (member, &result)
                && !parameter.frozen
            {
                result = pass.accumulate(&parameter.value, &mut parameter.gradient);
            }
        });
        result
    }
}
