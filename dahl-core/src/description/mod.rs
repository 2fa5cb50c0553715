//! [`TaskDesc`]: a task as data. It contains everything that a submission says and no pointer into a runtime. So a
//! program can copy it, keep it, send it to another thread, and submit it again on other arrays.
//!
//! `action` says what the task does, and with which codelet. `accesses` says on which arrays; [`ArrayId`] names these.
//! If a task runs in place, over one of its inputs, the description resolves that once ([`Over`]):
//! [`TaskDesc::operands`] says which access belongs to which parameter.
//!
//! Not here: the order of tasks and who runs them (`task`), and their expected durations (`perf`).

mod accesses;
mod action;
mod message_ends;
mod of_program;

use std::fmt;
use std::panic::Location;
use std::ptr;

pub use accesses::AccessDesc;
use accesses::Accesses;
pub(crate) use action::{Action, Call, Combination, Over, Placement, Step};
pub(crate) use message_ends::MessageEnds;

use crate::access::AccessMode;
pub use crate::array_id::ArrayId;
use crate::codelet::{Codelet, Kernel, Parameter, ShapeOf};
use crate::cuda::CudaInstance;
use crate::footprint;
use crate::shape::Layout;

/// A task as data: the action, the arrays, the options, and the line of the submission.
///
/// It refers to arrays by their [ids](ArrayId) and keeps none of them alive.
#[derive(Clone)]
pub struct TaskDesc {
    action: Action,
    accesses: Accesses,
    /// The number of accesses to tags: the last ones, which kernels do not see.
    tags: usize,
    /// The bytes of the plain arguments. Not in the action, so that a reused description keeps the memory.
    arguments: Vec<u8>,
    sequence: u64,
    location: &'static Location<'static>,
}

/// One operand of a task's kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand<'d> {
    /// The index of the access.
    pub(crate) position: usize,
    pub(crate) parameter: &'static Parameter,
    pub(crate) access: &'d AccessDesc,
}

/// An array that a task uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArrayUse {
    /// The array.
    pub array: ArrayId,
    /// The access mode.
    pub mode: AccessMode,
    /// Its bytes.
    pub bytes: usize,
}

impl TaskDesc {
    /// An empty description.
    #[track_caller]
    pub(crate) fn new() -> Self {
        Self {
            action: Action::Wait,
            accesses: Accesses::default(),
            tags: 0,
            arguments: Vec::new(),
            sequence: 0,
            location: Location::caller(),
        }
    }

    /// Clears the description, and starts another one.
    #[inline]
    pub(crate) fn begin(&mut self, action: Action, location: &'static Location<'static>) {
        self.action = action;
        self.accesses.clear();
        self.tags = 0;
        self.arguments.clear();
        self.location = location;
    }

    /// Adds an access, whose layout `set_layout` writes.
    #[inline]
    pub(crate) fn push(
        &mut self,
        array: Option<ArrayId>,
        whole: Option<ArrayId>,
        mode: AccessMode,
        set_layout: impl FnOnce(&mut Layout),
    ) {
        self.accesses.note_mode(mode);
        let access = self.accesses.push();
        (access.array, access.whole, access.buffer) = (array, whole, None);
        (access.mode, access.begins) = (mode, false);
        set_layout(&mut access.layout);
    }

    /// Marks the last access as one to a tag, which kernels do not see.
    pub(crate) fn add_tag(&mut self) {
        self.tags += 1;
    }

    /// Marks the old content of access `index` as ignored.
    pub(crate) fn set_begins(&mut self, index: usize) {
        self.accesses.get_mut(index).begins = true;
    }

    /// Sets the private buffer of the contribution of access `index`; none for the array itself.
    pub(crate) fn redirect(&mut self, index: usize, buffer: Option<ArrayId>, begins: bool) {
        let access = self.accesses.get_mut(index);
        (access.buffer, access.begins) = (buffer, begins);
    }

    /// The bytes for the next argument.
    pub(crate) fn push_argument(&mut self, bytes: usize) -> &mut [u8] {
        let start = self.arguments.len();
        self.arguments.resize(start + bytes, 0);
        &mut self.arguments[start..]
    }

    /// Sets its number in the order of submission.
    pub(crate) fn set_sequence(&mut self, sequence: u64) {
        self.sequence = sequence;
    }

