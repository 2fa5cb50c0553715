//! [`Replay`]: submits described tasks again, on other arrays.
#![allow(unsafe_code, reason = "keeps arrays that it borrows by their ids")]

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use super::builder::Task;
use crate::array::Array;
use crate::description::{AccessDesc, Action, ArrayId, Call, Placement, TaskDesc};
use crate::element::{Element, ElementType};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{ArrayState, Engine, Host};
use crate::shape::Layout;

/// Submits described tasks again, on other arrays, of the same runtime or of another one: the descriptions from an
/// [`Observer`](crate::observer::Observer) are the program, and this provides the data.
///
/// It borrows its arrays, so that nothing else uses them meanwhile.
///
/// ```ignore
/// let mut replay = Replay::new();
/// replay.bind(id_of_x, &mut x);
/// recorded.iter().try_for_each(|task| replay.submit(task))?;
/// ```
#[derive(Default)]
pub struct Replay<'a> {
    arrays: HashMap<ArrayId, Bound>,
    borrows: PhantomData<&'a mut ()>,
}

/// An array that replaces another one.
struct Bound {
    state: NonNull<ArrayState>,
    element: ElementType,
    layout: Layout,
}

// SAFETY: the states are those of mutably borrowed arrays, which are `Send` and `Sync`.
unsafe impl Send for Replay<'_> {}
// SAFETY: as above; a shared reference cannot submit.
unsafe impl Sync for Replay<'_> {}

impl<'a> Replay<'a> {
    /// One without arrays.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes `array` replace the array, or part, with this id.
    pub fn bind<T: Element, const N: usize>(&mut self, id: ArrayId, array: &'a mut Array<'_, T, N>) {
        let (element, layout) = (ElementType::of::<T>(), array.layout());
        self.arrays.insert(id, Bound { state: NonNull::from(array.state()), element, layout });
    }

    /// Submits a task on the arrays that replace its own, with its arguments and options.
    ///
    /// # Errors
    /// As for [`Task::submit`]; and if one of its arrays is not replaced, or by one with another element type, other
    /// extents, or of another part; if two of its accesses are to one array, or to an array and a part of it, and one
    /// of them changes it; if it is external.
    /// outside of the runtime.
    pub fn submit(&mut self, task: &TaskDesc) -> Result<()> {
        let call = match task.action() {
            Action::Kernel(call) => call,
            action => {
                return Err(refusal(task, format!("{action:?} is nothing that a worker runs by itself")));
            }
        };
        if let Some((earlier, later)) = task.alias() {
            let fact =
                format!("its accesses {earlier} and {later} are to one array, and not both only read it");
            return Err(refusal(task, fact));
        }
        let mut again = Task::of_call(call.codelet, call.over, task.location());
        for operand in task.operands() {
            match operand.access.array() {
                None => again.push_scratch(operand.access.extents()),
                Some(id) => {
                    let (engine, state) =
                        self.state_for(task, id, operand.access, operand.parameter.element)?;
                    if state.saves().forbids(operand.access.mode) {
                        let (codelet, parameter) = (call.codelet.name, operand.parameter.name);
                        let kind = ErrorKind::ChangesTape { codelet, parameter };
                        return Err(Error::at(kind, task.location()));
                    }
                    again.push_state(engine, state, operand.access.mode, &operand.access.layout);
                }
            }
        }
        if task.operand_count() < task.accesses().len() {
            return Err(refusal(task, "it has tags".to_owned()));
        }
        again.push_arguments(task.arguments());
        with_options(again, call, self.host()).submit()
    }

    /// The array that replaces that of access `access`.
    fn state_for(
        &self,
        task: &TaskDesc,
        id: ArrayId,
        access: &AccessDesc,
        element: ElementType,
    ) -> Result<(&'a Arc<dyn Engine>, &'a ArrayState)> {
        let bound = self.arrays.get(&id);
        let bound = bound.ok_or_else(|| refusal(task, format!("nothing takes the place of array {id}")))?;
        if bound.element != element {
            let fact = format!("array {id} holds {}, not {}", element.name, bound.element.name);
            return Err(refusal(task, fact));
        }
        // Another shape of as many contiguous elements is accepted, as by `reshape`.
        let (own, other) = (&access.layout, &bound.layout);
        let follow = own.is_contiguous() && other.is_contiguous() && own.offset == other.offset;
        if !(own.is_same(other) || follow && own.len() == other.len()) {
            let fact = format!("array {id} has {:?}, not {:?}", own.extents(), other.extents());
            return Err(refusal(task, fact));
        }
        // SAFETY: the array is borrowed for the lifetime of this.
        let state: &'a ArrayState = unsafe { bound.state.as_ref() };
        Ok((state.engine(), state))
    }

    /// The runtime, if there are arrays.
    fn host(&self) -> Option<&'a Host> {
        // SAFETY: as above.
        self.arrays.values().next().map(|bound| unsafe { bound.state.as_ref() }).map(ArrayState::host)
    }
}

/// The task with the options of a call.
fn with_options<'t>(mut task: Task<'t>, call: &Call, host: Option<&Host>) -> Task<'t> {
    let options = &call.options;
    task = task.priority(options.priority);
    if let Some(name) = options.name {
        task = task.name(name);
    }
    if let Some(kernel) = call.kernel {
        let is_own = call.codelet.named(kernel.name()).is_some_and(|named| std::ptr::eq(named, kernel));
        task = if is_own { task.kernel(kernel.name()) } else { task.foreign_kernel(kernel) };
    }
    task = match (options.place, host) {
        (Placement::Worker(worker), _) => task.on(worker),
        (Placement::KindOf(worker), Some(host)) if worker < host.workers() => {
            task.on_kind(&host.worker(worker).kind)
        }
        (Placement::KindOf(worker), _) => task.on(worker),
        (Placement::Any | Placement::Prefers(_), _) => task,
    };
    match options.prefetch {
        Some(worker) => task.prefetch(worker),
        None => task,
    }
}

fn refusal(task: &TaskDesc, fact: String) -> Error {
    let codelet = task.codelet_if_any().map_or("a task", |codelet| codelet.name);
    Error::at(ErrorKind::Replay { codelet, fact }, task.location())
}

impl fmt::Debug for Replay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.arrays.keys()).finish()
    }
}
