//! [`DeviceOperands`]: the addresses of a task's arrays on the device, and the memory of the task itself.

use std::panic::Location;

use super::super::fold;
use super::super::task_error::{TaskError, caught};
use super::Worker;
use crate::access::AccessMode;
use crate::codelet::{Accumulator, Operand};
use crate::cuda::{Allocation, CudaError, Event};
use crate::description::{self as desc, AccessDesc, Over, Step as Part};
use crate::device::FetchError;
use crate::device::Room;
use crate::graph::ArrayState;
use crate::graph::Submitted;
use crate::memory::Holder;
use crate::shape::Layout;

/// The operands of a task.
pub(super) struct DeviceOperands<'r> {
    /// In the order of the kernel's views.
    pub(super) list: Vec<Operand>,
    /// The task's own memory: it is freed in stream order when the task has been issued.
    pub(super) own: Vec<Allocation>,
    /// The array that a task overwrites, and the memory that its kernel writes, which replaces that of the array's
    /// replica.
    renamed: Option<(&'r ArrayState, Allocation)>,
    /// Arrays that are in use while the task is issued.
    arrays: Vec<(&'r ArrayState, bool)>,
    node: usize,
}

impl Drop for DeviceOperands<'_> {
    fn drop(&mut self) {
        // Later uses wait for what is in the streams (D2, D3).
        self.arrays.iter().for_each(|(array, _)| array.unpin(self.node));
    }
}

impl<'r> DeviceOperands<'r> {
    /// None yet, in the memory `node`.
    pub(super) fn new(node: usize) -> Self {
        Self { list: Vec::new(), own: Vec::new(), renamed: None, arrays: Vec::new(), node }
    }

    /// Notes an array that is in use.
    pub(super) fn note(&mut self, array: &'r ArrayState, writes: bool) {
        self.arrays.push((array, writes));
    }
}

impl DeviceOperands<'_> {
    /// Records that the task is in the compute stream, up to `event`.
    pub(super) fn stamp(mut self, event: &Event) {
        for (array, writes) in &self.arrays {
            array.stamp(self.node, event, *writes);
        }
        if let Some((array, mut room)) = self.renamed.take() {
            room.leave_compute(event, true);
            array.replace_room(self.node, Room::Cuda(room));
        }
        for own in &mut self.own {
            own.leave_compute(event, true);
        }
    }
}

