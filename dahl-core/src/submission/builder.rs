//! [`Task`]: a task before its submission.
use std::fmt::Debug;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::Arc;

use super::gate;
use crate::access::AccessMode;
use crate::argument::Argument;
use crate::array::{Array, Shared, byte_len, is_recording};
use crate::codelet::{Codelet, Parameter, in_kernel};
use crate::description::{AccessDesc, Action, Call, Over, TaskDesc};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::Executor;
use crate::graph::{ArrayState, Engine};
use crate::shape::Layout;
use crate::task::{Draft, drop_copy, runs_here};

/// A task with its arrays and arguments, to be submitted: `Axpy::task(&x, &y, &mut out, 2.0)`.
///
/// ```ignore
/// Axpy::task(&x, &y, &mut out, 2.0).priority(1).name("update").submit()?;
/// ```
#[must_use = "a task does nothing until `.submit()`"]
#[derive(Debug)]
pub struct Task<'a> {
    pub(super) codelet: &'static Codelet,
    pub(super) over: Option<Over>,
    /// Its draft, from its first array on.
    pub(super) draft: Option<Draft<'a, Executor>>,
    accesses: usize,
    pub(super) error: Option<Error>,
    pub(super) location: &'static Location<'static>,
    pub(super) synchronous: bool,
    /// The rank on which it runs, if the program names one.
    pub(super) rank: Option<usize>,
    borrows: PhantomData<&'a mut ()>,
}

impl<'a> Task<'a> {
    /// A task of `codelet`, without arrays.
    #[doc(hidden)]
    #[track_caller]
    pub fn new(codelet: &'static Codelet) -> Self {
        Self {
            codelet,
            over: None,
            draft: None,
            accesses: 0,
            error: None,
            location: Location::caller(),
            synchronous: false,
            rank: None,
            borrows: PhantomData,
        }
    }

    /// A task of `codelet` that overwrites one of its inputs, without arrays.
    #[doc(hidden)]
    #[track_caller]
    pub fn new_in_place(codelet: &'static Codelet) -> Self {
        let mut task = Self::new(codelet);
        task.over = Over::of(codelet);
        task
    }

    /// A task for a call that was described before, of `codelet`, possibly in place.
    pub(crate) fn of_call(
        codelet: &'static Codelet,
        over: Option<Over>,
        location: &'static Location<'static>,
    ) -> Self {
        Self { over, location, ..Self::new(codelet) }
    }

    /// Adds an array with that layout.
    pub(crate) fn push_state(
        &mut self,
        engine: &'a Arc<dyn Engine>,
        array: &'a ArrayState,
        mode: AccessMode,
        layout: &Layout,
    ) {
        if let Some(draft) = self.draft_for(engine) {
            draft.push(array, mode, |own| own.assign(layout));
        }
    }

    /// Adds a temporary buffer with these extents.
    pub(crate) fn push_scratch(&mut self, extents: &[usize]) {
        if let Some(draft) = self.draft.as_mut().filter(|_| self.error.is_none()) {
            draft.push_scratch(extents);
        }
    }

    /// Adds the bytes of plain arguments.
    pub(crate) fn push_arguments(&mut self, bytes: &[u8]) {
        if let Some(draft) = self.draft.as_mut().filter(|_| self.error.is_none()) {
            draft.desc_mut().push_argument(bytes.len()).copy_from_slice(bytes);
        }
    }

    /// Adds an array whose type is not known, with that layout. The parameter is the next one.
    pub(crate) fn push_shared(&mut self, array: &'a Shared, mode: AccessMode, layout: &Layout) {
        let (parameter, _) = self.next_parameter();
        assert!(
            parameter.element == *array.element(),
            "{}: `{}` has another element type",
            self.codelet.name,
            parameter.name
        );
        self.push_state(array.state().engine(), array.state(), mode, layout);
    }

