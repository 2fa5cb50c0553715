//! [`External`]: a task whose work is done outside of the runtime: a message that arrives, a file that is read, a
//! gradient that another program computes.
//!
//! It is ordered like every task. When its accesses are held, the thread that made it ready passes an `External` to the
//! submitter's function. The work then takes any time and blocks no worker. At its end any thread
//! [completes](External::complete) the task, with success or an error, and its successors continue. Dropping an
//! `External` fails the task, so that nothing waits forever.
//!
//! Tasks that complete while they begin, such as a message that has already arrived, complete one after the other where
//! the first of them began, so a long sequence of them does not nest.
#![allow(unsafe_code, reason = "keeps a submitted task until it is completed, and its arrays' elements")]

use std::borrow::Cow;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::Arc;

use super::step::Step;
use crate::access::AccessMode;
use crate::codelet::Operand;
use crate::device::{FetchError, Requester};
use crate::error::Failure;
use crate::graph::{ArrayState, Begin, Engine, Node, Party, Submitted};
use crate::memory::{HOME, give_back};
use crate::shape::Layout;
use crate::sync::thread_local;
use crate::trace::TaskTimes;

/// An external task whose accesses are held: its only handle.
#[must_use = "a task that nobody completes has failed"]
pub(crate) struct External {
    task: NonNull<Submitted>,
    engine: Arc<dyn Engine>,
    /// Whether `complete` has consumed it.
    is_over: bool,
}

// SAFETY: a record may be handled by any thread, and this is the only handle of its task.
unsafe impl Send for External {}

/// How an external task ended.
type Ended = std::result::Result<(), String>;

thread_local! {
    static WHILE_BEGINNING: RefCell<Beginning> =
        const { RefCell::new(Beginning { begins: false, queue: Vec::new() }) };
}

/// What begins on a thread.
struct Beginning {
    /// Whether a task begins.
    begins: bool,
    /// Tasks that were completed, or whose body has run, meanwhile. The memory is kept for the next ones.
    queue: Vec<(External, Next)>,
}

/// What is next for a task that has begun.
enum Next {
    /// It ends.
    End(std::result::Result<(), Cause>),
    /// A body of a branch or of a loop has run.
    Body,
}

/// Tells the recipient that an external task may begin; or completes it, if an input has no value.
///
/// # Safety
/// The task is external, its accesses are held, and this is called once.
pub(super) unsafe fn begin(task: &Submitted) {
    // SAFETY: guaranteed by the caller: it is called once.
    let party = unsafe { task.record().set_party(Party::Nobody) };
    let Party::External(begin) = party else { unreachable!("an external task has somebody to tell") };
    begin.tell(task);
}

/// Begins a branch or a loop of a program.
///
/// # Safety
/// The task is one, its accesses are held, and this is called once in a replay.
pub(super) unsafe fn begin_flow(task: &Submitted) {
    let engine = task.accesses().find_map(|access| access.state()).map(|array| Arc::clone(array.engine()));
    let engine = engine.expect("a branch or a loop has a condition");
    let external = External { task: NonNull::from(task), engine, is_over: false };
    while_beginning(|| external.proceed(true));
}

/// Calls `begin`, and then completes the tasks that were completed meanwhile, one after the other.
pub(crate) fn while_beginning(begin: impl FnOnce()) {
    let is_inside =
        WHILE_BEGINNING.with(|beginning| std::mem::replace(&mut beginning.borrow_mut().begins, true));
    begin();
    if is_inside {
        return;
    }
    loop {
        let next = WHILE_BEGINNING.with(|beginning| {
            let mut beginning = beginning.borrow_mut();
            let next = beginning.queue.pop();
            beginning.begins = next.is_some();
            next
        });
        let Some((external, next)) = next else { return };
        external.go_on(next);
    }
}

impl External {
    /// Calls `begin` with the task, once its accesses are held.
    pub(crate) fn telling(begin: impl FnOnce(Self) + Send + 'static) -> Begin {
        Begin::new(move |task| Self::begin_with(task, begin))
    }

