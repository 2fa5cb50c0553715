//! [`Tape`]: a scope that remembers its tasks.

use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::composite::Composite;
use super::gradient::Gradient;
use super::memory::Memory;
use super::pass::{Family, Outer, Pass};
use super::record::{Checkpoint, Record};
use super::wanted::{Accumulated, GradientElement, Wanted};
use crate::arena::Arena;
use crate::array::{Array, Scalar, Shared};
use crate::array_id::ArrayId;
use crate::element::{Element, Real};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::Engine;
use crate::submission::Task;

/// A scope that remembers the tasks that it runs, so that gradients can be computed.
///
/// `op_init(&tape, ..)` runs the operation as under an arena. Its output lives until the tape is [reset](Tape::reset).
///
/// ```ignore
/// let mut tape = rt.tape();
/// let loss = sum_init(&tape, &mul_init(&tape, &x, &x)?)?;
/// let by_x = tape.gradients(&loss, &x)?; // 2 x
/// ```
pub struct Tape<'o> {
    arena: Arena,
    /// The tape on which the tasks of gradients are remembered.
    outer: Option<&'o dyn Outer>,
    record: Mutex<Record>,
    /// Memory that is kept for the next pass.
    passes: Mutex<Vec<Memory>>,
    /// Whether it is the inside of a checkpoint.
    is_inside: bool,
    /// Held by a reverse pass: another one waits.
    passing: Mutex<()>,
    /// Its own number, which no other tape has. An array that is made here has it.
    number: u64,
    /// For the inside of a checkpoint, in the forward pass or again in the reverse pass: the number of the tape whose
    /// checkpoint it is. Arrays that were made under that tape may be inputs here.
    checkpoint_of: Option<u64>,
}

/// The number of the next tape.
static NEXT: AtomicU64 = AtomicU64::new(1);

impl Tape<'static> {
    #[track_caller]
    pub(crate) fn new(engine: Arc<dyn Engine>) -> Self {
        Self::of(Arena::new(engine), None)
    }

    /// A tape of the same runtime as an arena.
    #[track_caller]
    pub fn beside(arena: &Arena) -> Self {
        Self::of(arena.sibling(), None)
    }
}

impl<'o> Tape<'o> {
    pub(super) fn of(arena: Arena, outer: Option<&'o dyn Outer>) -> Self {
        Self {
            arena,
            outer,
            record: Mutex::default(),
            passes: Mutex::default(),
            is_inside: false,
            passing: Mutex::default(),
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            checkpoint_of: None,
        }
    }

    /// A tape on which a checkpoint of the tape `number` runs again.
    pub(super) fn again(arena: Arena, outer: Option<&'o dyn Outer>, number: u64) -> Self {
        let mut tape = Self::of(arena, outer);
        tape.checkpoint_of = Some(number);
        tape
    }