    pub(crate) fn codelet(&self) -> &'static Codelet {
        self.codelet
    }

    pub(crate) fn location(&self) -> &'static Location<'static> {
        self.location
    }

    /// The arrays so far, none for a temporary buffer, and how each is accessed.
    pub(crate) fn operands(&self) -> impl Iterator<Item = (Option<&ArrayState>, &AccessDesc)> {
        let drafts = self.draft.iter();
        drafts.flat_map(|draft| draft.arrays().zip(draft.desc().operand_accesses()))
    }

    /// The bytes of the plain arguments so far.
    pub(crate) fn encoded_arguments(&self) -> &[u8] {
        self.draft.as_ref().map_or(&[], |draft| draft.desc().arguments())
    }

    /// The parameter of the next access, and its mode in this variant.
    fn next_parameter(&mut self) -> (&'static Parameter, AccessMode) {
        let position = self.accesses;
        self.accesses += 1;
        let Some(over) = self.over else {
            let parameter = &self.codelet.parameters[position];
            return (parameter, parameter.mode);
        };
        let parameter = &self.codelet.parameters[over.parameter_of(position)];
        (parameter, if position == over.position { AccessMode::RW } else { parameter.mode })
    }

    fn push<T: Element, const N: usize>(&mut self, array: &'a Array<'_, T, N>) {
        let (parameter, mode) = self.next_parameter();
        assert!(
            parameter.element.is::<T>(),
            "{}: `{}` has another element type",
            self.codelet.name,
            parameter.name
        );
        if array.state().saves().forbids(mode) {
            let (codelet, parameter) = (self.codelet.name, parameter.name);
            self.fail(Error::at(ErrorKind::ChangesTape { codelet, parameter }, self.location));
        }
        if let Some(draft) = self.draft_for(array.state().engine()) {
            draft.push(array.state(), mode, |layout| array.set_layout(layout));
        }
    }

    /// The draft to be filled in; none if there is an error.
    pub(super) fn draft_for(&mut self, engine: &'a Arc<dyn Engine>) -> Option<&mut Draft<'a, Executor>> {
        if self.error.is_some() {
            return None;
        }
        match &self.draft {
            Some(draft) if ptr::addr_eq(draft.engine(), &**engine) => return self.draft.as_mut(),
            Some(_) if is_recording() => {
                self.fail(Error::at(ErrorKind::NotAnArgument { codelet: self.codelet.name }, self.location));
            }
            Some(_) => {
                self.fail(Error::at(ErrorKind::TwoRuntimes { codelet: self.codelet.name }, self.location))
            }
            None if in_kernel() => {
                self.fail(Error::at(ErrorKind::InsideKernel { call: self.codelet.name }, self.location));
            }
            None => {
                let executor = Executor::of(&**engine);
                if is_recording() && executor.log().is_none() {
                    let kind = ErrorKind::NotAnArgument { codelet: self.codelet.name };
                    self.fail(Error::at(kind, self.location));
                    return None;
                }
                if executor.is_stopped() {
                    let kind = ErrorKind::RuntimeDropped { subject: self.codelet.name };
                    self.fail(Error::at(kind, self.location));
                    return None;
                }
                if executor.is_forked() {
                    let kind = ErrorKind::Forked { subject: self.codelet.name };
                    self.fail(Error::at(kind, self.location));
                    return None;
                }
                let action = Action::Kernel(Call::new(self.codelet, self.over));
                return Some(self.draft.insert(Draft::new(executor, action, self.location)));
            }
        }
        None
    }

    /// Adds an array that is read.
    #[doc(hidden)]
    pub fn read<T: Element, const N: usize>(&mut self, array: &'a Array<'_, T, N>) {
        self.push(array);
    }

    /// Adds an array that is changed.
    #[doc(hidden)]
    pub fn write<T: Element, const N: usize>(&mut self, array: &'a mut Array<'_, T, N>) {
        self.push(array);
    }

    /// Adds a temporary buffer.
    #[doc(hidden)]
    pub fn scratch<T: Element, const N: usize>(&mut self, shape: [usize; N]) {
        self.next_parameter();
        let Some(draft) = self.draft.as_mut().filter(|_| self.error.is_none()) else { return };
        match byte_len::<T>(&shape) {
            Ok(_) => draft.push_scratch(&shape),
            Err(error) => self.fail(Error::at(error.kind().clone(), self.location)),
        }
    }

    /// Adds a plain argument.
    #[doc(hidden)]
    pub fn argument<A: Argument>(&mut self, value: A) {
        let Some(draft) = self.draft.as_mut().filter(|_| self.error.is_none()) else { return };
        value.encode(draft.desc_mut().push_argument(A::SIZE_BYTES));
    }

    /// Records an error, which [`submit`](Task::submit) returns. The first one counts.
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

    /// Submits the task, and returns immediately unless it is [`synchronous`](Self::synchronous): it runs when its
    /// dependencies have ended.
    ///
    /// # Errors
    /// Errors that are known now: shapes, preconditions, arrays of two runtimes. Later errors are returned where its
    /// outputs are read; for a synchronous task also here.
    pub fn submit(mut self) -> Result<()> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let gate = gate::current_array();
        let mut draft = self.draft.take().expect("a codelet has an array");
        self.require_submittable(&draft)?;
        if let Some(gate) = &gate {
            gate::enter(gate, &mut draft);
        }
        // Of the arrays themselves, before contributions to reductions go to other buffers, and before anything is closed:
        // a reverse pass that reads one of them has submitted its tasks, or will find that it was written.
        for (access, array) in draft.desc().accesses().zip(draft.arrays()) {
            if let Some(array) = array.filter(|_| !access.mode.is_shared()) {
                array.saves().note_write(self.location);
            }
        }
        let Some(ranks) = draft.host().ranks() else { return self.submit_here(draft) };
        let Some(passing) = runs_here(&draft, ranks, self.rank, 0)? else {
            return Ok(()); // another rank runs it
        };
        let passing = passing.into_iter().filter_map(|passing| {
            let array = draft.array(passing.access)?;
            Some((Shared::of(array)?, passing.bytes))
        });
        let (passing, location): (Vec<_>, _) = (passing.collect(), self.location);
        let submitted = self.submit_here(draft);
        passing.iter().for_each(|(array, bytes)| drop_copy(ranks, array.state(), *bytes, location));
        submitted
    }

    /// Submits the task to the workers of this process.
    fn submit_here(self, mut draft: Draft<'_, Executor>) -> Result<()> {
        let arrays = draft.arrays().flatten().map(ArrayState::bytes);
        draft.engine().take_time_before(draft.desc(), arrays);
        self.contribute(&mut draft)?;
        // Nothing can fail from here on, so the content of outputs may be discarded.
        for (access, array) in draft.desc().accesses().zip(draft.arrays()) {
            if let Some(array) = array {
                array.flush_pending(access.mode);
            }
        }
        let executor = draft.engine();
        draft.desc_mut().set_sequence(executor.host().next_sequence());
        let outcome = self.synchronous.then(|| draft.note_outcome());
        // The task has been counted: it is submitted even if the observer panics.
        let observed = catch_unwind(AssertUnwindSafe(|| executor.observe(draft.desc())));
        draft.submit();
        executor.take_time_after(self.codelet.name);
        executor.serve_if_stopped();
        observed.unwrap_or_else(|panic| resume_unwind(panic));
        outcome.map_or(Ok(()), |outcome| outcome.wait(executor))
    }

    /// The description that would be submitted.
    ///
    /// # Errors
    /// As for [`submit`](Task::submit), as far as they are known now.
    pub(crate) fn description(mut self) -> Result<TaskDesc> {
        match self.error.take() {
            Some(error) => Err(error),
            None => Ok(self.draft.as_ref().expect("a codelet has an array").desc().clone()),
        }
    }
}

