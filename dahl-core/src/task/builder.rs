//! [`Task`]: a submission in the making.
#![allow(unsafe_code, reason = "fills in a record that it took and has not submitted")]

use std::fmt::Debug;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::Arc;

use super::record::{Kind, Record};
use super::step::Step;
use crate::access::AccessMode;
use crate::argument::Argument;
use crate::array::{Array, byte_len};
use crate::codelet::{Codelet, Parameter, in_kernel};
use crate::element::Element;
use crate::engine::Shared;
use crate::error::{Error, ErrorKind, Result};

/// A task that has its arrays and arguments and waits to be submitted: `Axpy::task(&x, &y, &mut out, 2.0)`.
///
/// ```ignore
/// Axpy::task(&x, &y, &mut out, 2.0).priority(1).name("update").submit()?;
/// ```
#[must_use = "a task does nothing until `.submit()`"]
#[derive(Debug)]
pub struct Task<'a> {
    pub(super) codelet: &'static Codelet,
    pub(super) in_place: bool,
    /// Where it will run, from its first array.
    pub(super) target: Option<(&'a Arc<Shared>, &'a Record)>,
    accesses: usize,
    pub(super) error: Option<Error>,
    pub(super) location: &'static Location<'static>,
    pub(super) synchronous: bool,
    borrows: PhantomData<&'a mut ()>,
}

impl<'a> Task<'a> {
    /// A task of `codelet`, without arrays yet.
    #[doc(hidden)]
    #[track_caller]
    pub fn new(codelet: &'static Codelet) -> Self {
        Self {
            codelet,
            in_place: false,
            target: None,
            accesses: 0,
            error: None,
            location: Location::caller(),
            synchronous: false,
            borrows: PhantomData,
        }
    }

    /// A task of `codelet` over one of its inputs, without arrays yet.
    #[doc(hidden)]
    #[track_caller]
    pub fn new_in_place(codelet: &'static Codelet) -> Self {
        let mut task = Self::new(codelet);
        task.in_place = true;
        task
    }

    /// The parameter of the next access, and its mode in this variant.
    fn next_parameter(&mut self) -> (&'static Parameter, AccessMode) {
        let mut index = self.accesses;
        self.accesses += 1;
        let mut mode_of_target = None;
        if let (true, Some(in_place)) = (self.in_place, &self.codelet.in_place) {
            let output = self.codelet.output().expect("a codelet with `_self` has an output");
            if index >= output {
                index += 1;
            }
            mode_of_target = (index == in_place.target).then_some(AccessMode::RW);
        }
        let parameter = &self.codelet.parameters[index];
        (parameter, mode_of_target.unwrap_or(parameter.mode))
    }

    fn push<T: Element, const N: usize>(&mut self, array: &'a Array<'_, T, N>) {
        let (parameter, mode) = self.next_parameter();
        assert!(
            parameter.element.is::<T>(),
            "{}: `{}` has another element type",
            self.codelet.name,
            parameter.name
        );
        let Some(record) = self.record_for(array.state().shared()) else { return };
        // SAFETY: the record was taken by `record_for` and is not submitted.
        unsafe { record.push_access(array.state(), mode, |layout| array.set_layout(layout)) };
    }

