//! Calls a task's kernel: prepares its operands and its buffers.
#![allow(unsafe_code, reason = "hands a task's arrays to its kernel")]

use std::panic::Location;
use std::ptr::NonNull;

use super::context::{Pin, WorkerContext};
use super::execute::begin_ns;
use super::fold;
use super::parallelism::Parallelism;
use super::task_error::{TaskError, caught};
use crate::access::AccessMode;
use crate::autotune::{RunTarget, Selection};
use crate::check::Inspected;
use crate::codelet::{Codelet, Kernel, Operand, Packs, Views, kernel_memory};
use crate::description::{self as desc, Over};
use crate::engine::Shared;
use crate::error::Shortage;
use crate::explain::Call;
use crate::float_control::FloatControl;
use crate::graph::ArrayState;
use crate::graph::Submitted;
use crate::memory::HOME;
use crate::memory::{Buffer, Holder};
use crate::perf::Measurement;
use crate::shape::Layout;

/// Makes the operands of the task's kernel, in the order of its parameters.
pub(super) fn prepare(
    shared: &Shared,
    context: &mut WorkerContext,
    task: &Submitted,
) -> Result<(), TaskError> {
    let requester = fold::requester(task.desc());
    let mut operands = 0;
    for desc::Operand { position, parameter, access } in task.desc().operands() {
        let array = task.access(position).state();
        let pointer = match (array, &parameter.accumulator) {
            (None, _) => {
                let bytes = access.layout.len() * parameter.element.size_bytes;
                scratch(shared, context, position, bytes, requester.location)?
            }
            (Some(array), Some(accumulator)) => {
                // SAFETY: the task is ready, so it holds its accesses, and that of a reduction, to a leaf, is
                // exclusive.
                unsafe { fold::leaf(array, accumulator, access, context.node, requester) }?
            }
            // SAFETY: the task is ready, so it holds its accesses.
            (Some(array), None) => unsafe { array.prepare_at(context.node, access.mode, requester) }?,
        };
        let mut is_elsewhere = array.is_some() && parameter.accumulator.is_some();
        if let (Some(array), true) = (array, context.node != HOME) {
            context.pinned.push(Pin { array: NonNull::from(array), node: context.node });
            is_elsewhere = true;
        }
        // Filled in place: constructing it elsewhere and moving it takes longer than all else here.
        if operands == context.operands.len() {
            context.operands.push(Operand::EMPTY);
        }
        let operand = &mut context.operands[operands];
        operands += 1;
        operand.pointer = pointer;
        operand.element = parameter.kernel_element();
        operand.writes = !access.mode.is_shared();
        operand.reads = access.mode != AccessMode::W;
        if is_elsewhere {
            // A buffer or a replica is contiguous, even if the part is strided at home.
            operand.layout.set_contiguous(access.layout.extents());
        } else {
            operand.layout.assign(&access.layout);
        }
    }
    context.operands.truncate(operands);
    for tag in task.tags().filter(|tag| tag.mode == AccessMode::W) {
        let array = tag.state().expect("a tag is an array");
        // SAFETY: the task is ready, so it holds its accesses.
        unsafe { array.prepare(AccessMode::W) }.map_err(TaskError::Cancelled)?;
    }
    Ok(())
}

/// A temporary buffer of at least `bytes` bytes, number `index` of the thread. In a device's memory, replicas that no
/// task uses are evicted for it.
fn scratch(
    shared: &Shared,
    context: &mut WorkerContext,
    index: usize,
    bytes: usize,
    location: &'static Location<'static>,
) -> Result<*mut u8, Shortage> {
    let WorkerContext { scratch: buffers, memory, node, .. } = context;
    if buffers.len() <= index {
        buffers.resize_with(index + 1, Buffer::default);
    }
    loop {
        let shortage = match buffers[index].at_least(memory, bytes, Holder::new("scratch", location)) {
            Ok(buffer) => return Ok(buffer),
            Err(shortage) => shortage,
        };
        let device = shared.devices().filter(|_| *node != HOME).map(|devices| devices.memory(*node));
        let free_ns = device.and_then(|device| device.register.evict(*node)).ok_or(shortage)?;
        context.room_ns = context.room_ns.max(free_ns);
    }
}

/// Calls the kernel and measures it.
pub(super) fn call(
    shared: &Shared,
    context: &mut WorkerContext,
    task: &Submitted,
    codelet: &'static Codelet,
    simulated_ns: Option<u64>,
) -> Result<(), TaskError> {
    let idle = shared.helpers().idle();
    let has_team = context.is_in_pool && shared.cpu_workers() > 1;
    let target =
        RunTarget { kind: &context.kind, idle: if has_team { idle } else { 0 }, has_team, cuda: None };
    let selection = context.choices.select(shared.choices(), target, codelet, task.desc());
    if shared.recorder().is_some() {
        context.times.with(shared.models(), &context.kind, codelet, selection.kernel.name(), task.desc());
        context.times.team = selection.team;
    }
    let others = shared.cpu_workers() - usize::from(context.worker.is_some());
    let others_busy = simulated_ns.is_none().then(|| others.saturating_sub(idle));
    let result = call_kernel(shared, context, task, codelet, &selection, simulated_ns);
    let Selection { kernel, team, .. } = selection;
    selection.end(result.as_ref().ok().copied());
    let time_ns = result?;
    let measurement = Measurement { time_ns, ..Measurement::default() };
    let key = context.models.record(
        shared.models(),
        &context.kind,
        codelet,
        kernel.name(),
        task.desc(),
        measurement,
    );
    let call = Call { time_ns, others_busy, team, transferred: context.transferred };
    let of = (codelet, kernel.name());
    context.call_logs.record(shared.call_logs(), key, (&context.name, &context.kind), of, task.desc(), call);
    Ok(())
}