impl Task<'_> {
    /// Checks that only the submission can make.
    fn require_submittable(&self, draft: &Draft<'_, Executor>) -> Result<()> {
        if in_kernel() {
            return Err(Error::at(ErrorKind::InsideKernel { call: self.codelet.name }, self.location));
        }
        debug_assert_eq!(draft.desc().alias(), None, "the borrows of a task's arrays exclude each other");
        match self.codelet.cpu_kernel() {
            Some(_) => Ok(()),
            None if !draft.desc().is_kernel() => Ok(()),
            None => Err(Error::at(no_kernel(self.codelet, None), self.location)),
        }
    }

    /// Redirects each contribution to a reduction to its leaf; none of them if a leaf cannot be allocated.
    fn contribute(&self, draft: &mut Draft<'_, Executor>) -> Result<()> {
        let parameters = self.codelet.parameters.iter().enumerate();
        let reduced =
            parameters.filter_map(|(index, parameter)| Some((index, parameter.accumulator.as_ref()?)));
        for (index, accumulator) in reduced.clone() {
            let access = draft.desc().access(index);
            let target = draft.array(index).expect("a reduction has an array");
            target.flush_pending(access.mode);
            target.reductions().reserve(target, self.codelet, accumulator, &access.layout, self.location)?;
        }
        for (index, _) in reduced {
            let target = draft.array(index).expect("a reduction has an array");
            let contribution = target.reductions().contribute(target, draft.desc().place());
            draft.redirect(index, &contribution);
        }
        Ok(())
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