impl Worker<'_> {
    /// Copies the task's arrays to the device; the compute stream waits for what must come before.
    pub(super) fn operands<'r>(&self, task: &'r Submitted) -> Result<DeviceOperands<'r>, TaskError> {
        let node = self.context.node;
        let mut operands = DeviceOperands::new(node);
        for desc::Operand { position, parameter, access } in task.desc().operands() {
            let mut layout = Layout::EMPTY;
            // A replica is contiguous, even if the part is strided at home.
            layout.set_contiguous(access.layout.extents());
            let pointer = match (task.access(position).state(), &parameter.accumulator) {
                (None, _) => {
                    self.own_memory(&mut operands, layout.len() * parameter.element.size_bytes, task)?
                }
                (Some(array), accumulator) => {
                    // SAFETY: the task is ready, so it holds its accesses.
                    unsafe { self.fetch(&mut operands, array, accumulator.as_ref(), access, task) }?
                }
            };
            let element = parameter.kernel_element();
            let (writes, reads) = (!access.mode.is_shared(), access.mode != AccessMode::W);
            operands.list.push(Operand { pointer, layout, element, writes, reads });
        }
        for tag in task.tags().filter(|tag| tag.mode == AccessMode::W) {
            let array = tag.state().expect("a tag is an array");
            // SAFETY: the task is ready, so it holds its accesses.
            unsafe { array.prepare(AccessMode::W) }.map_err(TaskError::Cancelled)?;
        }
        if let Some(over) = task.desc().over() {
            self.rename(&mut operands, task, over)?;
        }
        Ok(operands)
    }

    /// Copies the arrays of a reduction's task to the device, as [`operands`](Self::operands) does. Also returns
    /// whether the first one has a value that is kept.
    pub(super) fn operands_of_reduction<'r>(
        &self,
        task: &'r Submitted,
    ) -> Result<(DeviceOperands<'r>, bool), TaskError> {
        let (node, requester) = (self.context.node, fold::requester(task.desc()));
        let mut operands = DeviceOperands::new(node);
        let is_finish = task.desc().combination().is_some_and(|what| matches!(what.step, Part::Finish(_)));
        let mut keep_old = true;
        // Inputs first: a total whose replica was created here has a value for a worker that runs the task elsewhere.
        let accesses: Vec<_> = task.accesses().enumerate().collect();
        for (index, access) in accesses.into_iter().rev() {
            let array = access.state().expect("an array or a buffer, and another buffer");
            let writes = index == 0;
            let pointer = if is_finish && writes {
                let begins = access.begins;
                keep_old = !begins;
                // SAFETY: the task is ready, so it holds its accesses, of which this one is exclusive.
                unsafe { array.prepare_total_at(begins, node, requester) }?
            } else {
                let mode = if writes { AccessMode::RW } else { AccessMode::R };
                // SAFETY: as above; the access to what is read is shared.
                unsafe { array.prepare_at(node, mode, requester) }?
            };
            operands.arrays.push((array, writes));
            let mut layout = Layout::EMPTY;
            layout.set_contiguous(access.desc().extents());
            let element = *array.element().expect("an array in use has elements");
            operands.list.push(Operand { pointer, layout, element, writes, reads: true });
        }
        operands.list.reverse();
        Ok((operands, keep_old))
    }

    /// Copies an array to the device.
    ///
    /// # Safety
    /// The task is ready and not completed.
    unsafe fn fetch<'r>(
        &self,
        operands: &mut DeviceOperands<'r>,
        array: &'r ArrayState,
        accumulator: Option<&Accumulator>,
        access: &AccessDesc,
        task: &Submitted,
    ) -> Result<*mut u8, TaskError> {
        let requester = fold::requester(task.desc());
        let begins = accumulator.filter(|_| access.begins);
        let pointer = match (accumulator, begins) {
            // SAFETY: guaranteed by the caller; the access of a reduction, to a leaf, is exclusive.
            (_, Some(_)) => unsafe { array.begin_leaf(operands.node, requester) }?,
            // SAFETY: as above.
            (Some(_), None) => unsafe { array.prepare_at(operands.node, AccessMode::RW, requester) }?,
            // SAFETY: guaranteed by the caller.
            (None, None) => unsafe { array.prepare_at(operands.node, access.mode, requester) }?,
        };
        operands.arrays.push((array, !access.mode.is_shared()));
        if let Some(word) = begins.and_then(Accumulator::identity_word) {
            array.set_replica(operands.node, word)?;
        } else if let Some(accumulator) = begins {
            let mut filled = Ok(());
            let used = access.layout.len() * accumulator.element().size_bytes;
            let fill = |elements: &mut [u8]| {
                filled = caught(|| accumulator.fill_identity(&mut elements[..used]));
            };
            array.fill_replica(operands.node, fill)?;
            filled?;
        }
        Ok(pointer)
    }

    /// The task's own memory, uninitialised.
    pub(super) fn own_memory(
        &self,
        operands: &mut DeviceOperands<'_>,
        bytes: usize,
        task: &Submitted,
    ) -> Result<*mut u8, TaskError> {
        let own = self.allocate(bytes, "scratch", task.desc().location())?;
        let pointer = own.pointer();
        operands.own.push(own);
        Ok(pointer)
    }

    /// Uninitialised memory for the compute stream.
    pub(super) fn allocate(
        &self,
        bytes: usize,
        what: &'static str,
        location: &'static Location<'static>,
    ) -> Result<Allocation, TaskError> {
        let holder = Holder::new(what, location);
        let failed = |error: CudaError| FetchError::Device { node: self.context.node, error: Some(error) };
        match self.memory.room(bytes, holder, false)? {
            (Room::Cuda(mut allocation), _) => {
                allocation.enter_compute(true).map_err(failed)?;
                Ok(allocation)
            }
            (Room::Host(_), _) => unreachable!("a CUDA device's memory is its own"),
        }
    }

    /// Makes a task that overwrites one of its inputs write to other memory, which finally replaces that input's.
    fn rename<'r>(
        &self,
        operands: &mut DeviceOperands<'r>,
        task: &'r Submitted,
        over: Over,
    ) -> Result<(), TaskError> {
        let Over { output, position, .. } = over;
        let array = task.access(position).state().expect("a target is an array");
        let layout = operands.list[position].layout;
        let element = task.desc().codelet().parameters[output].element;
        let room =
            self.allocate(layout.len() * element.size_bytes, "rename buffer", task.desc().location())?;
        let written = Operand { pointer: room.pointer(), layout, element, writes: true, reads: false };
        operands.list.insert(output, written);
        operands.renamed = Some((array, room));
        Ok(())
    }
}
