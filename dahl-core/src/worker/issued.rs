//! [`Issued`]: a task of a simulation: its kernel runs when the task begins, and the task completes when it ends.

use super::context::{Pin, WorkerContext};
use super::execute::{complete, run_task};
use super::task_error::TaskError;
use crate::engine::Shared;
use crate::graph::{Access, Submitted};
use crate::machine::{Machine, Speed, TaskDuration};
use crate::perf;
use crate::trace::TaskTimes;

/// The result of a task that has been issued; it is completed later.
pub(crate) struct Issued {
    result: Result<(), TaskError>,
    duration_ns: u64,
    /// How much longer it takes for each other worker of the CPU that is busy.
    co_running: f64,
    arrived_ns: u64,
    pinned: Vec<Pin>,
    times: TaskTimes,
}

impl Issued {
    /// Its duration, by the model of the machine; 0 if it was cancelled.
    pub(crate) fn duration_ns(&self) -> u64 {
        self.duration_ns
    }

    /// How much longer it takes for each other worker of the CPU that is busy.
    pub(crate) fn co_running(&self) -> f64 {
        self.co_running
    }

    /// Sets how long it took, with what others that ran meanwhile cost it.
    pub(crate) fn took(&mut self, duration_ns: u64) {
        self.duration_ns = duration_ns;
        self.times.kernel_ns = Some(duration_ns);
    }

    /// When its data arrive.
    pub(crate) fn arrived_ns(&self) -> u64 {
        self.arrived_ns
    }

    /// Sets when it begins.
    pub(crate) fn begin_at(&mut self, begin_ns: u64) {
        self.times.begin_ns = Some(begin_ns);
    }

    /// Whether it could not begin because a memory is too small.
    pub(crate) fn has_no_room(&self) -> bool {
        matches!(self.result, Err(TaskError::NoRoom(_)))
    }

    /// Unpins its replicas.
    pub(crate) fn let_go(self) {
        self.pinned.into_iter().for_each(Pin::let_go);
    }
}

/// Runs a task of a simulation: its kernel, without the consequences. `failure` makes it fail instead.
pub(crate) fn issue(
    shared: &Shared,
    context: &mut WorkerContext,
    task: &Submitted,
    (machine, speed): (&Machine, &Speed),
    failure: Option<String>,
) -> Issued {
    let codelet = task.desc().codelet();
    let (flops, bytes) = perf::work(task.desc());
    // A task of a reduction has the name of its kernel: `fold` or `finish`.
    let of_reduction = task.desc().combination().and_then(|_| perf::kernel_of(task.desc()));
    let name = of_reduction.unwrap_or(codelet.name);
    // Of a fused task the machine has figures of its parts, unless it has some of the whole.
    let parts = if speed.knows(name) { None } else { perf::parts(task.desc()) };
    let mean = match parts {
        Some(parts) => speed.fused(name, &parts),
        None => TaskDuration {
            ns: speed.duration_ns(name, task.desc().extents(), flops, bytes),
            co_running: speed.co_running(name),
            variation: speed.variation(name),
        },
    };
    let duration_ns = machine.varied_ns(mean.ns, mean.variation, task.desc().sequence());
    context.times = TaskTimes::taken_at(shared.clock().now_ns());
    let result = match failure {
        Some(failure) => Err(TaskError::Failed(failure)),
        None => run_task(shared, context, task, codelet, Some(duration_ns)),
    };
    // A cancelled task takes no time; one with an injected failure keeps its duration.
    let is_cancelled = matches!(result, Err(TaskError::Cancelled(_)));
    let duration_ns = if is_cancelled { 0 } else { duration_ns };
    let arrivals = task.accesses().filter_map(Access::state);
    let arrivals = arrivals.map(|array| array.replicas().arrived_ns(context.node));
    let arrived_ns = arrivals.max().unwrap_or(0).max(std::mem::take(&mut context.room_ns));
    let times = TaskTimes { arrived_ns, kernel_ns: Some(duration_ns), ..context.times };
    let co_running = if is_cancelled { 0.0 } else { mean.co_running };
    Issued { result, duration_ns, co_running, arrived_ns, pinned: std::mem::take(&mut context.pinned), times }
}

/// Completes a task of a simulation.
pub(crate) fn finish(shared: &Shared, context: &mut WorkerContext, task: &Submitted, issued: Issued) {
    issued.pinned.into_iter().for_each(Pin::let_go);
    context.lost_ns = if issued.result.is_err() { issued.duration_ns } else { 0 };
    context.times = issued.times;
    complete(shared, context, task, issued.result);
}