/// Calls the kernel of a selection. Returns its duration.
fn call_kernel(
    shared: &Shared,
    context: &mut WorkerContext,
    task: &Submitted,
    codelet: &'static Codelet,
    selection: &Selection,
    simulated_ns: Option<u64>,
) -> Result<u64, TaskError> {
    let kernel = selection.kernel;
    let renamed = rename(shared, context, task, kernel)?;
    let desc = task.desc();
    context.packs.begin(desc.location());
    let inspected = Inspected { codelet, kernel, location: desc.location() };
    if shared.check_notes().is_some() {
        // SAFETY: invariant V, as below.
        unsafe { context.inspection.begin(inspected, &mut context.operands) };
    }
    let parallelism = Parallelism::new(shared, selection, context.is_in_pool);
    let start_ns = begin_ns(shared);
    shared.stall().begin(context.worker, start_ns);
    context.times.begin_ns = Some(start_ns);
    // SAFETY: invariant V of `Operand`: the task is ready, so it holds its accesses: shared ones to its inputs,
    // exclusive ones to its outputs. Private and scratch buffers are its own. Arrays are in zeroed blocks, so all is
    // initialised, and in blocks or vectors aligned for their elements.
    let ran = unsafe { run(parallelism, inspected, &context.operands, desc.arguments(), &mut context.packs) };
    let kernel_ns = simulated_ns.unwrap_or_else(|| shared.clock().ns_since(start_ns));
    if ran.is_err() {
        context.lost_ns = kernel_ns;
    }
    let left = shared.check_notes().and_then(|_| FloatControl::restore_after_kernel());
    ran?;
    context.times.kernel_ns = Some(kernel_ns);
    if let Some(notes) = shared.check_notes() {
        if let Some(left) = left {
            context.lost_ns = kernel_ns;
            return Err(TaskError::Failed(format!(
                "the kernel `{}` changed floating-point arithmetic for all tasks after it: {left}",
                kernel.name()
            )));
        }
        let WorkerContext { operands, packs, inspection, lost_ns, .. } = context;
        let again = |operands: &[Operand]| {
            // SAFETY: invariant V: these operands are as above, except for the inspection's own buffers.
            unsafe { run(parallelism, inspected, operands, desc.arguments(), packs) }.is_ok()
        };
        // SAFETY: invariant V, as above; the kernel has ended, and its views with it.
        let passed = unsafe { inspection.end(inspected, operands, notes, again) };
        passed.map_err(|message| {
            *lost_ns = kernel_ns;
            TaskError::Failed(message)
        })?;
    }
    match renamed {
        // SAFETY: the task's access to the target is exclusive, and no view is left.
        Some(Renamed::Array(array)) => unsafe { array.rename() },
        // SAFETY: both are in a device's memory, contiguous and of one shape; no view is left.
        Some(Renamed::Copy { from, to, bytes }) => unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) },
        None => {}
    }
    Ok(kernel_ns)
}

/// Runs a kernel once on its operands.
///
/// # Safety
/// Invariant V of [`Operand`] holds for each.
unsafe fn run(
    parallelism: Parallelism<'_>,
    Inspected { codelet, kernel, .. }: Inspected,
    operands: &[Operand],
    arguments: &[u8],
    packs: &mut Packs,
) -> Result<(), TaskError> {
    kernel_memory::begin(packs.location());
    // SAFETY: the caller's.
    let mut views = unsafe { Views::new(operands, arguments, packs) };
    caught(|| parallelism.run(codelet, kernel, &mut views))?;
    // SAFETY: the same operands; the kernel has ended, and its views with it.
    unsafe { packs.unpack(operands) };
    Ok(())
}

/// If the task runs in place with a kernel that is not for that, the target becomes an input and a spare buffer the
/// output; returns the work that remains after the kernel.
fn rename<'r>(
    shared: &Shared,
    context: &mut WorkerContext,
    task: &'r Submitted,
    kernel: &'static Kernel,
) -> Result<Option<Renamed<'r>>, Shortage> {
    let Some(over) = task.desc().over() else { return Ok(None) };
    let (codelet, location) = (task.desc().codelet(), task.desc().location());
    let own = codelet.in_place.as_ref().and_then(|in_place| in_place.kernel.as_ref());
    if own.is_some_and(|own| std::ptr::eq(own, kernel)) {
        return Ok(None);
    }
    let Over { output, position, .. } = over;
    let target = task.access(position);
    let array = target.state().expect("a target is an array");
    let mut layout = Layout::EMPTY;
    layout.set_contiguous(target.desc().extents());
    let element = codelet.parameters[output].element;
    let (spare, renamed) = if context.node == HOME {
        // SAFETY: the task's access to the target is exclusive.
        (unsafe { array.spare(location) }?, Renamed::Array(array))
    } else {
        let bytes = layout.len() * element.size_bytes;
        let place = codelet.parameters.len();
        let from = scratch(shared, context, place, bytes, location)?;
        (from, Renamed::Copy { from, to: context.operands[position].pointer, bytes })
    };
    context.operands[position].writes = false;
    context.operands.insert(output, Operand { pointer: spare, layout, element, writes: true, reads: false });
    Ok(Some(renamed))
}

/// The work that remains when a kernel has written to another buffer than its target's.
enum Renamed<'r> {
    /// The buffer replaces the target's.
    Array(&'r ArrayState),
    /// Its elements are copied to the target, in a device's memory.
    Copy { from: *mut u8, to: *mut u8, bytes: usize },
}
