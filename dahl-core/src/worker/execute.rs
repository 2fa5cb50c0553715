//! Running one task: its arrays are prepared, its kernel is called, its outputs are settled.
#![allow(unsafe_code, reason = "hands a task's arrays to its kernel")]

use std::any::Any;
use std::panic::Location;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::Arc;

use super::team::Crew;
use super::{Recycler, as_kernel, fold};
use crate::access::AccessMode;
use crate::array::{ArrayState, HOME, Missing};
use crate::check::{Inspected, Inspection};
use crate::choice::{ChoiceCache, Place, Plan};
use crate::codelet::{Codelet, Kernel, Operand, Packs, Views};
use crate::device::Speed;
use crate::error::{Failure, Shortage};
use crate::explain::{Call, TrailCache};
use crate::memory::{Buffer, Holder, MemoryNode};
use crate::perf::{self, Measurement, ModelCache};
use crate::runtime::Shared;
use crate::scheduler::CPU;
use crate::shape::Layout;
use crate::task::{Access, Kind, ReadyTask, Record, Step};

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
    choices: ChoiceCache,
    trails: TrailCache,
    pub(crate) recycler: Recycler,
    /// The memory that its kernels work in.
    node: usize,
    memory: Arc<MemoryNode>,
    /// The kind of worker that it belongs to.
    kind: Arc<str>,
    /// Copies that the running task uses, if they are in a device's memory.
    pinned: Vec<Pin>,
    /// When room that was made for the running task's buffers is free, if they are there.
    room_ns: u64,
    /// Whether the thread is one of the runtime's pool.
    is_in_pool: bool,
    /// Whether data were copied for the running task from another memory node.
    transferred: bool,
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
            models: ModelCache::new(worker),
            choices: ChoiceCache::default(),
            trails: TrailCache::default(),
            recycler: Recycler::default(),
            node: HOME,
            memory: Arc::clone(memory),
            kind: Arc::from(CPU),
            pinned: Vec::new(),
            room_ns: 0,
            is_in_pool: false,
            transferred: false,
        }
    }

    /// The bench of a thread of the runtime's pool.
    pub(super) fn in_pool(mut self) -> Self {
        self.is_in_pool = !cfg!(dahl_fuzz);
        self
    }

    /// The bench of a device of the kind `kind`, whose memory has the number `node`.
    pub(crate) fn at_node(mut self, node: usize, kind: &str) -> Self {
        (self.node, self.kind) = (node, Arc::from(kind));
        self
    }

    /// Frees the buffers that it keeps from task to task.
    pub(crate) fn free_buffers(&mut self) {
        self.scratch.clear();
    }

    /// The name of the worker.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// A copy in a device's memory that a task uses.
#[derive(Debug)]
pub(crate) struct Pin {
    array: NonNull<ArrayState>,
    node: usize,
}

// SAFETY: the array stays until the task that uses it has been completed.
unsafe impl Send for Pin {}

impl Pin {
    fn let_go(self) {
        // SAFETY: as above.
        unsafe { self.array.as_ref() }.unpin(self.node);
    }
}

/// What a task that has been issued came to; it is completed later.
pub(crate) struct Issued {
    result: Result<(), Obstacle>,
    duration_ns: u64,
    arrived_ns: u64,
    pinned: Vec<Pin>,
}

impl Issued {
    /// How long it takes, by the model of the machine.
    pub(crate) fn duration_ns(&self) -> u64 {
        self.duration_ns
    }

    /// When its data are there.
    pub(crate) fn arrived_ns(&self) -> u64 {
        self.arrived_ns
    }

    /// Whether it could not begin because a memory is too small.
    pub(crate) fn has_no_room(&self) -> bool {
        matches!(self.result, Err(Obstacle::NoRoom(_)))
    }

    /// Lets go of the copies that it was to use.
    pub(crate) fn let_go(self) {
        self.pinned.into_iter().for_each(Pin::let_go);
    }
}

