//! A scheduler of the user's own, by the public interface alone: a small `dm`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use dahl::observer::Submission;
use dahl::prelude::*;
use dahl::{CodeletSpeed, ReadyTask, Scheduler, Speed, VirtualDevice, Workers};

/// The estimate for a task that was never measured.
const GUESS_NS: u64 = 1_000;

/// `out = x + 1`.
#[codelet(R, W)]
fn next<T: Real>(x: T) -> T {
    x + T::ONE
}

/// Sends each task to the worker where it is expected to end first.
#[derive(Default)]
struct EarliestEnd {
    lines: Mutex<Vec<Line>>,
    workers: Option<Workers>,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Line {
    queue: VecDeque<ReadyTask>,
    free_ns: u64,
}

/// The calls that the scheduler received.
#[derive(Default)]
struct Seen {
    submitted: u64,
    completed: Vec<Option<usize>>,
}

impl EarliestEnd {
    fn lines(&self) -> MutexGuard<'_, Vec<Line>> {
        self.lines.lock().expect("nothing panics")
    }

    fn workers(&self) -> &Workers {
        self.workers.as_ref().expect("the runtime has started it")
    }
}

impl Scheduler for EarliestEnd {
    fn name(&self) -> &'static str {
        "earliest-end"
    }

    fn start(&mut self, workers: &Workers) {
        self.lines().extend(workers.as_slice().iter().map(|_| Line::default()));
        self.workers = Some(workers.clone());
    }

    fn submitted(&self, _: &Submission<'_>) {
        self.seen.lock().expect("nothing panics").submitted += 1;
    }

    fn push(&self, task: ReadyTask, _: Option<usize>) {
        let now_ns = self.workers().clock().now_ns();
        let mut lines = self.lines();
        let end_ns = |worker: usize| {
            let expected_ns = task.expected_ns(worker).unwrap_or(GUESS_NS) + task.transfer_ns(worker);
            lines[worker].free_ns.max(now_ns) + expected_ns
        };
        let able = (0..lines.len()).filter(|&worker| task.can_run_on(worker));
        let (end_ns, worker) = able.map(|worker| (end_ns(worker), worker)).min().unwrap_or_default();
        lines[worker].free_ns = end_ns;
        lines[worker].queue.push_back(task);
        drop(lines);
        self.workers().wake(worker);
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        self.lines()[worker?].queue.pop_front()
    }

    fn completed(&self, _: u64, worker: Option<usize>) {
        self.seen.lock().expect("nothing panics").completed.push(worker);
    }

    fn wakes_workers(&self) -> bool {
        true
    }
}

fn speed(us: f64) -> Speed {
    let next = CodeletSpeed { us: Some(us), ..CodeletSpeed::default() };
    Speed { codelets: [("next".to_owned(), next)].into(), ..Speed::default() }
}

#[test]
fn a_users_scheduler_divides_work_by_speed() -> dahl::Result<()> {
    let scheduler = EarliestEnd::default();
    let seen = Arc::clone(&scheduler.seen);
    let mut machine = dahl::Machine::default();
    machine.cpu.speed = speed(100.0);
    machine.devices = vec![VirtualDevice::new("gpu").speed(speed(20.0)).link(0.0, 1e9)];
    let builder = Runtime::builder().cpu_workers(1).virtual_machine(machine);
    let rt = builder.custom_scheduler(scheduler).build()?;
    assert_eq!(rt.scheduler(), "earliest-end");

    let x = rt.from_vec([2], vec![1.0_f32, 2.0])?;
    let mut outs = (0..12).map(|_| rt.zeros([2])).collect::<dahl::Result<Vec<_>>>()?;
    for (worker, out) in outs[..2].iter_mut().enumerate() {
        Next::task(&x, out).on(worker).submit()?; // both are measured
    }
    rt.wait()?;
    let begin_ns = rt.clock().now_ns();
    outs.iter_mut().try_for_each(|out| next(&x, out))?;
    rt.wait()?;

    assert_eq!(rt.clock().now_ns() - begin_ns, 200_000);
    let seen = seen.lock().expect("nothing panics");
    assert_eq!(seen.submitted, 14);
    let ended_by = |worker| seen.completed.iter().filter(|&&by| by == Some(worker)).count();
    assert_eq!((ended_by(0), ended_by(1)), (1 + 2, 1 + 10));
    assert!(outs.iter().all(|out| out.to_vec().is_ok_and(|out| out == [2.0, 3.0])));
    Ok(())
}

#[test]
fn a_users_scheduler_works_with_threads() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(3).custom_scheduler(EarliestEnd::default()).build()?;
    let mut x = rt.from_vec([4], vec![0.0_f64; 4])?;
    for _ in 0..200 {
        next_self(&mut x)?;
    }
    assert_eq!(x.to_vec()?, [200.0; 4]);
    Ok(())
}
