//! Runs one task: prepares its arrays, calls its kernel, and finalizes its outputs.
#![allow(
    unsafe_code,
    reason = "finalizes the outputs of a task that holds its accesses, and begins the replays of programs"
)]

use std::sync::Arc;

use super::call::{call, prepare};
use super::context::WorkerContext;
use super::fold;
use super::task_error::{TaskError, caught};
use crate::codelet::Codelet;
use crate::description::{Action, Step as Part, TaskDesc};
use crate::engine::Shared;
use crate::error::Failure;
use crate::graph::{Access, Node, Party, Running, Submitted};
use crate::memory::HOME;
use crate::perf::{self, Measurement};
use crate::statistics::Loss;
use crate::task::{LifoSlot, ReadyTask, Step};
use crate::trace::TaskTimes;

/// Runs a task, or a split or a join that was handed over, with all consequences. Never panics, whatever the kernel does.
pub(crate) fn execute(shared: &Shared, context: &mut WorkerContext, task: ReadyTask) {
    if task.is_of_partition() {
        let WorkerContext { worker, recycler, lifo_slot, .. } = context;
        return Step::of_worker(shared, *worker, recycler, lifo_slot).run_handed_over(task.task());
    }
    let task = task.task();
    if matches!(task.desc().action(), Action::Program(_)) {
        // The worker of its device is gone.
        return begin_by_task(shared, context.worker, task);
    }
    let codelet = task.desc().codelet();
    shared.stall().take(context.worker, task.desc().sequence());
    if let Some(recorder) = shared.recorder() {
        context.times = TaskTimes::taken_at(recorder.now_ns());
    }
    task.accesses().for_each(Access::fetch_next);
    let outcome = run_task(shared, context, task, codelet, None);
    complete(shared, context, task, outcome);
}

/// Begins the tasks of a whole program one by one, which no device runs as one graph now. None of it has been issued.
#[cold]
pub(super) fn begin_by_task(shared: &Shared, worker: Option<usize>, task: &Submitted) {
    // SAFETY: the task has not been counted as ended.
    let replay = unsafe { node_of(task).replay() };
    // SAFETY: it has begun, and nothing ends it.
    let Running { envelope, keeps } = unsafe { replay.give_up() };
    // SAFETY: as above; the replay's envelope has not been completed.
    unsafe { keeps.begin_by_task(task, envelope) };
    shared.stall().end(worker);
    shared.count_completed(worker);
}

/// The node of a whole program.
pub(super) fn node_of<'r>(task: &Submitted) -> &'r Node {
    let &Party::Node(node) = task.party() else { unreachable!("a whole program is a task of a replay") };
    // SAFETY: the task has not been counted as ended, so the program is kept.
    unsafe { Node::at(node) }
}

/// Runs the action of a task. In a simulation its duration is `simulated_ns`.
pub(super) fn run_task(
    shared: &Shared,
    context: &mut WorkerContext,
    task: &Submitted,
    codelet: &'static Codelet,
    simulated_ns: Option<u64>,
) -> Result<(), TaskError> {
    match task.desc().action() {
        Action::Combine(combination) => {
            measured(shared, context, task, codelet, simulated_ns, || match combination.step {
                Part::Fold => fold::fold(task, combination.accumulator),
                Part::Finish(_) => fold::finish(task, combination.accumulator),
            })
        }
        _ => {
            context.transferred =
                shared.devices().is_some() && task.operands().any(|access| is_missing(access, context.node));
            if context.transferred && context.node == HOME {
                fetch_async(task);
            }
            prepare(shared, context, task)?;
            call(shared, context, task, codelet, simulated_ns)
        }
    }
}

/// Runs a task of a reduction and measures it.
fn measured(
    shared: &Shared,
    context: &mut WorkerContext,
    task: &Submitted,
    codelet: &'static Codelet,
    simulated_ns: Option<u64>,
    run: impl FnOnce() -> Result<(), TaskError>,
) -> Result<(), TaskError> {
    let kernel = perf::kernel_of(task.desc());
    if let (Some(_), Some(kernel)) = (shared.recorder(), kernel) {
        context.times.with(shared.models(), &context.kind, codelet, kernel, task.desc());
    }
    let start_ns = begin_ns(shared);
    context.times.begin_ns = Some(start_ns);
    let ran = run();
    let time_ns = simulated_ns.unwrap_or_else(|| shared.clock().ns_since(start_ns));
    if ran.is_err() {
        context.lost_ns = time_ns;
    }
    ran?;
    context.times.kernel_ns = Some(time_ns);
    if let Some(kernel) = kernel {
        let measurement = Measurement { time_ns, ..Measurement::default() };
        context.models.record(shared.models(), &context.kind, codelet, kernel, task.desc(), measurement);
    }
    Ok(())
}