/// Runs a task of a simulation: its kernel, not what follows. `failure` makes it fail instead.
pub(crate) fn issue(
    shared: &Shared,
    bench: &mut Bench,
    record: &Record,
    speed: &Speed,
    failure: Option<String>,
) -> Issued {
    let codelet = record.body().codelet.expect("a task that workers run has a codelet");
    let (flops, bytes) = perf::work(codelet, record);
    let duration_ns = match record.body().kind {
        Kind::Kernel => speed.duration_ns(codelet.name, flops, bytes),
        _ => speed.duration_ns("", None, bytes),
    };
    let result = match failure {
        Some(failure) => Err(Obstacle::Failed(failure)),
        None => run_task(shared, bench, record, codelet, Some(duration_ns)),
    };
    let arrivals = record.accesses().filter_map(Access::array);
    let arrivals = arrivals.map(|array| array.copies().arrived_ns(bench.node));
    let arrived_ns = arrivals.max().unwrap_or(0).max(std::mem::take(&mut bench.room_ns));
    Issued { result, duration_ns, arrived_ns, pinned: std::mem::take(&mut bench.pinned) }
}

/// Completes a task of a simulation.
pub(crate) fn finish(shared: &Shared, bench: &mut Bench, record: &Record, issued: Issued) {
    issued.pinned.into_iter().for_each(Pin::let_go);
    complete(shared, bench, record, issued.result);
}

/// Runs a task, and what must follow. Never panics, whatever the kernel does.
pub(crate) fn execute(shared: &Shared, bench: &mut Bench, task: ReadyTask) {
    let record = task.record();
    let codelet = record.body().codelet.expect("a task that workers run has a codelet");
    shared.stall().take(bench.worker, record.body().sequence);
    let outcome = run_task(shared, bench, record, codelet, None);
    complete(shared, bench, record, outcome);
}

/// Runs what a task consists of. In a simulation it takes `simulated_ns`.
fn run_task(
    shared: &Shared,
    bench: &mut Bench,
    record: &Record,
    codelet: &'static Codelet,
    simulated_ns: Option<u64>,
) -> Result<(), Obstacle> {
    match record.body().kind {
        Kind::Fold(accumulator) => {
            measured(shared, bench, record, codelet, simulated_ns, || fold::fold(record, accumulator))
        }
        Kind::Finish(accumulator) => {
            measured(shared, bench, record, codelet, simulated_ns, || fold::finish(record, accumulator))
        }
        _ => {
            bench.transferred =
                shared.devices().is_some() && record.operands().any(|access| is_missing(access, bench.node));
            prepare(shared, bench, record, codelet)?;
            call(shared, bench, record, codelet, simulated_ns)
        }
    }
}

/// Runs a task of a reduction and measures it.
fn measured(
    shared: &Shared,
    bench: &mut Bench,
    record: &Record,
    codelet: &'static Codelet,
    simulated_ns: Option<u64>,
    run: impl FnOnce() -> Result<(), Obstacle>,
) -> Result<(), Obstacle> {
    let start_ns = shared.clock().now_ns();
    run()?;
    let time_ns = simulated_ns.unwrap_or_else(|| shared.clock().now_ns() - start_ns);
    if let Some(kernel) = perf::kernel_of(record) {
        let measurement = Measurement { time_ns, ..Measurement::default() };
        bench.models.record(shared.models(), &bench.kind, codelet, kernel, record, measurement);
    }
    Ok(())
}