    /// Sets where the task runs.
    pub(crate) fn set_place(&mut self, place: Placement) {
        match &mut self.action {
            Action::Kernel(call) | Action::Program(call) | Action::External(call) => {
                call.options.place = place
            }
            Action::Combine(combination) => combination.place = place,
            Action::Wait | Action::Forget | Action::Split | Action::Join => {}
        }
    }

    /// The call of a codelet, mutably, if it is one.
    pub(crate) fn call_mut(&mut self) -> Option<&mut Call> {
        match &mut self.action {
            Action::Kernel(call) | Action::Program(call) | Action::External(call) => Some(call),
            _ => None,
        }
    }

    pub(crate) fn action_mut(&mut self) -> &mut Action {
        &mut self.action
    }
}

impl TaskDesc {
    pub(crate) fn action(&self) -> &Action {
        &self.action
    }

    /// The call of a codelet, if it is one.
    #[inline]
    pub(crate) fn call(&self) -> Option<&Call> {
        match &self.action {
            Action::Kernel(call) | Action::Program(call) | Action::External(call) => Some(call),
            _ => None,
        }
    }

    /// The step of a reduction, if it is one.
    pub(crate) fn combination(&self) -> Option<&Combination> {
        match &self.action {
            Action::Combine(combination) => Some(combination),
            _ => None,
        }
    }

    /// Whether a worker calls one of the codelet's kernels.
    pub(crate) fn is_kernel(&self) -> bool {
        matches!(self.action, Action::Kernel(_))
    }