/// The time when a kernel begins. A trace compares it with times of other threads.
pub(super) fn begin_ns(shared: &Shared) -> u64 {
    if shared.recorder().is_some() { shared.clock().now_ns() } else { shared.clock().tick_ns() }
}

/// Completes a task that has run: passes its failure to its outputs, and makes its successors ready.
pub(super) fn complete(
    shared: &Shared,
    context: &mut WorkerContext,
    task: &Submitted,
    outcome: Result<(), TaskError>,
) {
    conclude::<false>(shared, context, task, outcome);
}

/// Ends a task that has run whose dependencies were released early, when it was issued: it does not use its arrays any
/// more.
#[cfg_attr(any(dahl_fuzz, not(feature = "cuda")), expect(dead_code, reason = "there are no such devices"))]
pub(super) fn end(
    shared: &Shared,
    context: &mut WorkerContext,
    task: &Submitted,
    outcome: Result<(), TaskError>,
) {
    conclude::<true>(shared, context, task, outcome);
}

#[inline]
fn conclude<const LET_GO: bool>(
    shared: &Shared,
    context: &mut WorkerContext,
    task: &Submitted,
    outcome: Result<(), TaskError>,
) {
    let codelet = task.desc().codelet();
    let mut failed = None;
    let is_cancelled = matches!(outcome, Err(TaskError::Cancelled(_)));
    if let Err(error) = outcome {
        let loss = if is_cancelled { Loss::Cancelled } else { Loss::Failed };
        shared.counters().lose(context.worker, codelet, loss, std::mem::take(&mut context.lost_ns));
        let failure = match error {
            TaskError::Cancelled(first_cause) => first_cause,
            TaskError::Failed(message) | TaskError::Unable(message) => {
                let failure = failure(context, task.desc(), message);
                shared.note_failure(&failure);
                failure
            }
            TaskError::NoRoom(shortage) => {
                let failure = failure(context, task.desc(), format!("out of memory: {shortage}"));
                shared.note_failure(&failure);
                failure
            }
        };
        if !LET_GO {
            poison_outputs(task, &failure);
        }
        failed = Some(failure);
    }
    if let Some(recorder) = shared.recorder() {
        let (sequence, ready_ns) = (task.desc().sequence(), task.ready_ns());
        recorder.ended(sequence, ready_ns, context.worker, context.times, failed.as_ref(), is_cancelled);
    }
    shared.stall().end(context.worker);
    shared.tell_completed(task.desc().sequence(), context.worker);
    // SAFETY: this thread runs the task, and completes it below.
    let callback = unsafe { task.take_callback() };
    let location = task.desc().location();
    let WorkerContext { recycler, lifo_slot, .. } = context;
    // With a callback, ready tasks are pushed: none may wait in the slot that other workers could run.
    let (mut none, has_callback) = (LifoSlot::default(), callback.is_some());
    let lifo_slot = if has_callback { &mut none } else { lifo_slot };
    let mut step = Step::of_worker(shared, context.worker, recycler, lifo_slot);
    if LET_GO {
        step.end(task);
    } else {
        step.complete(task);
    }
    if let Some(callback) = callback {
        if let Err(TaskError::Failed(message)) = caught(|| callback.call(failed.as_ref())) {
            let message = format!("its callback {message}");
            shared.note_failure(&Arc::new(Failure::new(
                codelet.name,
                context.name.clone(),
                location,
                message,
            )));
        }
        shared.progress().notify();
    }
    shared.count_completed(context.worker);
}

fn poison_outputs(task: &Submitted, failure: &Arc<Failure>) {
    for access in task.accesses().filter(|access| access.mode.writes()) {
        if let Some(array) = access.state() {
            // SAFETY: the task's access to the array is exclusive, and its kernel has ended.
            unsafe { array.poison(failure) };
        }
    }
}

/// Starts fetching all inputs of the task home, before it waits for any of them.
#[cold]
fn fetch_async(task: &Submitted) {
    let reads = task.operands().filter(|access| access.reads());
    for array in reads.filter_map(Access::state) {
        // The fetch goes on in the array's list of replicas.
        drop(array.fetch_async());
    }
}

/// Whether an access reads an array that is not at `node`.
pub(super) fn is_missing(access: Access<'_>, node: usize) -> bool {
    access.reads() && access.state().is_some_and(|array| array.missing_at(node).is_some())
}

fn failure(context: &WorkerContext, task: &TaskDesc, message: String) -> Arc<Failure> {
    let mut message = message;
    if let Some(name) = task.name() {
        message = format!("{message} (task `{name}`)");
    }
    Arc::new(Failure::new(task.codelet().name, context.name.clone(), task.location(), message))
}
