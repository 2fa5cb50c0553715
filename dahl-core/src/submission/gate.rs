//! [`Gate`]: holds back tasks until others have ended, with which they share no array.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;

use super::builder::Task;
use crate::access::AccessMode;
use crate::array::{Array, Shared};
use crate::codelet::{Codelet, Kernel, Parameter, Views};
use crate::element::ElementType;
use crate::error::Result;
use crate::executor::Executor;
use crate::sync::thread_local;
use crate::task::Draft;

static CLOSE_GATE: Codelet = Codelet::new("close_gate", module_path!(), 1)
    .parameters(&[Parameter::new("gate", AccessMode::W, ElementType::of::<u8>())])
    .kernels(&[Some(Kernel::new("rust", |_: &mut Views<'_>| {}))]);

/// The number of a gate, on its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GateId(usize);

/// The gates of a thread.
#[derive(Default)]
struct Gates {
    /// The arrays of all gates that there are, by number.
    arrays: Vec<Option<Shared>>,
    /// That of the call of [`Gate::within`] which is being made.
    current: Option<GateId>,
}

thread_local! {
    static GATES: RefCell<Gates> = RefCell::default();
}

/// A gate: tasks that are submitted [within](Self::within) it, and those of their gradients, wait for the tasks that were
/// submitted within it before it was [closed](Self::close) last.
///
/// It is an array without elements. Tasks within it read the array, and closing writes it.
pub struct Gate {
    array: Array<'static, u8, 1>,
    id: GateId,
    /// Its number is that of its thread.
    of_thread: PhantomData<*const ()>,
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gate({})", self.id.0)
    }
}

impl Gate {
    /// An open gate, which has this array without elements.
    pub(crate) fn of(array: Array<'static, u8, 1>) -> Self {
        let shared = Shared::of_whole(array.state());
        let number = GATES.with(|gates| {
            let mut gates = gates.borrow_mut();
            let free = gates.arrays.iter().position(Option::is_none);
            let number = free.unwrap_or(gates.arrays.len());
            if number == gates.arrays.len() {
                gates.arrays.push(None);
            }
            gates.arrays[number] = Some(shared);
            number
        });
        Self { array, id: GateId(number), of_thread: PhantomData }
    }

    /// Holds back tasks that are submitted within it from now on, until those before have ended, whether they succeed or not. The rank
    /// is that of all these tasks.
    ///
    /// # Errors
    /// If there is no such rank.
    #[track_caller]
    pub fn close(&mut self, rank: usize) -> Result<()> {
        let mut task = Task::new(&CLOSE_GATE);
        task.write(&mut self.array);
        task.on_rank(rank).submit()
    }

    /// Calls `f`, whose tasks are within the gate.
    pub fn within<R>(&self, f: impl FnOnce() -> R) -> R {
        within(Some(self.id), f)
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let array = GATES.with(|gates| gates.borrow_mut().arrays.get_mut(self.id.0).and_then(Option::take));
        // Not while the gates are borrowed: it may be the last owner.
        drop(array);
    }
}

/// Puts the gate before a call back, also if the call panics.
struct PutBack(Option<GateId>);

impl Drop for PutBack {
    fn drop(&mut self) {
        GATES.with(|gates| gates.borrow_mut().current = self.0);
    }
}

/// The gate that tasks are within which are submitted now.
pub(crate) fn current() -> Option<GateId> {
    GATES.with(|gates| gates.borrow().current)
}

/// Calls `f`, whose tasks are within this gate, if there is one and it has not been dropped; else within that of the caller.
pub(crate) fn within<R>(gate: Option<GateId>, f: impl FnOnce() -> R) -> R {
    if gate.is_none() {
        return f();
    }
    let _before = PutBack(GATES.with(|gates| std::mem::replace(&mut gates.borrow_mut().current, gate)));
    f()
}

/// An owner of the array of the gate that is current.
pub(super) fn current_array() -> Option<Shared> {
    GATES.with(|gates| {
        let gates = gates.borrow();
        Some(gates.arrays.get(gates.current?.0)?.as_ref()?.share())
    })
}

/// Adds the array of a gate to the accesses of a task, if it is of its runtime. The caller keeps the array until the task is
/// submitted.
pub(super) fn enter(gate: &Shared, draft: &mut Draft<'_, Executor>) {
    let of_gate: &Executor = Executor::of(&**gate.state().engine());
    if std::ptr::eq(of_gate, draft.engine()) {
        draft.push(gate.state(), AccessMode::R, |layout| layout.set_contiguous(&[0]));
        draft.desc_mut().add_tag();
    }
}