    /// The codelet; for a step of a reduction, that of the contributions. None if no worker runs the task.
    #[inline]
    pub(crate) fn codelet_if_any(&self) -> Option<&'static Codelet> {
        match &self.action {
            Action::Kernel(call) | Action::Program(call) | Action::External(call) => Some(call.codelet),
            Action::Combine(combination) => Some(combination.codelet),
            Action::Wait | Action::Forget | Action::Split | Action::Join => None,
        }
    }

    /// The codelet.
    ///
    /// # Panics
    /// If the task was submitted without a codelet: observers and schedulers see no such task.
    pub fn codelet(&self) -> &'static Codelet {
        self.codelet_if_any().expect("a submitted task has a codelet")
    }

    /// The kernel that the submitter named, if any.
    #[inline]
    pub(crate) fn kernel(&self) -> Option<&'static Kernel> {
        self.call().and_then(|call| call.kernel)
    }

    /// The input that it overwrites, if any.
    #[inline]
    pub(crate) fn over(&self) -> Option<Over> {
        self.call().and_then(|call| call.over)
    }

    /// Whether the task overwrites one of its inputs (`_self`).
    pub fn is_in_place(&self) -> bool {
        self.over().is_some()
    }

    /// Whether it combines partial results of a reduction.
    pub fn is_combination(&self) -> bool {
        self.combination().is_some()
    }

    /// The number of the task in the order of submission.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The name that the submitter gave.
    pub fn name(&self) -> Option<&'static str> {
        self.call().and_then(|call| call.options.name)
    }

    /// The bytes of the plain arguments, in order.
    pub fn arguments(&self) -> &[u8] {
        &self.arguments
    }

    /// The line that submitted the task.
    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }

    /// The priority that the submitter set; the default is 0. Larger is sooner.
    pub fn priority(&self) -> i32 {
        self.call().map_or(0, |call| call.options.priority)
    }

    /// Where it is to run.
    #[inline]
    pub(crate) fn place(&self) -> Placement {
        match &self.action {
            Action::Kernel(call) | Action::Program(call) | Action::External(call) => call.options.place,
            Action::Combine(combination) => combination.place,
            Action::Wait | Action::Forget | Action::Split | Action::Join => Placement::Any,
        }
    }

    /// The worker to whose memory its inputs are copied as soon as it is ready.
    #[inline]
    pub(crate) fn prefetch(&self) -> Option<usize> {
        self.call().and_then(|call| call.options.prefetch)
    }

    /// Whether an access commutes.
    #[inline]
    pub(crate) fn commutes(&self) -> bool {
        self.accesses.commutes()
    }

    /// The footprint's hash: the same for tasks of one codelet whose arrays have the same extents. Predictions of
    /// durations depend on it.
    pub fn footprint(&self) -> u64 {
        let codelet = self.codelet_if_any().map_or(0, |codelet| ptr::from_ref(codelet).addr() as u64);
        footprint::hash_after(codelet, self.extents())
    }

    /// The accesses, in the order of the declaration, and then those to tags.
    pub fn accesses(&self) -> impl ExactSizeIterator<Item = &AccessDesc> {
        self.accesses.iter()
    }

    pub(crate) fn access(&self, index: usize) -> &AccessDesc {
        self.accesses.get(index)
    }

    /// The number of accesses that a kernel sees: all but those to tags.
    #[inline]
    pub(crate) fn operand_count(&self) -> usize {
        self.accesses.len() - self.tags
    }

    /// The accesses that a kernel sees.
    #[inline]
    pub(crate) fn operand_accesses(&self) -> impl Iterator<Item = &AccessDesc> {
        self.accesses.iter().take(self.operand_count())
    }

    /// The extents of the operands of a kernel.
    pub(crate) fn extents(&self) -> impl Iterator<Item = &[usize]> {
        self.operand_accesses().map(|access| access.layout.extents())
    }

    /// The accesses of a codelet's call that its kernel sees, each with its parameter.
    #[inline]
    pub(crate) fn operands(&self) -> impl Iterator<Item = Operand<'_>> {
        let (parameters, over) =
            self.call().map_or((&[][..], None), |call| (call.codelet.parameters, call.over));
        self.operand_accesses().enumerate().map_while(move |(position, access)| {
            let parameter = parameters.get(over.map_or(position, |over| over.parameter_of(position)))?;
            Some(Operand { position, parameter, access })
        })
    }

    /// The extents of all parameters of the declaration. In place, the output has those of the target.
    pub(crate) fn declared_shapes(&self) -> Vec<ShapeOf> {
        let mut shapes: Vec<ShapeOf> = self.extents().map(ShapeOf::new).collect();
        if let Some(over) = self.over() {
            shapes.insert(over.output, shapes[over.position]);
        }
        shapes
    }

    /// The arrays that it uses, in the order of the declaration.
    pub fn arrays(&self) -> impl Iterator<Item = ArrayUse> + '_ {
        self.accesses.iter().enumerate().filter_map(|(position, access)| {
            Some(ArrayUse { array: access.array?, mode: access.mode, bytes: self.bytes_of(position) })
        })
    }

    /// The bytes of access `position`: for a contribution, of the private buffer.
    pub(crate) fn bytes_of(&self, position: usize) -> usize {
        self.access(position).layout.len() * self.element_bytes(position)
    }

    fn element_bytes(&self, position: usize) -> usize {
        match &self.action {
            Action::Kernel(call) | Action::Program(call) | Action::External(call) => {
                let parameter = call.over.map_or(position, |over| over.parameter_of(position));
                let is_operand = position < self.operand_count();
                let parameter = call.codelet.parameters.get(parameter).filter(|_| is_operand);
                parameter.map_or(1, |parameter| parameter.kernel_element().size_bytes)
            }
            Action::Combine(combination) => combination.element_of(position).size_bytes,
            Action::Wait | Action::Forget | Action::Split | Action::Join => 0,
        }
    }

    /// The kernel in CUDA for a step of a reduction, if there is one.
    pub(crate) fn cuda_of_reduction(&self) -> Option<CudaInstance> {
        self.combination().and_then(Combination::cuda)
    }

    /// Two conflicting accesses to an array, or to an array and a part of it, if there are any. The borrows of
    /// generated wrappers exclude them; a submission by ids checks for them.
    pub(crate) fn alias(&self) -> Option<(usize, usize)> {
        let accesses = self.accesses.iter();
        accesses.enumerate().find_map(|(later, access)| {
            let before = self.accesses.iter().take(later);
            let conflicts =
                |other: &&AccessDesc| access.meets(other) && !(access.is_shared() && other.is_shared());
            before.enumerate().find(|(_, other)| conflicts(other)).map(|(earlier, _)| (earlier, later))
        })
    }
}

impl fmt::Debug for TaskDesc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.codelet_if_any() {
            Some(codelet) => write!(f, "{}#{}", codelet.name, self.sequence)?,
            None => write!(f, "{}", self.action.name())?,
        }
        f.debug_list().entries(self.accesses.iter()).finish()
    }
}
