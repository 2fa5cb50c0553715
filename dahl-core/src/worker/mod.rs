//! Workers: threads that take ready tasks and run them.
//!
//! Not here: which worker runs which task (`scheduler`), and what becomes ready when a task ends (`task`).

mod call;
mod context;
#[cfg(all(feature = "cuda", not(dahl_fuzz)))]
mod cuda;
mod execute;
mod fold;
mod issued;
mod parallelism;
mod task_error;
mod threads;

use std::sync::Arc;
use std::time::Duration;

pub(crate) use context::WorkerContext;
pub(crate) use execute::execute;
pub(crate) use issued::{Issued, finish, issue};
pub(crate) use threads::Threads;

use crate::codelet::kernel_memory;
use crate::engine::{REST, Shared};
use crate::float_control::FloatControl;
use crate::sleep::Park;
use crate::sync::{Patience, spin_loop, thread};
use crate::task::ReadyTask;
use crate::trace::Recorder;

/// How long an idle worker spins before it parks: a little more than the cost of waking it.
const SPIN: Duration = Duration::from_micros(50);
/// How long it spins after it has helped a kernel: the next one to help is often near, and would be over before this worker
/// was awake.
const SPIN_FOR_HELP: Duration = Duration::from_micros(300);
/// Iterations between two readings of the time.
const LOOKS: u32 = if cfg!(dahl_fuzz) { 1 } else { 32 };

/// The loop of worker `worker`: until the runtime stops and no task is left.
pub(crate) fn run(shared: &Arc<Shared>, worker: usize) {
    FloatControl::STANDARD.set();
    let _away = shared.recorder().map(Recorder::away);
    let _memory = kernel_memory::serve(shared.memory());
    let mut context =
        WorkerContext::new(Some(worker), shared.workers(), format!("cpu {worker}"), shared.memory())
            .in_pool()
            .with_lifo_slot(shared);
    shared.counters().begin(worker, shared.clock());
    while let Some(task) = next(shared, worker, &mut context) {
        execute(shared, &mut context, task);
    }
    shared.leave();
}

/// The next task; parks until there is one. None when the runtime has stopped.
fn next(shared: &Shared, worker: usize, context: &mut WorkerContext) -> Option<ReadyTask> {
    if let Some(task) = kept(shared, worker, context).or_else(|| shared.next_task(worker)) {
        return Some(task);
    }
    let helpers = shared.helpers();
    let counters = shared.counters();
    let _waits = counters.wait(worker, shared.clock());
    let _idle = helpers.rest(); // before anybody is told, who may submit what this worker could help with
    context.recycler.flush(shared);
    shared.tell_of_rest();
    let mut patience = Patience::new(SPIN);
    let is_crowded = shared.workers() >= shared.cores();
    let mut submitted = shared.submitted();
    loop {
        for _ in 0..LOOKS {
            if let Some(task) = shared.next_task(worker) {
                return Some(task);
            }
            let help = || helpers.help(shared.sleep());
            if helpers.is_wanted() && counters.help(worker, shared.clock(), help) {
                patience = Patience::new(SPIN_FOR_HELP);
            }
            spin_loop();
        }
        let stopped = || shared.is_stopped() && shared.is_drained();
        if stopped() {
            shared.sleep().wake_all();
            return None;
        }
        if patience.is_over() {
            let helps = helpers.is_wanted();
            // Since it started to spin, or parked.
            let before = std::mem::replace(&mut submitted, shared.submitted());
            let starves = submitted - before >= Flow::LEAST;
            let mut flow = Flow::new(shared);
            let mut is_spared = || flow.goes_on() && !shared.is_stopped() && !helpers.is_wanted();
            let park = if helps {
                Park::AtMost(REST)
            } else if starves && is_crowded && shared.spares_workers() {
                Park::Timed(&mut is_spared)
            } else {
                Park::Untimed
            };
            let wanted = || !helps && helpers.is_wanted();
            let look = || shared.next_task(worker);
            if let Some(task) = shared.sleep().sleep(worker, look, || stopped() || wanted(), park) {
                return Some(task);
            }
        } else if cfg!(dahl_fuzz) || is_crowded {
            thread::yield_now(); // the thread that submits may want this core
        }
    }
}

/// The task that the last one has made ready and the worker has kept.
#[inline]
fn kept(shared: &Shared, worker: usize, context: &mut WorkerContext) -> Option<ReadyTask> {
    let (task, is_last) = context.lifo_slot.take()?;
    Some(if is_last { swap_with_next(shared, worker, task) } else { task })
}

/// Pushes a task that was kept, and returns the next one, if there is another.
#[cold]
fn swap_with_next(shared: &Shared, worker: usize, task: ReadyTask) -> ReadyTask {
    let Some(other) = shared.next_task(worker) else { return task };
    shared.push(task, Some(worker));
    other
}

/// Whether tasks are submitted and completed at a steady rate, for a worker that checks periodically.
struct Flow<'s> {
    shared: &'s Shared,
    submitted: u64,
    completed: u64,
}

impl<'s> Flow<'s> {
    /// The number of tasks between two checks that is a steady rate.
    const LEAST: u64 = 16;

    fn new(shared: &'s Shared) -> Self {
        Self { shared, submitted: shared.submitted(), completed: shared.completed() }
    }

    /// Whether it has continued since the last check.
    fn goes_on(&mut self) -> bool {
        let before = std::mem::replace(self, Self::new(self.shared));
        let counts = [(self.submitted, before.submitted), (self.completed, before.completed)];
        counts.iter().all(|(now, before)| now - before >= Self::LEAST)
    }
}
