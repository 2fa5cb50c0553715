//! [`Static`]: follows a plan.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::thread::{self, ThreadId};

use super::{Plan, PlanDivergences, PlannedTask, PlannedWorker};
use crate::observer::Submission;
use crate::scheduler::deque_model::{DequeModel, Rule};
use crate::scheduler::{Scheduler, Workers};
use crate::sync::{Mutex, MutexGuard};
use crate::task::ReadyTask;

/// Follows a plan: each worker runs its tasks, in the plan's order.
///
/// `dmda` places a task that does not match the plan, and the divergence is recorded. If nothing runs and no worker's
/// next task is ready, although all of these have been submitted or the host waits, the plan's order is impossible: a worker then
/// takes its first ready task.
#[derive(Debug)]
pub(crate) struct Static {
    plan: Plan,
    divergences: Arc<PlanDivergences>,
    /// The index of each task in the plan.
    places: HashMap<u64, usize>,
    state: Mutex<State>,
    others: DequeModel,
    workers: Option<Workers>,
}

#[derive(Debug, Default)]
struct State {
    /// The remaining tasks of each worker: indices in the plan.
    left: Vec<VecDeque<usize>>,
    /// Ready tasks, by their indices.
    ready: HashMap<usize, ReadyTask>,
    /// The numbers of the tasks that have been taken and have not ended.
    running: Vec<u64>,
    /// For each worker, whether one of its tasks has ended and it has not asked for another since: more tasks may
    /// become ready.
    settling: Vec<bool>,
    /// Whether each task of the plan has been submitted.
    submitted: Vec<bool>,
    /// The threads that have begun to wait and have submitted nothing since: if there is one, the next tasks of the plan need not
    /// come. That another thread submits does not end its wait.
    waiting: HashSet<ThreadId>,
}

impl Static {
    pub(crate) fn new(plan: Plan, divergences: Arc<PlanDivergences>, tasks: usize) -> Self {
        let places = plan.tasks.iter().enumerate().map(|(place, task)| (task.sequence, place)).collect();
        let others = DequeModel::new(Rule::DMDA, tasks, None);
        Self { plan, divergences, places, state: Mutex::default(), others, workers: None }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    fn note_other_workers(&self, workers: &Workers) {
        let infos = workers.as_slice();
        for planned in &self.plan.workers {
            let PlannedWorker { number, name, line } = planned;
            let fact = match infos.get(*number) {
                Some(info) if info.name == *name => continue,
                Some(info) => format!("worker {number} is `{}`, but the plan has `{name}`", info.name),
                None => format!("there is no worker {number}; the runtime has {}", infos.len()),
            };
            self.divergences.note(Some(*line), &fact);
        }
    }

    /// The index of a task in the plan; or why it has none.
    fn place_of(&self, task: &ReadyTask) -> Result<usize, (Option<usize>, String)> {
        let (sequence, codelet) = (task.sequence(), task.codelet());
        let Some(&place) = self.places.get(&sequence) else {
            return Err((None, format!("task {sequence}, `{codelet}`, is not in the plan")));
        };
        let PlannedTask { codelet: planned, worker, line, .. } = &self.plan.tasks[place];
        let count = self.workers.as_ref().map_or(0, |workers| workers.as_slice().len());
        let fact = if planned != codelet {
            format!("task {sequence} is `{codelet}`, but the plan has `{planned}`")
        } else if *worker >= count {
            format!("task {sequence}, `{codelet}`: there is no worker {worker}; the runtime has {count}")
        } else if !task.can_run_on(*worker) {
            format!("task {sequence}, `{codelet}`, cannot run on worker {worker}")
        } else {
            return Ok(place);
        };
        Err((Some(*line), fact))
    }

    fn wake(&self, worker: usize) {
        if let Some(workers) = &self.workers {
            workers.wake(worker);
        }
    }

    /// A task of the plan for a worker.
    fn pop_planned(&self, worker: usize) -> Option<ReadyTask> {
        let mut state = self.state();
        state.settling[worker] = false;
        let next = state.left[worker].front().copied();
        let place = match next.filter(|next| state.ready.contains_key(next)) {
            Some(next) => Some(next),
            None if state.is_stuck(&self.plan) => state.first_ready(worker),
            None => None,
        };
        let Some(place) = place else {
            let others = if state.is_stuck(&self.plan) { state.with_ready(&self.plan) } else { Vec::new() };
            drop(state);
            others.into_iter().for_each(|other| self.wake(other));
            return None;
        };
        let task = state.ready.remove(&place)?;
        if next == Some(place) {
            state.left[worker].pop_front();
        } else {
            state.left[worker].retain(|&left| left != place);
        }
        state.running.push(task.sequence());
        Some(task)
    }
}

impl State {
    /// A thread begins to wait.
    fn begin_wait(&mut self, thread: ThreadId) {
        self.waiting.insert(thread);
    }

    /// A thread submits, so it does not wait any more.
    fn end_wait(&mut self, thread: ThreadId) {
        self.waiting.remove(&thread);
    }