    fn begin_with(task: &Submitted, call: impl FnOnce(Self)) {
        let engine = task.accesses().find_map(|access| access.state()).map_or_else(
            || unreachable!("an external task has an array"),
            |array| Arc::clone(array.engine()),
        );
        let external = Self { task: NonNull::from(task), engine, is_over: false };
        while_beginning(|| match external.begin() {
            // If it panics, it drops the task, which fails then.
            Ok(()) => drop(catch_unwind(AssertUnwindSafe(|| call(external)))),
            Err(error) => external.cancel(error),
        });
    }
}

/// Why an external task has no result.
enum Cause {
    Itself(String),
    Before(Arc<Failure>),
}

impl External {
    /// A task that was told that it may begin, and whose accesses are in order.
    ///
    /// # Safety
    /// The task is external, it has begun, and this is its only `External`.
    pub(super) unsafe fn of(task: NonNull<Submitted>, engine: Arc<dyn Engine>) -> Self {
        Self { task, engine, is_over: false }
    }

    fn task(&self) -> &Submitted {
        // SAFETY: the record is not free before the task has been completed, which takes this value.
        unsafe { self.task.as_ref() }
    }

    /// What the task says.
    #[cfg(test)]
    pub(crate) fn desc(&self) -> &crate::description::TaskDesc {
        self.task().desc()
    }

    fn requester(&self) -> Requester {
        Requester { name: self.task().desc().codelet().name, location: self.task().desc().location() }
    }

    /// Ensures that its inputs have a value, and that its outputs will. Does not wait.
    fn begin(&self) -> std::result::Result<(), FetchError> {
        let has_value =
            |array: &ArrayState| array.failure().map_or(Ok(()), |failure| Err(FetchError::Poisoned(failure)));
        let task = self.task();
        task.accesses()
            .filter(|access| access.reads())
            .filter_map(|access| access.state())
            .try_for_each(has_value)?;
        for access in task.accesses().filter(|access| access.mode == AccessMode::W) {
            if let Some(array) = access.state() {
                // SAFETY: the task holds its accesses, and is not completed.
                unsafe { array.prepare_at(HOME, AccessMode::W, self.requester()) }?;
            }
        }
        Ok(())
    }

    /// The elements of access `index`, or of a region of its array, in row-major order, to be changed; none if they are not
    /// contiguous. Waits until they are in main memory.
    ///
    /// # Errors
    /// If they cannot be made available there.
    ///
    /// # Panics
    /// If the access does not change an array of the task's.
    pub(crate) fn bytes_mut(
        &mut self,
        index: usize,
        region: Option<Layout>,
    ) -> std::result::Result<Option<&mut [u8]>, String> {
        let bytes = self.changed(index, region)?.contiguous_bytes();
        // SAFETY: the buffer spans these bytes, initialised, since blocks are. The task holds its accesses, of which this
        // one is exclusive, and is not completed while `self` is borrowed, mutably.
        Ok(bytes.map(|bytes| unsafe { &mut *bytes }))
    }

    /// Changes the elements of access `index`, or of a region of its array, to `bytes`, in row-major order.
    ///
    /// # Errors
    /// As [`bytes_mut`](Self::bytes_mut).
    ///
    /// # Panics
    /// As [`bytes_mut`](Self::bytes_mut), or if they are not as many.
    pub(crate) fn write(
        &mut self,
        index: usize,
        region: Option<Layout>,
        bytes: &[u8],
    ) -> std::result::Result<(), String> {
        let operand = self.changed(index, region)?;
        assert_eq!(
            operand.layout.len() * operand.element.size_bytes,
            bytes.len(),
            "as many bytes as elements have"
        );
        // SAFETY: `bytes` are as many as the elements have, and apart from them. The task holds its accesses, of which this
        // one is exclusive, and is not completed.
        unsafe { operand.unpack_from(bytes.as_ptr().cast_mut()) };
        Ok(())
    }

