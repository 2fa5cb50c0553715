//! Valid but unusual uses of the safe interface: tasks that are never submitted, or inside a kernel; schedulers that
//! are shared by runtimes or do not help; parts that are read for ever.

use std::collections::VecDeque;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use dahl_core::__private::{Accumulator, Kernel, Parameter};
use dahl_core::{
    AccessMode, Array, Codelet, ElementType, ReadyTask, Reduction, Result, Runtime, Scheduler, Task,
};

const I64: ElementType = ElementType::of::<i64>();

/// `out += own`, as a reduction.
static CONTRIBUTE: Codelet = Codelet::new("contribute", module_path!(), 1)
    .parameters(&[Parameter::new("out", AccessMode::REDUX(Reduction::Sum), I64)
        .accumulates_in(Accumulator::same::<i64>(Reduction::Sum))])
    .arguments(&["own"])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let out = views.slice_mut::<i64>();
        out[0] += views.argument::<i64>();
    }))]);

/// `x = own`.
static SET: Codelet = Codelet::new("set", module_path!(), 2)
    .parameters(&[Parameter::new("x", AccessMode::W, I64)])
    .arguments(&["own"])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let x = views.slice_mut::<i64>();
        x.fill(views.argument());
    }))]);

/// Reads `x`.
static LOOK: Codelet = Codelet::new("look", module_path!(), 3)
    .parameters(&[Parameter::new("x", AccessMode::R, I64)])
    .kernels(&[Some(Kernel::new("rust", |views| assert!(!views.slice::<i64>().is_empty())))]);

/// `x += 1`.
static ADD_ONE: Codelet = Codelet::new("add_one", module_path!(), 4)
    .parameters(&[Parameter::new("x", AccessMode::RW, I64)])
    .kernels(&[Some(Kernel::new("rust", |views| views.slice_mut::<i64>()[0] += 1))]);

static HANDED_IN: Mutex<Option<Task<'static>>> = Mutex::new(None);
static REFUSAL: Mutex<Option<String>> = Mutex::new(None);

/// Submits a task that was created outside.
static SUBMITS: Codelet = Codelet::new("submits", module_path!(), 5)
    .parameters(&[Parameter::new("x", AccessMode::RW, I64)])
    .kernels(&[Some(Kernel::new("rust", |_| {
        let task = HANDED_IN.lock().unwrap().take().unwrap();
        *REFUSAL.lock().unwrap() = task.submit().err().map(|error| error.code().to_owned());
    }))]);

type V<'m> = Array<'m, i64, 1>;

fn contribute(out: &mut V<'_>, own: i64) -> Result<()> {
    let mut task = Task::new(&CONTRIBUTE);
    task.write(out);
    task.argument(own);
    task.submit()
}

fn set<'a>(x: &'a mut V<'_>, own: i64) -> Task<'a> {
    let mut task = Task::new(&SET);
    task.write(x);
    task.argument(own);
    task
}

fn add_one(x: &mut V<'_>) -> Result<()> {
    let mut task = Task::new(&ADD_ONE);
    task.write(x);
    task.submit()
}

#[test]
fn a_write_that_is_not_submitted_forgets_no_contribution() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let mut out = rt.from_vec([1], vec![100_i64])?;
    contribute(&mut out, 5)?;
    drop(set(&mut out, 1));
    let mut refused = set(&mut out, 1);
    refused.require(false, "false", &[]);
    assert_eq!(refused.submit().unwrap_err().code(), "D0003");
    assert_eq!(set(&mut out, 1).on(99).submit().unwrap_err().code(), "D0013");
    assert_eq!(out.to_vec()?, [105]);
    Ok(())
}

#[test]
fn a_task_made_outside_is_refused_inside_a_kernel() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let other: &'static mut V<'static> = Box::leak(Box::new(rt.zeros([1])?));
    *HANDED_IN.lock().unwrap() = Some(set(other, 1));
    let mut x: V<'_> = rt.zeros([1])?;
    let mut task = Task::new(&SUBMITS);
    task.write(&mut x);
    task.submit()?;
    x.read()?;
    assert_eq!(REFUSAL.lock().unwrap().as_deref(), Some("D0007"));
    Ok(())
}