/// What follows when a task has run: its failure goes to its outputs, and what waits for it goes on.
fn complete(shared: &Shared, bench: &mut Bench, record: &Record, outcome: Result<(), Obstacle>) {
    let codelet = record.body().codelet.expect("a task that workers run has a codelet");
    let mut failed = None;
    if let Err(obstacle) = outcome {
        let failure = match obstacle {
            Obstacle::Cancelled(first_cause) => first_cause,
            Obstacle::Failed(message) => {
                let failure = failure(bench, record, codelet, message);
                shared.note_failure(&failure);
                failure
            }
            Obstacle::NoRoom(shortage) => {
                let failure = failure(bench, record, codelet, format!("out of memory: {shortage}"));
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
        failed = Some(failure);
    }
    shared.stall().end(bench.worker);
    shared.tell_completed(record.body().sequence, bench.worker);
    // SAFETY: this thread runs the task, and completes it below.
    let callback = unsafe { record.take_callback() };
    let location = record.body().location;
    Step::of_worker(shared, bench.worker, &mut bench.recycler).complete(record);
    if let Some(callback) = callback {
        if let Err(Obstacle::Failed(message)) = caught(|| callback.call(failed.as_ref())) {
            let message = format!("its callback {message}");
            shared.note_failure(&Arc::new(Failure::new(codelet.name, bench.name.clone(), location, message)));
        }
        shared.progress().notify();
    }
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
    /// A memory that it needs cannot be had.
    NoRoom(Shortage),
}

impl From<Shortage> for Obstacle {
    fn from(shortage: Shortage) -> Self {
        Self::NoRoom(shortage)
    }
}

impl From<Missing> for Obstacle {
    fn from(missing: Missing) -> Self {
        match missing {
            Missing::Poisoned(failure) => Self::Cancelled(failure),
            Missing::Shortage(shortage) => Self::NoRoom(shortage),
        }
    }
}

/// Whether an access reads an array that is not at `node`.
fn is_missing(access: &Access, node: usize) -> bool {
    let reads = access.body().mode != AccessMode::W;
    reads && access.array().is_some_and(|array| array.missing_at(node).is_some())
}

/// Makes the operands of the task's kernel, in the order of its parameters.
fn prepare(shared: &Shared, bench: &mut Bench, record: &Record, codelet: &Codelet) -> Result<(), Obstacle> {
    bench.operands.clear();
    let requester = fold::requester(record);
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
                scratch(shared, bench, position, bytes, record.body().location)?
            }
            (Some(array), Some(accumulator)) => {
                operand.layout.set_contiguous(body.layout.extents());
                // SAFETY: the task is ready, so it holds its accesses, and that of a reduction, to a private buffer, is
                // exclusive.
                unsafe { fold::leaf(array, accumulator, body, bench.node, requester) }?
            }
            // SAFETY: the task is ready, so it holds its accesses.
            (Some(array), None) => unsafe { array.prepare_at(bench.node, body.mode, requester) }?,
        };
        if let (Some(array), true) = (access.array(), bench.node != HOME) {
            bench.pinned.push(Pin { array: NonNull::from(array), node: bench.node });
            // A copy is contiguous, whatever the part is at home.
            operand.layout.set_contiguous(body.layout.extents());
        }
        bench.operands.push(operand);
    }
    for (_, tag) in accesses.filter(|(_, tag)| tag.body().mode == AccessMode::W) {
        let array = tag.array().expect("a tag is an array");
        // SAFETY: the task is ready, so it holds its accesses.
        unsafe { array.prepare(AccessMode::W) }.map_err(Obstacle::Cancelled)?;
    }
    Ok(())
}

/// A temporary buffer of at least `bytes` bytes, the thread's number `index`. In a device's memory, copies that no task
/// uses make room.
fn scratch(
    shared: &Shared,
    bench: &mut Bench,
    index: usize,
    bytes: usize,
    location: &'static Location<'static>,
) -> Result<*mut u8, Shortage> {
    let Bench { scratch: buffers, memory, node, .. } = bench;
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
        bench.room_ns = bench.room_ns.max(free_ns);
    }
}

/// Calls the kernel and measures it.
fn call(
    shared: &Shared,
    bench: &mut Bench,
    record: &Record,
    codelet: &'static Codelet,
    simulated_ns: Option<u64>,
) -> Result<(), Obstacle> {
    let idle = shared.team().idle();
    let has_team = bench.is_in_pool && shared.workers() > 1;
    let place = Place { kind: &bench.kind, idle: if has_team { idle } else { 0 }, has_team };
    let plan = bench.choices.plan(shared.choices(), place, codelet, record);
    let others = shared.workers() - usize::from(bench.worker.is_some());
    let others_busy = simulated_ns.is_none().then(|| others.saturating_sub(idle));
    let result = call_kernel(shared, bench, record, codelet, &plan, simulated_ns);
    let Plan { kernel, team, .. } = plan;
    plan.end(result.as_ref().ok().copied());
    let time_ns = result?;
    let measurement = Measurement { time_ns, ..Measurement::default() };
    bench.models.record(shared.models(), &bench.kind, codelet, kernel.name(), record, measurement);
    let call = Call { time_ns, others_busy, team, transferred: bench.transferred };
    let of = (codelet, kernel);
    bench.trails.record(shared.trails(), (&bench.name, &bench.kind), of, record, call);
    Ok(())
}

