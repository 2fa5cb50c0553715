//! Running one task: its arrays are prepared, its kernel is called, its outputs are settled.
#![allow(unsafe_code, reason = "hands a task's arrays to its kernel")]

use std::any::Any;
use std::panic::Location;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::{Recycler, as_kernel, fold};
use crate::access::AccessMode;
use crate::array::ArrayState;
use crate::check::{Inspected, Inspection};
use crate::codelet::{Codelet, Kernel, Operand, Packs, Views};
use crate::error::{Failure, Shortage};
use crate::memory::{Buffer, Holder, MemoryNode};
use crate::perf::{Measurement, ModelCache};
use crate::runtime::Shared;
use crate::shape::Layout;
use crate::task::{Kind, ReadyTask, Record, Step};

/// What a thread that runs tasks keeps from one to the next.
pub(crate) struct Bench {
    /// None for the host, when it helps.
    worker: Option<usize>,
    name: String,
    operands: Vec<Operand>,
    packs: Packs,
    scratch: Vec<Buffer>,
    inspection: Inspection,
    models: ModelCache,
    pub(crate) recycler: Recycler,
}

// SAFETY: the operands' pointers are leftovers of a task that has ended; they are cleared before the next.
unsafe impl Send for Bench {}

impl Bench {
    pub(crate) fn new(worker: Option<usize>, name: String, memory: &Arc<MemoryNode>) -> Self {
        Self {
            worker,
            name,
            operands: Vec::new(),
            packs: Packs::new(Some(Arc::clone(memory))),
            scratch: Vec::new(),
            inspection: Inspection::default(),
            models: ModelCache::default(),
            recycler: Recycler::default(),
        }
    }
}

/// Runs a task, and what must follow. Never panics, whatever the kernel does.
pub(crate) fn execute(shared: &Shared, bench: &mut Bench, task: ReadyTask) {
    let record = task.record();
    let codelet = record.body().codelet.expect("a task that workers run has a codelet");
    shared.stall().take(bench.worker, record.body().sequence);
    let outcome = match record.body().kind {
        Kind::Fold(accumulator) => fold::fold(record, accumulator),
        Kind::Finish(accumulator) => fold::finish(record, accumulator),
        _ => prepare(shared, bench, record, codelet).and_then(|()| call(shared, bench, record, codelet)),
    };
    if let Err(obstacle) = outcome {
        let failure = match obstacle {
            Obstacle::Cancelled(first_cause) => first_cause,
            Obstacle::Failed(message) => {
                let failure = failure(bench, record, codelet, message);
                shared.note_failure(&failure);
                failure
            }
        };
        for access in record
            .accesses()
            .filter(|access| access.body().mode.writes() || is_target(record, access.body().mode))
        {
            if let Some(array) = access.array() {
                // SAFETY: the task's access to the array is exclusive, and its kernel has ended.
                unsafe { array.poison(&failure) };
            }
        }
    }
    shared.stall().end(bench.worker);
    Step::of_worker(shared, bench.worker, &mut bench.recycler).complete(record);
    shared.count_completed(bench.worker);
}

fn is_target(record: &Record, mode: AccessMode) -> bool {
    record.body().in_place && mode == AccessMode::RW
}

/// Why a task has no result.
pub(super) enum Obstacle {
    /// One that it depends on failed.
    Cancelled(Arc<Failure>),
    /// It failed itself: what happened.
    Failed(String),
}

impl From<Shortage> for Obstacle {
    fn from(shortage: Shortage) -> Self {
        Self::Failed(format!("out of memory: {shortage}"))
    }
}

/// Makes the operands of the task's kernel, in the order of its parameters.
fn prepare(shared: &Shared, bench: &mut Bench, record: &Record, codelet: &Codelet) -> Result<(), Obstacle> {
    bench.operands.clear();
    let output = if record.body().in_place { codelet.output() } else { None };
    // In place, parameters follow each other without the output.
    let mut accesses = record.accesses().enumerate();
    for (index, parameter) in codelet.parameters.iter().enumerate() {
        if Some(index) == output {
            continue;
        }
        let Some((position, access)) = accesses.next() else { break };
        let body = access.body();
        let mut operand = Operand {
            pointer: std::ptr::null_mut(),
            layout: body.layout,
            element: parameter.kernel_element(),
            writes: !body.mode.is_shared(),
            reads: body.mode != AccessMode::W,
        };
        operand.pointer = match (access.array(), &parameter.accumulator) {
            (None, _) => {
                let bytes = body.layout.len() * parameter.element.size_bytes;
                scratch(shared, &mut bench.scratch, position, bytes, record.body().location)
                    .map_err(Obstacle::from)?
            }
            (Some(array), Some(accumulator)) => {
                operand.layout.set_contiguous(body.layout.extents());
                // SAFETY: the task is ready, so it holds its accesses, and that of a reduction, to a private buffer, is
                // exclusive.
                unsafe { fold::leaf(array, accumulator, body) }?
            }
            // SAFETY: the task is ready, so it holds its accesses.
            (Some(array), None) => unsafe { array.prepare(body.mode) }.map_err(Obstacle::Cancelled)?,
        };
        bench.operands.push(operand);
    }
    Ok(())
}

/// A temporary buffer of at least `bytes` bytes, the thread's number `index`.
fn scratch(
    shared: &Shared,
    buffers: &mut Vec<Buffer>,
    index: usize,
    bytes: usize,
    location: &'static Location<'static>,
) -> Result<*mut u8, Shortage> {
    if buffers.len() <= index {
        buffers.resize_with(index + 1, Buffer::default);
    }
    buffers[index].at_least(shared.memory(), bytes, Holder::new("scratch", location))
}