/// A scheduler with one queue, for one or several runtimes, and optionally for workers alone.
#[derive(Clone, Default)]
struct Common {
    tasks: Arc<Mutex<VecDeque<ReadyTask>>>,
    for_workers: bool,
    /// Whether workers that find nothing keep searching until `end`, like thieves.
    patient: bool,
    end: Arc<AtomicBool>,
}

impl Scheduler for Common {
    fn name(&self) -> &'static str {
        "common"
    }

    fn push(&self, task: ReadyTask, _: Option<usize>) {
        self.tasks.lock().unwrap().push_back(task);
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        if self.for_workers && worker.is_none() {
            return None;
        }
        loop {
            let task = self.tasks.lock().unwrap().pop_front();
            if task.is_some() || !self.patient || self.end.load(Ordering::SeqCst) {
                return task;
            }
            std::thread::yield_now();
        }
    }
}

#[test]
fn runtimes_that_share_a_scheduler_run_each_its_own_tasks() -> Result<()> {
    let common = Common::default();
    let build = || Runtime::builder().cpu_workers(1).custom_scheduler(common.clone()).build();
    let (a, b) = (build()?, build()?);
    let of = |i: usize| if i.is_multiple_of(2) { &a } else { &b };
    let mut arrays = (0..64).map(|i| of(i).zeros([1])).collect::<Result<Vec<V<'_>>>>()?;
    for _ in 0..200 {
        for x in &mut arrays {
            add_one(x)?;
        }
    }
    for x in &arrays {
        assert_eq!(x.to_vec()?, [200]);
    }
    Ok(())
}

#[test]
fn a_runtime_that_takes_all_tasks_of_another_gives_them_back() -> Result<()> {
    let thief = Common { patient: true, ..Common::default() };
    let robbed = Common { patient: false, ..thief.clone() };
    let end = Arc::clone(&thief.end);
    let a = Runtime::builder().cpu_workers(1).custom_scheduler(thief).build()?;
    let b = Runtime::builder().cpu_workers(1).custom_scheduler(robbed).build()?;
    let mut x = b.zeros([1])?;
    for _ in 0..1_000 {
        add_one(&mut x)?;
    }
    assert_eq!(x.to_vec()?, [1_000]);
    end.store(true, Ordering::SeqCst);
    drop((a, b));
    Ok(())
}

#[test]
fn an_open_reduction_outlives_a_runtime_whose_scheduler_does_not_help() -> Result<()> {
    let scheduler = Common { for_workers: true, ..Common::default() };
    let rt = Runtime::builder().cpu_workers(1).custom_scheduler(scheduler).build()?;
    let mut out = rt.from_vec([1], vec![100_i64])?;
    contribute(&mut out, 5)?;
    drop(rt);
    assert_eq!(out.to_vec()?, [105]);
    Ok(())
}

/// Resident memory of the process, if the system reports it.
fn resident_bytes() -> Option<usize> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    pages.split(' ').nth(1)?.parse().ok().map(|pages: usize| pages * 4096)
}

/// Tells a process that it is to run one test alone.
const ALONE: &str = "MISUSE_TEST_ALONE";

/// Runs this test program again, with one test of this module. Returns whether this process is the one that is to do
/// the work: no other test runs in it, so that its resident memory is that of the test.
fn alone(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", &format!("misuse::{test}"), "--nocapture"]).env(ALONE, "1");
    let output = command.output().expect("it can be started");
    let printed = String::from_utf8_lossy(&output.stdout);
    print!("{printed}");
    assert!(output.status.success() && printed.contains("1 passed"), "{output:?}");
    false
}

#[test]
fn reads_beside_parts_that_stay_do_not_pile_up() -> Result<()> {
    if !alone("reads_beside_parts_that_stay_do_not_pile_up") {
        return Ok(());
    }
    let rt = Runtime::builder().cpu_workers(1).tasks_in_flight(64).build()?;
    let x: V<'_> = rt.zeros([4])?;
    std::mem::forget(x.partition(dahl_core::ndarray::Axis(0), 2)?);
    let before = resident_bytes();
    for _ in 0..50_000 {
        let mut task = Task::new(&LOOK);
        task.read(&x);
        task.submit()?;
    }
    rt.wait()?;
    let grown = resident_bytes().zip(before).map(|(after, before)| after.saturating_sub(before));
    match grown {
        Some(grown) => assert!(grown < 8 << 20, "grown by {grown} bytes"),
        None => println!("not compared: this system does not say how much memory is resident"),
    }
    Ok(())
}