    /// Whether nothing runs, and no worker's next task is ready.
    fn is_stuck(&self, plan: &Plan) -> bool {
        let is_next = |&place: &usize| self.left[plan.tasks[place].worker].front() == Some(&place);
        self.running.is_empty()
            && !self.settling.contains(&true)
            && !self.ready.keys().any(is_next)
            && (!self.waiting.is_empty()
                || self.left.iter().filter_map(VecDeque::front).all(|&next| self.submitted[next]))
    }

    /// The first ready task of a worker.
    fn first_ready(&self, worker: usize) -> Option<usize> {
        self.left[worker].iter().copied().find(|place| self.ready.contains_key(place))
    }

    /// The workers with a ready task.
    fn with_ready(&self, plan: &Plan) -> Vec<usize> {
        self.ready.keys().map(|&place| plan.tasks[place].worker).collect()
    }
}

impl Scheduler for Static {
    fn name(&self) -> &'static str {
        "static"
    }

    fn start(&mut self, workers: &Workers) {
        let count = workers.as_slice().len();
        let mut left = vec![VecDeque::new(); count];
        for (place, task) in self.plan.tasks.iter().enumerate() {
            if let Some(left) = left.get_mut(task.worker) {
                left.push_back(place);
            }
        }
        let submitted = vec![false; self.plan.tasks.len()];
        *self.state() = State { left, settling: vec![false; count], submitted, ..State::default() };
        self.note_other_workers(workers);
        self.others.start(workers);
        self.workers = Some(workers.clone());
    }

    fn submitted(&self, task: &Submission<'_>) {
        let mut state = self.state();
        state.end_wait(thread::current().id());
        if let Some(&place) = self.places.get(&task.desc().sequence()) {
            state.submitted[place] = true;
        }
        drop(state);
        self.others.submitted(task);
    }

    fn host_waits(&self) {
        let mut state = self.state();
        state.begin_wait(thread::current().id());
        let stuck = if state.is_stuck(&self.plan) { state.with_ready(&self.plan) } else { Vec::new() };
        drop(state);
        stuck.into_iter().for_each(|worker| self.wake(worker));
    }

    fn push(&self, task: ReadyTask, worker: Option<usize>) {
        match self.place_of(&task) {
            Ok(place) => {
                let worker = self.plan.tasks[place].worker;
                // While the tasks before it run there.
                task.prefetch(worker);
                self.state().ready.insert(place, task);
                self.wake(worker);
            }
            Err((line, fact)) => {
                self.divergences.note(line, &fact);
                // Its line must not block other tasks.
                if let Some(&place) = self.places.get(&task.sequence()) {
                    let mut state = self.state();
                    state.left.iter_mut().for_each(|left| left.retain(|&left| left != place));
                    let workers = state.left.len();
                    drop(state);
                    // The task that it blocked may be ready, and its worker may be parked.
                    let planned = self.plan.tasks[place].worker;
                    if planned < workers {
                        self.wake(planned);
                    }
                }
                self.others.push(task, worker);
            }
        }
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        let Some(worker) = worker else {
            self.host_waits(); // it helps while it waits
            return None;
        };
        if let Some(task) = self.pop_planned(worker) {
            return Some(task);
        }
        let task = self.others.pop(Some(worker))?;
        self.state().running.push(task.sequence());
        Some(task)
    }

    fn completed(&self, sequence: u64, worker: Option<usize>) {
        let mut state = self.state();
        if let Some(index) = state.running.iter().position(|&running| running == sequence) {
            state.running.swap_remove(index);
        }
        if let Some(worker) = worker {
            state.settling[worker] = true;
        }
        drop(state);
        self.others.completed(sequence, worker);
    }

    fn wakes_workers(&self) -> bool {
        true
    }
}

impl Drop for Static {
    fn drop(&mut self) {
        let state = self.state();
        let mut left = state.left.iter().flatten().map(|&place| &self.plan.tasks[place]);
        if let Some(PlannedTask { sequence, codelet, line, .. }) = left.next() {
            let count = left.count() + 1;
            let fact =
                format!("{count} tasks of the plan have not come, the first is task {sequence}, `{codelet}`");
            drop(state);
            self.divergences.note(Some(*line), &fact);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::thread;

    use super::{Plan, State};

    #[test]
    fn a_thread_that_submits_does_not_end_the_wait_of_another() {
        // Worker 0 waits for a task that has not been submitted.
        let plan = Plan::parse("dahl plan 1\ntask 0 step 0\n").expect("it is a plan");
        let mut state = State {
            left: vec![VecDeque::from([0])],
            settling: vec![false],
            submitted: vec![false],
            ..State::default()
        };
        let other = thread::spawn(|| thread::current().id()).join().expect("it does not panic");
        let this = thread::current().id();
        assert!(!state.is_stuck(&plan), "somebody may still submit it");
        state.begin_wait(this);
        state.end_wait(other);
        assert!(state.is_stuck(&plan), "this thread waits, whatever the other one submits");
        state.end_wait(this);
        assert!(!state.is_stuck(&plan));
    }
}