    /// A tape inside of this one: what runs under it, this one remembers too, and so it does the tasks of its gradients.
    /// So this one can compute gradients of gradients.
    #[track_caller]
    pub fn tape(&self) -> Tape<'_> {
        Tape::of(self.arena.sibling(), Some(self))
    }

    /// An arena with the same lifetime: what is made there is not differentiated, on purpose.
    pub fn detached(&self) -> &Arena {
        &self.arena
    }

    /// Forgets all tasks, and releases every array that was made here. Waits for nothing.
    ///
    /// ```compile_fail
    /// # use dahl_core::{Runtime, Vector};
    /// # fn main() -> dahl_core::Result<()> {
    /// # let rt = Runtime::new()?;
    /// let mut tape = rt.tape();
    /// let x: Vector<f32> = tape.detached().zeros([2])?;
    /// tape.reset(); // error: `tape` is borrowed by `x` ..
    /// x.read()?; //       .. which is used here
    /// # Ok(())
    /// # }
    /// ```
    pub fn reset(&mut self) {
        self.forget();
        self.arena.reset();
    }

    /// Forgets all tasks, and keeps the memory of what was made here. It is cheaper than a reset, which is due some time later.
    pub fn forget(&mut self) {
        self.record.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// [Resets](Self::reset) the tape with two watermarks, as [`Arena::reset_beyond`].
    pub fn reset_beyond(&mut self, most_bytes: usize, left_bytes: usize) {
        self.forget();
        self.arena.reset_beyond(most_bytes, left_bytes);
    }

    /// The gradients of `loss` by `wanted`, one array or a tuple of them: arrays of the same types. Only what they need is
    /// computed, and the host does not wait.
    ///
    /// # Errors
    /// If `loss` was not made under this tape, or does not depend on one of `wanted`; if a value that a gradient needs was
    /// overwritten after the task had read it; if a rule fails; or if memory cannot be allocated.
    #[track_caller]
    pub fn gradients<'t, T: GradientElement, W: Wanted>(
        &'t self,
        loss: &Scalar<'_, T>,
        wanted: W,
    ) -> Result<W::Gradients<'t>> {
        let location = Location::caller();
        let one = self.arena.filled([], T::ONE)?;
        self.pull_back(loss, one, wanted, location)
    }

    /// The gradients by `wanted` of something that depends on `output`, whose gradient by `output` is `gradient`: the product
    /// of `gradient` with the Jacobian matrix of `output` by `wanted`.
    ///
    /// # Errors
    /// As [`gradients`](Self::gradients), and if `gradient` has another shape than `output`.
    #[track_caller]
    pub fn gradients_from<'t, T: GradientElement, const N: usize, W: Wanted>(
        &'t self,
        output: &Array<'_, T, N>,
        gradient: &Array<'_, T, N>,
        wanted: W,
    ) -> Result<W::Gradients<'t>> {
        let location = Location::caller();
        if gradient.shape() != output.shape() {
            let fact =
                format!("the gradient has shape {:?}, the output {:?}", gradient.shape(), output.shape());
            return Err(Error::at(ErrorKind::InvalidShape { subject: "gradients_from", fact }, location));
        }
        let Some(seed) = Shared::of(gradient.state()) else {
            return Err(Error::at(ErrorKind::PartOnTape { parameter: "gradient" }, location));
        };
        self.pull_back(output, seed.into_array(gradient.shape()), wanted, location)
    }

    fn pull_back<'t, T: Real, const N: usize, W: Wanted>(
        &'t self,
        output: &Array<'_, T, N>,
        seed: Array<'_, T, N>,
        wanted: W,
        location: &'static Location<'static>,
    ) -> Result<W::Gradients<'t>> {
        let mut pass = self.pass(self.outer, location);
        wanted.want(&mut pass);
        pass.want_runtime(output);
        let seed = Shared::from_array(seed).expect("the seed is whole");
        let result = self.reverse(&mut pass, output.id(), seed).and_then(|()| wanted.take(&pass));
        self.keep(pass);
        result
    }

    /// As [`gradients_from`](Self::gradients_from), for arrays whose types are not known. None by what the output does not
    /// depend on.
    pub(crate) fn gradients_of_any(
        &self,
        output: &Shared,
        gradient: &Shared,
        wanted: &[&Shared],
        location: &'static Location<'static>,
    ) -> Result<Vec<Option<Shared>>> {
        let mut pass = self.pass(self.outer, location);
        wanted.iter().for_each(|wanted| pass.want(wanted.share()));
        let result = match self.reverse(&mut pass, output.state().id(), gradient.share()) {
            Ok(()) => wanted.iter().map(|wanted| pass.take_any(wanted)).collect(),
            Err(error) if matches!(error.kind(), ErrorKind::NoDependence { .. } | ErrorKind::NotOnTape) => {
                Ok(wanted.iter().map(|_| None).collect())
            }
            Err(error) => Err(error),
        };
        self.keep(pass);
        result
    }

    /// Adds the gradients of `loss` to given arrays: `(&x, &mut by_x)`, or a tuple of such pairs. They are contributions to
    /// reductions: several losses may add to one array, in parallel, with the same bits for any number of workers.
    ///
    /// # Errors
    /// As [`gradients`](Self::gradients), and under a tape inside of another one, which would not know of the sums.
    #[track_caller]
    pub fn accumulate<T: GradientElement>(&self, loss: &Scalar<'_, T>, sums: impl Accumulated) -> Result<()> {
        let location = Location::caller();
        if self.outer.is_some() {
            return Err(Error::at(ErrorKind::InsideTape, location));
        }
        let mut pass = self.pass(None, location);
        sums.want(&mut pass);
        pass.want_runtime(loss);
        let seed = Shared::from_array(self.arena.filled([], T::ONE)?).expect("a new array is whole");
        let result = self
            .reverse(&mut pass, loss.id(), seed)
            .and_then(|()| sums.require_found(&pass))
            .and_then(|()| sums.add(&pass));
        self.keep(pass);
        result
    }

    fn pass<'t>(&'t self, outer: Option<&'t dyn Outer>, location: &'static Location<'static>) -> Pass<'t> {
        let memory = self.passes().pop().unwrap_or_default();
        Pass::new(&self.arena, outer, memory, location)
    }

    fn keep(&self, pass: Pass<'_>) {
        let memory = pass.into_memory();
        self.passes().push(memory);
    }

    fn passes(&self) -> MutexGuard<'_, Vec<Memory>> {
        self.passes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reverse(&self, pass: &mut Pass<'_>, loss: ArrayId, seed: Shared) -> Result<()> {
        if self.is_inside {
            return Err(Error::at(ErrorKind::InsideCheckpoint, pass.location()));
        }
        pass.require_one_runtime()?;
        let _passing = self.passing.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = Taken { tape: self, record: self.record().take() };
        if pass.run(&taken.record, loss, seed)? { Ok(()) } else { Err(pass.independent()) }
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Submits a task, and remembers it here and on the outer tapes.
    pub(crate) fn run(&self, task: Task<'_>, gradient: &'static Gradient) -> Result<()> {
        if !gradient.rule.flows() {
            return task.submit();
        }
        let number = self.record().add_task(&task, gradient, self)?;
        // After this tape: the outputs are then known as those of the outermost one.
        let submitted = match self.outer {
            Some(outer) => outer.run(task, gradient),
            None => task.submit(),
        };
        submitted.inspect_err(|_| self.record().fail(number))
    }
}