/// Calls the kernel and measures it.
fn call(
    shared: &Shared,
    bench: &mut Bench,
    record: &Record,
    codelet: &'static Codelet,
) -> Result<(), Obstacle> {
    let (kernel, renamed) = rename(bench, record, codelet)?;
    let body = record.body();
    bench.packs.begin(body.location);
    let inspected = Inspected { codelet, kernel, location: body.location };
    if shared.check_notes().is_some() {
        // SAFETY: invariant V, as below.
        unsafe { bench.inspection.begin(inspected, &mut bench.operands) };
    }
    let start_ns = shared.clock().now_ns();
    shared.stall().begin(bench.worker, start_ns);
    // SAFETY: invariant V of `Operand`: the task is ready, so it holds its accesses: shared ones to what it reads,
    // exclusive ones to what it writes. Private and scratch buffers are its own. Arrays lie in zeroed blocks, so all
    // is initialised, and in blocks or vectors aligned for their elements.
    unsafe { run(kernel, &bench.operands, &body.arguments, &mut bench.packs) }?;
    let kernel_ns = shared.clock().now_ns() - start_ns;
    if let Some(notes) = shared.check_notes() {
        let Bench { operands, packs, inspection, .. } = bench;
        // SAFETY: invariant V: these operands are as above, but for buffers of the inspection's own.
        let again = |operands: &[Operand]| unsafe { run(kernel, operands, &body.arguments, packs) }.is_ok();
        // SAFETY: invariant V, as above; the kernel has ended, and its views with it.
        unsafe { inspection.end(inspected, operands, notes, again) }.map_err(Obstacle::Failed)?;
    }
    if let Some(array) = renamed {
        // SAFETY: the task's access to the target is exclusive, and no view is left.
        unsafe { array.rename() };
    }
    let measurement = Measurement { time_ns: kernel_ns, ..Measurement::default() };
    bench.models.record(shared.models(), codelet, kernel, record, measurement);
    Ok(())
}

/// Runs a kernel once on its operands.
///
/// # Safety
/// Invariant V of [`Operand`] holds for each.
unsafe fn run(
    kernel: &Kernel,
    operands: &[Operand],
    arguments: &[u8],
    packs: &mut Packs,
) -> Result<(), Obstacle> {
    // SAFETY: the caller's.
    let mut views = unsafe { Views::new(operands, arguments, packs) };
    caught(|| kernel.run(&mut views))?;
    // SAFETY: the same operands; the kernel has ended, and its views with it.
    unsafe { packs.unpack(operands) };
    Ok(())
}

/// The kernel of the task. If it runs in place without a kernel made for that, the target becomes an input, a spare
/// buffer the output, and the array is returned that is to be renamed.
fn rename<'r>(
    bench: &mut Bench,
    record: &'r Record,
    codelet: &'static Codelet,
) -> Result<(&'static Kernel, Option<&'r ArrayState>), Shortage> {
    let chosen = record.body().kernel;
    let ordinary = chosen.or(codelet.cpu_kernel()).expect("checked when the task was submitted");
    let Some(in_place) = codelet.in_place.as_ref().filter(|_| record.body().in_place) else {
        return Ok((ordinary, None));
    };
    if let (Some(kernel), None) = (&in_place.kernel, chosen) {
        return Ok((kernel, None));
    }
    let output = codelet.output().expect("a codelet with `_self` has an output");
    let position = if in_place.target < output { in_place.target } else { in_place.target - 1 };
    let target = record.access(position);
    let array = target.array().expect("a target is an array");
    let mut layout = Layout::EMPTY;
    layout.set_contiguous(target.body().layout.extents());
    let element = codelet.parameters[output].element;
    // SAFETY: the task's access to the target is exclusive.
    let spare = unsafe { array.spare(record.body().location) }?;
    bench.operands[position].writes = false;
    bench.operands.insert(output, Operand { pointer: spare, layout, element, writes: true, reads: false });
    Ok((ordinary, Some(array)))
}

/// Runs a kernel, or code of the user's like one; a panic is a failure.
pub(super) fn caught(kernel: impl FnOnce()) -> Result<(), Obstacle> {
    catch_unwind(AssertUnwindSafe(|| as_kernel(kernel))).map_err(|panic| Obstacle::Failed(message(panic)))
}

fn failure(bench: &Bench, record: &Record, codelet: &Codelet, message: String) -> Arc<Failure> {
    let mut message = message;
    if let Some(name) = record.body().name {
        message = format!("{message} (task `{name}`)");
    }
    Arc::new(Failure::new(codelet.name, bench.name.clone(), record.body().location, message))
}

/// The text of what a kernel was stopped by, whose payload is dropped.
fn message(panic: Box<dyn Any + Send>) -> String {
    let text = if let Some(text) = panic.downcast_ref::<&str>() {
        format!("panicked: {text}")
    } else if let Some(text) = panic.downcast_ref::<String>() {
        format!("panicked: {text}")
    } else if let Some(shortage) = panic.downcast_ref::<Shortage>() {
        format!("out of memory: {shortage}")
    } else {
        "panicked: a value that is not text".to_owned()
    };
    // The payload is the user's, and its drop may panic. So may that of the next payload, which is not tried.
    if let Err(next) = catch_unwind(AssertUnwindSafe(|| as_kernel(|| drop(panic)))) {
        std::mem::forget(next);
    }
    text
}