/// Calls the kernel of a plan: how long it ran.
fn call_kernel(
    shared: &Shared,
    bench: &mut Bench,
    record: &Record,
    codelet: &'static Codelet,
    plan: &Plan,
    simulated_ns: Option<u64>,
) -> Result<u64, Obstacle> {
    let kernel = plan.kernel;
    let renamed = rename(shared, bench, record, codelet, kernel)?;
    let body = record.body();
    bench.packs.begin(body.location);
    let inspected = Inspected { codelet, kernel, location: body.location };
    if shared.check_notes().is_some() {
        // SAFETY: invariant V, as below.
        unsafe { bench.inspection.begin(inspected, &mut bench.operands) };
    }
    let crew = Crew::new(shared, plan, bench.is_in_pool);
    let start_ns = shared.clock().now_ns();
    shared.stall().begin(bench.worker, start_ns);
    // SAFETY: invariant V of `Operand`: the task is ready, so it holds its accesses: shared ones to what it reads,
    // exclusive ones to what it writes. Private and scratch buffers are its own. Arrays lie in zeroed blocks, so all
    // is initialised, and in blocks or vectors aligned for their elements.
    unsafe { run(crew, kernel, &bench.operands, &body.arguments, &mut bench.packs) }?;
    let kernel_ns = simulated_ns.unwrap_or_else(|| shared.clock().now_ns() - start_ns);
    if let Some(notes) = shared.check_notes() {
        let Bench { operands, packs, inspection, .. } = bench;
        let again = |operands: &[Operand]| {
            // SAFETY: invariant V: these operands are as above, but for buffers of the inspection's own.
            unsafe { run(crew, kernel, operands, &body.arguments, packs) }.is_ok()
        };
        // SAFETY: invariant V, as above; the kernel has ended, and its views with it.
        unsafe { inspection.end(inspected, operands, notes, again) }.map_err(Obstacle::Failed)?;
    }
    match renamed {
        // SAFETY: the task's access to the target is exclusive, and no view is left.
        Some(Renamed::Array(array)) => unsafe { array.rename() },
        // SAFETY: both are of a device's memory, contiguous and of one shape; no view is left.
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
    crew: Crew<'_>,
    kernel: &Kernel,
    operands: &[Operand],
    arguments: &[u8],
    packs: &mut Packs,
) -> Result<(), Obstacle> {
    // SAFETY: the caller's.
    let mut views = unsafe { Views::new(operands, arguments, packs) };
    caught(|| crew.run(kernel, &mut views))?;
    // SAFETY: the same operands; the kernel has ended, and its views with it.
    unsafe { packs.unpack(operands) };
    Ok(())
}

/// If the task runs in place by a kernel that is not made for that, the target becomes an input, a spare buffer the
/// output, and what is left to do after the kernel is returned.
fn rename<'r>(
    shared: &Shared,
    bench: &mut Bench,
    record: &'r Record,
    codelet: &'static Codelet,
    kernel: &'static Kernel,
) -> Result<Option<Renamed<'r>>, Shortage> {
    let Some(in_place) = codelet.in_place.as_ref().filter(|_| record.body().in_place) else {
        return Ok(None);
    };
    if in_place.kernel.as_ref().is_some_and(|own| std::ptr::eq(own, kernel)) {
        return Ok(None);
    }
    let output = codelet.output().expect("a codelet with `_self` has an output");
    let position = if in_place.target < output { in_place.target } else { in_place.target - 1 };
    let target = record.access(position);
    let array = target.array().expect("a target is an array");
    let mut layout = Layout::EMPTY;
    layout.set_contiguous(target.body().layout.extents());
    let element = codelet.parameters[output].element;
    let (spare, renamed) = if bench.node == HOME {
        // SAFETY: the task's access to the target is exclusive.
        (unsafe { array.spare(record.body().location) }?, Renamed::Array(array))
    } else {
        let bytes = layout.len() * element.size_bytes;
        let place = codelet.parameters.len();
        let from = scratch(shared, bench, place, bytes, record.body().location)?;
        (from, Renamed::Copy { from, to: bench.operands[position].pointer, bytes })
    };
    bench.operands[position].writes = false;
    bench.operands.insert(output, Operand { pointer: spare, layout, element, writes: true, reads: false });
    Ok(Some(renamed))
}

/// What is left to do when a kernel has written to another buffer than its target's.
enum Renamed<'r> {
    /// The buffer takes the target's place.
    Array(&'r ArrayState),
    /// Its elements go to the target, in a device's memory.
    Copy { from: *mut u8, to: *mut u8, bytes: usize },
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