    /// The record to fill in; nothing if there is an error.
    pub(super) fn record_for(&mut self, shared: &'a Arc<Shared>) -> Option<&'a Record> {
        if self.error.is_some() {
            return None;
        }
        match self.target {
            Some((ours, record)) if Arc::ptr_eq(ours, shared) => return Some(record),
            Some(_) => {
                self.fail(Error::at(ErrorKind::TwoRuntimes { codelet: self.codelet.name }, self.location))
            }
            None if in_kernel() => {
                self.fail(Error::at(ErrorKind::InsideKernel { call: self.codelet.name }, self.location));
            }
            None if shared.is_stopped() => {
                self.fail(Error::at(ErrorKind::RuntimeDropped { subject: self.codelet.name }, self.location));
            }
            None => {
                let record = shared.take_record();
                // SAFETY: the record was just taken.
                unsafe { record.clear() };
                // SAFETY: as above.
                let body = unsafe { record.body_mut() };
                body.codelet = Some(self.codelet);
                body.kind = Kind::Kernel;
                body.in_place = self.in_place;
                body.location = self.location;
                self.target = Some((shared, record));
                return Some(record);
            }
        }
        None
    }

    /// Adds an array that is read.
    #[doc(hidden)]
    pub fn read<T: Element, const N: usize>(&mut self, array: &'a Array<'_, T, N>) {
        self.push(array);
    }

    /// Adds an array that changes.
    #[doc(hidden)]
    pub fn write<T: Element, const N: usize>(&mut self, array: &'a mut Array<'_, T, N>) {
        self.push(array);
    }

    /// Adds a temporary buffer.
    #[doc(hidden)]
    pub fn scratch<T: Element, const N: usize>(&mut self, shape: [usize; N]) {
        self.next_parameter();
        let Some((_, record)) = self.target.filter(|_| self.error.is_none()) else { return };
        if let Err(error) = byte_len::<T>(&shape) {
            return self.fail(Error::at(error.kind().clone(), self.location));
        }
        // SAFETY: the record was taken and is not submitted.
        unsafe {
            record.push_access(ptr::null(), AccessMode::SCRATCH, |layout| layout.set_contiguous(&shape))
        };
    }

    /// Adds a plain argument.
    #[doc(hidden)]
    pub fn argument<A: Argument>(&mut self, value: A) {
        let Some((_, record)) = self.target.filter(|_| self.error.is_none()) else { return };
        // SAFETY: the record was taken and is not submitted.
        let arguments = &mut unsafe { record.body_mut() }.arguments;
        let start = arguments.len();
        arguments.resize(start + A::SIZE_BYTES, 0);
        value.encode(&mut arguments[start..]);
    }

    /// Notes an error, which [`submit`](Task::submit) returns. The first one counts.
    #[doc(hidden)]
    pub fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    /// Requires that a precondition holds.
    #[doc(hidden)]
    pub fn require(&mut self, holds: bool, expression: &'static str, values: &[(&'static str, &dyn Debug)]) {
        if !holds && self.error.is_none() {
            self.fail(check_error(self.codelet, expression, values, self.location));
        }
    }

    /// Submits the task and returns at once, unless it is [`synchronous`](Self::synchronous): it runs when the tasks
    /// before it that it depends on have run.
    ///
    /// # Errors
    /// What is known to be wrong now: shapes, preconditions, arrays of two runtimes. What goes wrong later comes out
    /// where its outputs are read; of a synchronous task also here.
    pub fn submit(mut self) -> Result<()> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let (shared, record) = self.target.take().expect("a codelet has an array");
        if let Err(error) = self.require_submittable().and_then(|()| self.contribute(record)) {
            // SAFETY: the record was taken and is not submitted.
            drop(unsafe { record.take_callback() });
            Step::new(shared, None).give_back(record);
            return Err(error);
        }
        // Nothing can fail from here on: what an output held may be forgotten.
        for access in record.accesses() {
            if let Some(array) = access.array() {
                array.make_way(access.body().mode);
            }
        }
        // SAFETY: the record was taken and is not submitted.
        let body = unsafe { record.body_mut() };
        body.sequence = shared.next_sequence();
        // SAFETY: as above.
        let outcome = self.synchronous.then(|| unsafe { record.note_outcome() });
        // The task is counted already: should the observer panic, it is submitted all the same.
        let observed = catch_unwind(AssertUnwindSafe(|| shared.observe(record)));
        Step::new(shared, None).submit(record);
        shared.serve_if_stopped();
        observed.unwrap_or_else(|panic| resume_unwind(panic));
        outcome.map_or(Ok(()), |outcome| outcome.wait(shared))
    }
}

impl Task<'_> {
    /// What only the submission can know.
    fn require_submittable(&self) -> Result<()> {
        if in_kernel() {
            return Err(Error::at(ErrorKind::InsideKernel { call: self.codelet.name }, self.location));
        }
        match self.codelet.cpu_kernel() {
            Some(_) => Ok(()),
            None => Err(Error::at(no_kernel(self.codelet, None), self.location)),
        }
    }

    /// Sends each contribution to a reduction to its leaf; none if there is one that cannot be had.
    fn contribute(&self, record: &Record) -> Result<()> {
        let parameters = self.codelet.parameters.iter().enumerate();
        let reduced =
            parameters.filter_map(|(index, parameter)| Some((index, parameter.accumulator.as_ref()?)));
        for (index, accumulator) in reduced.clone() {
            let access = record.access(index);
            let target = access.array().expect("a reduction has an array");
            let layout = &access.body().layout;
            target.make_way(access.body().mode);
            target.reductions().reserve(target, self.codelet, accumulator, layout, self.location)?;
        }
        for (index, _) in reduced {
            let target = record.access(index).array().expect("a reduction has an array");
            let contribution = target.reductions().contribute(target, record.body().place);
            // SAFETY: the record was taken and is not submitted.
            unsafe { record.redirect(index, &contribution) };
        }
        Ok(())
    }
}

impl Drop for Task<'_> {
    fn drop(&mut self) {
        if let Some((shared, record)) = self.target.take() {
            // SAFETY: the record was taken and is not submitted.
            drop(unsafe { record.take_callback() });
            Step::new(shared, None).give_back(record);
        }
    }
}

pub(super) fn no_kernel(codelet: &Codelet, name: Option<&str>) -> ErrorKind {
    let element = codelet.parameters.first().map_or("", |parameter| parameter.element.name);
    let kernels = codelet.kernels.iter().flatten().chain(codelet.on_cuda());
    let kernels = kernels.map(|kernel| kernel.name()).collect::<Vec<_>>().join(", ");
    let kernel = name.map_or_else(|| "kernel".to_owned(), |name| format!("kernel `{name}`"));
    ErrorKind::NoKernel { codelet: codelet.name, kernel, element, kernels }
}

pub(crate) fn check_error(
    codelet: &Codelet,
    expression: &'static str,
    values: &[(&'static str, &dyn Debug)],
    location: &'static Location<'static>,
) -> Error {
    let values =
        values.iter().map(|(name, value)| format!("{name}: {value:?}")).collect::<Vec<_>>().join(", ");
    Error::at(ErrorKind::Check { codelet: codelet.name, expression, values }, location)
}
