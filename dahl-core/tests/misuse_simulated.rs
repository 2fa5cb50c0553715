//! Wrong or unusual uses on a simulated machine and with schedulers: nothing is lost, and nothing hangs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use dahl_core::__private::{Kernel, Parameter, Views};
use dahl_core::observer::{Observer, Submission};
use dahl_core::{
    AccessMode, Array, Codelet, ElementType, Result, Runtime, Speed, Task, Transfer, VirtualDevice,
};

fn copy(views: &mut Views<'_>) {
    let (x, y) = (views.slice::<i64>(), views.slice_mut::<i64>());
    y.copy_from_slice(x);
}

static OPEN: AtomicBool = AtomicBool::new(false);

/// Waits until the test releases it.
fn gate(views: &mut Views<'_>) {
    copy(views);
    while !OPEN.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
}

const fn parameters() -> &'static [Parameter] {
    const {
        &[
            Parameter::new("x", AccessMode::R, ElementType::of::<i64>()),
            Parameter::new("y", AccessMode::RW, ElementType::of::<i64>()),
        ]
    }
}

static COPY: Codelet = Codelet::new("copy", module_path!(), 1)
    .parameters(parameters())
    .kernels(const { &[Some(Kernel::new("rust", copy))] });
static GATE: Codelet = Codelet::new("gate", module_path!(), 1)
    .parameters(parameters())
    .kernels(const { &[Some(Kernel::new("rust", gate))] });
static TEAM: Codelet = Codelet::new("team", module_path!(), 1)
    .parameters(parameters())
    .kernels(const { &[Some(Kernel::new("rust", copy).parallel())] });

fn task<'a>(
    codelet: &'static Codelet,
    x: &'a Array<'static, i64, 1>,
    y: &'a mut Array<'static, i64, 1>,
) -> Task<'a> {
    let mut task = Task::new(codelet);
    task.read(x);
    task.write(y);
    task
}

/// Panics at the first transfer, and counts the others.
#[derive(Default)]
struct Panics {
    seen: Mutex<usize>,
}