impl Tape<'_> {
    /// Runs `f` on a tape whose intermediate results are dropped when it ends, and computed again in the reverse pass: the
    /// same bits, with less memory. Its result lives as long as others of this tape.
    ///
    /// ```ignore
    /// let out = tape.checkpoint(|tape| matmul_init(tape, &relu_init(tape, &x)?, &weight))?;
    /// ```
    ///
    /// # Errors
    /// Those of `f`; and if its result is a part or a view of another array.
    #[track_caller]
    pub fn checkpoint<'t, T: Element, const N: usize>(
        &'t self,
        f: impl for<'s> FnOnce(&'s Tape<'s>) -> Result<Array<'s, T, N>>,
    ) -> Result<Array<'t, T, N>> {
        if self.is_inside {
            // Here everything is dropped already.
            return f(self);
        }
        let location = Location::caller();
        let mut inner = Tape::of(self.arena.of_blocks(), self.outer);
        inner.is_inside = true;
        inner.checkpoint_of = Some(self.number);
        let out = f(&inner)?;
        let shape = out.shape();
        let Some(out) = Shared::from_array(out) else {
            return Err(Error::at(
                ErrorKind::PartOnTape { parameter: "the result of a checkpoint" },
                location,
            ));
        };
        let record = std::mem::take(&mut *inner.record());
        if let Some(output) = record.made(out.state().id()) {
            let checkpoint = Checkpoint::new(record, output, self.number);
            self.record().add_checkpoint(checkpoint, &shape, location);
            if out.state().saves().tape() == Some(inner.number) {
                out.state().saves().set_of_tape(self.number);
            }
        }
        Ok(out.into_array(shape))
    }

    /// Calls `f` with what was remembered.
    pub(super) fn with_record<R>(&self, f: impl FnOnce(&Record) -> R) -> R {
        f(&self.record())
    }

    /// Remembers an operation of several tasks, which have been submitted, here and on the outer tapes.
    pub(super) fn add(&self, call: &Composite<'_>) -> Result<()> {
        if !call.gradient.rule.flows() {
            return Ok(());
        }
        let number = self.record().add_composite(call, self)?;
        // After this tape, as for a task.
        let added = self.outer.map_or(Ok(()), |outer| outer.add(call));
        added.inspect_err(|_| self.record().fail(number))
    }
}

/// The record of a tape during a pass, which is put back even if a rule panics.
struct Taken<'t, 'o> {
    tape: &'t Tape<'o>,
    record: Record,
}

impl Drop for Taken<'_, '_> {
    fn drop(&mut self) {
        let mut record = self.tape.record();
        let added = std::mem::replace(&mut *record, std::mem::take(&mut self.record));
        record.append(added);
    }
}

impl Family for Tape<'_> {
    fn number(&self) -> u64 {
        self.number
    }

    fn knows(&self, number: u64) -> bool {
        number == self.number
            || Some(number) == self.checkpoint_of
            || self.outer.is_some_and(|outer| outer.knows(number))
    }

    fn is_inside(&self) -> bool {
        self.is_inside
    }

    fn rank(&self) -> Option<usize> {
        self.arena.placement()
    }
}

impl Outer for Tape<'_> {
    fn run(&self, task: Task<'_>, gradient: &'static Gradient) -> Result<()> {
        Tape::run(self, task, gradient)
    }

    fn add(&self, call: &Composite<'_>) -> Result<()> {
        Tape::add(self, call)
    }
}

impl fmt::Debug for Tape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tape").field("tasks", &self.record().nodes().len()).finish_non_exhaustive()
    }
}