    /// Discards what access `index` changes, and gives the pages of its memory back.
    ///
    /// # Panics
    /// If the access does not change an array of the task's.
    pub(crate) fn forget(&mut self, index: usize) {
        let access = self.task().access(index);
        assert!(!access.mode.is_shared(), "access {index} only reads");
        let array = access.state().expect("scratch is no array");
        // SAFETY: the task holds its accesses, of which this one is exclusive, and is not completed.
        unsafe { array.forget_value(self.requester()) };
        let bytes = array.operand_at_home(None).contiguous_bytes();
        // Pages that devices know must stay where they are.
        if let Some(bytes) = bytes.filter(|_| !self.engine.host().has_real_devices()) {
            // SAFETY: the buffer spans these bytes. The task's access is exclusive, and their value was discarded: the next
            // access finds zeros, or writes.
            unsafe { give_back(bytes) };
        }
    }

    /// What access `index` changes, in main memory.
    fn changed(&self, index: usize, region: Option<Layout>) -> std::result::Result<Operand, String> {
        let access = self.task().access(index);
        assert!(!access.mode.is_shared(), "access {index} only reads");
        let array = access.state().expect("scratch is no array");
        // SAFETY: the task holds its accesses, of which this one is exclusive, and is not completed.
        unsafe { array.prepare_total_at(access.mode == AccessMode::W, HOME, self.requester()) }
            .map_err(|error| error.to_string())?;
        Ok(array.operand_at_home(region))
    }