impl Observer for Panics {
    fn submitted(&self, _: &Submission<'_>) {}

    fn transferred(&self, _: &Transfer, _: u64, _: u64) {
        let mut seen = self.seen.lock().unwrap_or_else(|poison| poison.into_inner());
        *seen += 1;
        assert!(*seen > 1, "the observer's panic");
    }
}

#[test]
fn an_observer_that_panics_unwinds_nobody_who_waits() -> Result<()> {
    let observer = Arc::new(Panics::default());
    let gpu = VirtualDevice::new("gpu");
    let rt =
        Runtime::builder().cpu_workers(1).virtual_device(gpu).observer(Arc::clone(&observer) as _).build()?;
    let x = rt.from_vec([4], vec![1; 4])?;
    let mut y = rt.zeros([4])?;
    for _ in 0..3 {
        task(&COPY, &x, &mut y).on(1).submit()?;
    }
    let read = catch_unwind(AssertUnwindSafe(|| y.to_vec()));
    assert_eq!(read.expect("the panic stays where it was")?, [1; 4]);
    rt.wait()?;
    // To the device and back.
    assert_eq!(*observer.seen.lock().unwrap_or_else(|poison| poison.into_inner()), 3);
    Ok(())
}

#[test]
fn a_callback_may_ask_what_workers_have_done() -> Result<()> {
    let rt = Arc::new(Runtime::builder().cpu_workers(1).virtual_device(VirtualDevice::new("gpu")).build()?);
    let x = rt.from_vec([4], vec![1; 4])?;
    let mut y = rt.zeros([4])?;
    let (inner, seen) = (Arc::clone(&rt), Arc::new(Mutex::new(Vec::new())));
    let seen_there = Arc::clone(&seen);
    task(&COPY, &x, &mut y)
        .callback(move |_| {
            *seen_there.lock().unwrap() = inner.worker_uses().iter().map(|worker| worker.tasks).collect()
        })
        .synchronous()
        .submit()?;
    assert_eq!(seen.lock().unwrap().iter().sum::<u64>(), 1);
    Ok(())
}

#[test]
fn times_that_no_machine_has_are_errors_and_long_ones_add_up() -> Result<()> {
    let error =
        |device: VirtualDevice| Runtime::builder().virtual_device(device).build().unwrap_err().to_string();
    let expected = "latency_us = 1000000000000000000000000000000: a time is 0 or more, and at most 13 days";
    let message = error(VirtualDevice::new("gpu").link(1e30, 1.0));
    assert!(message.contains(expected), "{message}");
    let slow = Speed { gflops: 1e-300, gbytes_per_s: 1e-300, ..Speed::default() };
    for scheduler in Runtime::schedulers() {
        let devices = ["a", "b"].map(|name| VirtualDevice::new(name).speed(slow.clone()).link(1e9, 1e-300));
        let [a, b] = devices;
        let builder =
            Runtime::builder().cpu_workers(1).virtual_device(a).virtual_device(b).scheduler(scheduler);
        let rt = builder.build()?;
        let x = rt.from_vec([4], vec![1; 4])?;
        let mut ys = (0..8).map(|_| rt.zeros([4])).collect::<Result<Vec<_>>>()?;
        for _ in 0..3 {
            for y in &mut ys {
                task(&COPY, &x, y).submit()?;
            }
            rt.wait()?;
        }
    }
    Ok(())
}

#[test]
fn a_plan_that_does_not_fit_holds_up_nobody() -> Result<()> {
    let plan = tempfile::NamedTempFile::new().expect("there is room for a file");
    std::fs::write(plan.path(), "dahl plan 1\ntask 20 gate 0\ntask 22 other 1\ntask 21 copy 1\n").unwrap();
    let rt = Runtime::builder().cpu_workers(2).scheduler("static").plan(plan.path()).build()?;
    let x = rt.from_vec([4], vec![1; 4])?;
    let (mut first, mut second, mut long) = (rt.zeros([4])?, rt.zeros([4])?, rt.zeros([4])?);
    for _ in 0..20 {
        task(&COPY, &x, &mut first).submit()?;
        rt.wait()?; // so that the codelet is measured
    }
    // Idle workers most likely sleep by the next submission: then they must be woken.
    let pause = || (0..20_000).for_each(|_| std::thread::yield_now());
    task(&GATE, &x, &mut long).submit()?;
    pause();
    task(&COPY, &x, &mut second).submit()?;
    pause();
    task(&COPY, &x, &mut first).submit()?; // number 22, which the plan calls otherwise
    pause();
    OPEN.store(true, Ordering::SeqCst);
    rt.wait()?;
    assert_eq!([first.to_vec()?, second.to_vec()?, long.to_vec()?], [[1; 4]; 3].map(Vec::from));
    assert!(!rt.plan_divergences().is_empty());
    Ok(())
}

#[test]
fn a_parallel_kernel_on_a_thread_of_another_pool_runs_no_job_of_that_pool() -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread can be had");
    let simulated = Runtime::builder().cpu_workers(1).virtual_device(VirtualDevice::new("gpu")).build()?;
    let other = Runtime::builder().cpu_workers(1).build()?;
    let z = other.from_vec([4], vec![1_i64; 4])?;
    let x = simulated.from_vec([4], vec![1; 4])?;
    let mut y = simulated.zeros([4])?;
    let mut read = None;
    pool.scope(|scope| {
        scope.spawn(|_| read = Some(z.to_vec()));
        task(&TEAM, &x, &mut y).on(0).submit().expect("it can run there");
        assert_eq!(y.to_vec().expect("it has run"), [1; 4]);
    });
    assert_eq!(read.expect("the job has run")?, [1; 4], "not inside of a kernel");
    Ok(())
}