    /// The elements of access `index`, or of a region of its array, in row-major order: borrowed if they are contiguous.
    /// Waits until they are in main memory.
    ///
    /// # Errors
    /// If they cannot be made available there.
    ///
    /// # Panics
    /// If the access is no read of an array of the task's.
    pub(crate) fn bytes(
        &self,
        index: usize,
        region: Option<Layout>,
    ) -> std::result::Result<Cow<'_, [u8]>, String> {
        let access = self.task().access(index);
        assert!(access.mode == AccessMode::R, "access {index} does not only read");
        let array = access.state().expect("scratch is no array");
        // SAFETY: the task holds its accesses, and is not completed.
        unsafe { array.prepare_at(HOME, access.mode, self.requester()) }
            .map_err(|error| error.to_string())?;
        let operand = array.operand_at_home(region);
        if let Some(bytes) = operand.contiguous_bytes() {
            // SAFETY: the buffer spans these bytes, initialised. No task writes them during the access, which lasts at least
            // as long as `self` is borrowed.
            return Ok(Cow::Borrowed(unsafe { &*bytes }));
        }
        let mut packed = vec![0; operand.layout.len() * operand.element.size_bytes];
        // SAFETY: the elements may be read, as above, and `packed` is as long.
        unsafe { operand.pack_into(packed.as_mut_ptr()) };
        Ok(Cow::Owned(packed))
    }

    /// In virtual time: when the elements of access `index` are in main memory, to which this fetches them; 0 in real time, and if
    /// they cannot be fetched.
    pub(crate) fn fetched_ns(&self, index: usize) -> u64 {
        let access = self.task().access(index);
        let Some(array) = access.state().filter(|_| self.engine.host().is_simulated()) else { return 0 };
        // SAFETY: the task holds its accesses, and is not completed.
        match unsafe { array.prepare_at(HOME, access.mode, self.requester()) } {
            Ok(_) => array.replicas().arrived_ns(HOME),
            Err(_) => 0,
        }
    }

    /// Completes the task, from any thread, which makes its successors ready. With an error it has failed: its outputs
    /// have no value.
    pub(crate) fn complete(self, result: Ended) {
        self.later(Next::End(result.map_err(Cause::Itself)));
    }

    /// The replay of a program has ended, of which the task is the envelope: completes it, or, if it is a branch or a loop,
    /// goes on.
    pub(super) fn end_replay(self) {
        let is_flow = matches!(self.task().party(), Party::Node(_));
        self.later(if is_flow { Next::Body } else { Next::End(Ok(())) });
    }

    /// Does what is next: now, or, while tasks begin on this thread, after that.
    fn later(mut self, next: Next) {
        self.is_over = true;
        let mut waiting = Some((self, next));
        WHILE_BEGINNING.with(|beginning| {
            let mut beginning = beginning.borrow_mut();
            if beginning.begins {
                beginning.queue.extend(waiting.take());
            }
        });
        if let Some((external, next)) = waiting {
            external.go_on(next);
        }
    }

    fn go_on(self, next: Next) {
        match next {
            Next::End(result) => self.conclude(result),
            Next::Body => while_beginning(|| self.proceed(false)),
        }
    }

    /// Begins a body of a branch or of a loop, or ends it.
    fn proceed(mut self, is_first: bool) {
        let &Party::Node(node) = self.task().party() else { unreachable!("it is a program's task") };
        // SAFETY: the task has not been counted as ended, so the program is kept.
        let bodies = unsafe { Node::at(node) }.bodies.as_ref().expect("it is a branch or a loop");
        // SAFETY: the task's accesses are held, and this is its only `External`: no body is running.
        match unsafe { bodies.proceed(self.task, is_first) } {
            // The replay of the body has the task now.
            Ok(true) => self.is_over = true,
            Ok(false) => self.later(Next::End(Ok(()))),
            Err(FetchError::Poisoned(failure)) => self.later(Next::End(Err(Cause::Before(failure)))),
            Err(missing) => self.later(Next::End(Err(Cause::Itself(missing.to_string())))),
        }
    }

    /// Completes the task, which has not begun, because of `error`.
    fn cancel(mut self, error: FetchError) {
        self.is_over = true;
        let cause = match error {
            FetchError::Poisoned(failure) => Cause::Before(failure),
            missing => Cause::Itself(missing.to_string()),
        };
        self.conclude(Err(cause));
    }

    fn conclude(&self, result: std::result::Result<(), Cause>) {
        let (task, engine) = (self.task(), &*self.engine);
        let host = engine.host();
        let Requester { name, location } = self.requester();
        let is_cancelled = matches!(result, Err(Cause::Before(_)));
        let failure = result.err().map(|cause| match cause {
            Cause::Before(failure) => failure,
            Cause::Itself(message) => {
                let failure = Arc::new(Failure::new(name, "outside".to_owned(), location, message));
                host.note_failure(&failure);
                failure
            }
        });
        if let Some(failure) = &failure {
            for access in task.accesses().filter(|access| access.mode.writes()) {
                if let Some(array) = access.state() {
                    // SAFETY: the task's access to the array is exclusive, and no external code has its elements any
                    // more.
                    unsafe { array.poison(failure) };
                }
            }
        }
        if let Some(recorder) = host.recorder() {
            let run = TaskTimes::taken_at(task.ready_ns());
            recorder.ended(
                task.desc().sequence(),
                task.ready_ns(),
                None,
                run,
                failure.as_ref(),
                is_cancelled,
            );
        }
        // SAFETY: this completes the task, below.
        let callback = unsafe { task.take_callback() };
        Step::new(engine, None).complete(task);
        if let Some(callback) = callback
            && catch_unwind(AssertUnwindSafe(|| callback.call(failure.as_ref()))).is_err()
        {
            let message = "its callback panicked".to_owned();
            host.note_failure(&Arc::new(Failure::new(name, "outside".to_owned(), location, message)));
        }
        host.count_completed_outside();
    }
}

impl Drop for External {
    fn drop(&mut self) {
        if !self.is_over {
            self.is_over = true;
            self.conclude(Err(Cause::Itself("it was given up before it was done".to_owned())));
        }
    }
}

#[cfg(test)]
#[path = "external_tests.rs"]
mod tests;
