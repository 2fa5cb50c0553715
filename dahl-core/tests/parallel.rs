//! Kernels that use several cores: the bits of their results, the threads that run their jobs, and their failures.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use dahl_core::__private::{Kernel, Parameter, Views};
use dahl_core::rayon::{self, prelude::*};
use dahl_core::{
    AccessMode, Array, Codelet, ElementType, ErrorKind, Result, Runtime, RuntimeBuilder, Task, TeamPolicy,
    VirtualDevice,
};

const F32: ElementType = ElementType::of::<f32>();
const READ_WRITE: &[Parameter] =
    &[Parameter::new("x", AccessMode::R, F32), Parameter::new("out", AccessMode::W, F32)];
const WRITE: &[Parameter] = &[Parameter::new("out", AccessMode::RW, F32)];

/// The length of the parts into which [`SUM`] is split.
const PART: usize = 100;

/// The sum of `x`, whose bits depend on the order: parts of fixed extents, added one after the other.
fn sum_kernel(views: &mut Views<'_>) {
    let (x, out) = (views.slice::<f32>(), views.slice_mut::<f32>());
    let sums: Vec<f32> = x.par_chunks(PART).map(|part| part.iter().sum()).collect();
    out[0] = sums.iter().sum();
}

static SUM: Codelet = Codelet::new("sum", module_path!(), 1)
    .parameters(READ_WRITE)
    .kernels(&[Some(Kernel::new("rust", sum_kernel).parallel())]);

fn submit<const M: usize, const N: usize>(
    codelet: &'static Codelet,
    x: &Array<'_, f32, M>,
    out: &mut Array<'_, f32, N>,
) -> Result<()> {
    let mut task = Task::new(codelet);
    task.read(x);
    task.write(out);
    task.submit()
}

fn change(codelet: &'static Codelet, out: &mut Array<'_, f32, 0>) -> Result<()> {
    let mut task = Task::new(codelet);
    task.write(out);
    task.submit()
}

/// Numbers whose sum depends on the order.
fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 7919 % 1000) as f32 - 499.5) * 1.1_f32.powi((i % 61) as i32 - 30)).collect()
}

/// The bits of [`SUM`], without a runtime.
fn sum_of(numbers: &[f32]) -> u32 {
    let sums: Vec<f32> = numbers.chunks(PART).map(|part| part.iter().sum()).collect();
    sums.iter().sum::<f32>().to_bits()
}

fn sum_in(rt: &Runtime, numbers: &[f32]) -> Result<u32> {
    let x = rt.from_vec([numbers.len()], numbers.to_vec())?;
    let mut out = rt.zeros::<f32, 0>([])?;
    submit(&SUM, &x, &mut out)?;
    Ok(out.to_vec()?[0].to_bits())
}

fn workers(count: usize) -> RuntimeBuilder {
    Runtime::builder().cpu_workers(count)
}

#[test]
fn the_bits_are_the_same_for_any_number_of_workers() -> Result<()> {
    let numbers = numbers(12_345);
    let expected = sum_of(&numbers);
    assert_ne!(expected, numbers.iter().sum::<f32>().to_bits(), "the order should matter");
    for teams in [TeamPolicy::Always, TeamPolicy::Never, TeamPolicy::Measured] {
        for count in 1..=4 {
            for scheduler in ["ws", "eager"] {
                let rt = workers(count).teams(teams).scheduler(scheduler).build()?;
                for _ in 0..30 {
                    assert_eq!(sum_in(&rt, &numbers)?, expected, "{teams:?}, {count} workers, {scheduler}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn a_simulation_has_the_same_bits_and_no_global_pool() -> Result<()> {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    static THREADS_OF_POOL: Codelet =
        Codelet::new("threads", module_path!(), 3).parameters(WRITE).kernels(&[Some(
            Kernel::new("rust", |views| {
                THREADS.store(rayon::current_num_threads(), Ordering::SeqCst);
                views.slice_mut::<f32>()[0] = 1.0;
            })
            .parallel(),
        )]);
    let numbers = numbers(5_000);
    for teams in [TeamPolicy::Always, TeamPolicy::Measured] {
        let rt = workers(2).teams(teams).virtual_device(VirtualDevice::new("gpu")).build()?;
        for _ in 0..10 {
            assert_eq!(sum_in(&rt, &numbers)?, sum_of(&numbers));
        }
        let mut out = rt.zeros::<f32, 0>([])?;
        change(&THREADS_OF_POOL, &mut out)?;
        rt.wait()?;
        assert_eq!(THREADS.load(Ordering::SeqCst), 1);
    }
    Ok(())
}

#[test]
fn the_host_that_helps_runs_it_on_one_thread() -> Result<()> {
    static BEGUN: AtomicBool = AtomicBool::new(false);
    static HELPED: AtomicBool = AtomicBool::new(false);
    static THREAD: Mutex<String> = Mutex::new(String::new());
    /// Keeps the only worker until the host has helped.
    static HOLD: Codelet = Codelet::new("hold", module_path!(), 4).parameters(WRITE).kernels(&[Some(
        Kernel::new("rust", |_| {
            BEGUN.store(true, Ordering::SeqCst);
            while !HELPED.load(Ordering::SeqCst) {
                thread::yield_now();
            }
        }),
    )]);
    static HELP: Codelet = Codelet::new("help", module_path!(), 5).parameters(READ_WRITE).kernels(&[Some(
        Kernel::new("rust", |views| {
            sum_kernel(views);
            *THREAD.lock().unwrap() = thread::current().name().unwrap_or_default().to_owned();
            HELPED.store(true, Ordering::SeqCst);
        })
        .parallel(),
    )]);
    let numbers = numbers(5_000);
    let rt = workers(1).tasks_in_flight(2).build()?;
    let x = rt.from_vec([numbers.len()], numbers.clone())?;
    let (mut held, mut out, mut last) = (rt.zeros([])?, rt.zeros::<f32, 0>([])?, rt.zeros::<f32, 0>([])?);
    change(&HOLD, &mut held)?;
    while !BEGUN.load(Ordering::SeqCst) {
        thread::yield_now();
    }
    submit(&HELP, &x, &mut out)?;
    submit(&SUM, &x, &mut last)?; // no room for it: this thread helps
    assert_eq!(*THREAD.lock().unwrap(), "dahl apart");
    assert_eq!(out.to_vec()?[0].to_bits(), sum_of(&numbers));
    assert_eq!(last.to_vec()?[0].to_bits(), sum_of(&numbers));
    Ok(())
}

#[test]
fn a_kernel_that_makes_no_jobs_stays_on_the_thread_that_helps() -> Result<()> {
    static RAN: Mutex<Vec<(&str, String)>> = Mutex::new(Vec::new());
    fn note(entry: &'static str) {
        let thread = thread::current().name().unwrap_or_default().to_owned();
        RAN.lock().unwrap().push((entry, thread));
    }
    static EITHER: Codelet = Codelet::new("either", module_path!(), 20)
        .parameters(WRITE)
        .kernels(&[Some(Kernel::new("rust", |_| note("alone")).parallel_entry(|_| note("in parallel")))]);
    for teams in [TeamPolicy::Never, TeamPolicy::Measured, TeamPolicy::Always] {
        // A simulated machine's kernels run on this thread.
        let rt = workers(2).teams(teams).virtual_device(VirtualDevice::new("gpu")).build()?;
        let mut out = rt.zeros::<f32, 0>([])?;
        change(&EITHER, &mut out)?;
        rt.wait()?;
    }
    let here = thread::current().name().unwrap_or_default().to_owned();
    let expected = [("alone", here.clone()), ("alone", here), ("in parallel", "dahl apart".to_owned())];
    assert_eq!(*RAN.lock().unwrap(), expected);
    Ok(())
}

#[test]
fn an_idle_worker_does_jobs() -> Result<()> {
    static MET: AtomicUsize = AtomicUsize::new(0);
    /// Two jobs that wait for each other: a single thread would never end.
    static MEET: Codelet = Codelet::new("meet", module_path!(), 6).parameters(WRITE).kernels(&[Some(
        Kernel::new("rust", |views| {
            let begin = MET.load(Ordering::SeqCst);
            let meet = || {
                MET.fetch_add(1, Ordering::SeqCst);
                while MET.load(Ordering::SeqCst) < begin + 2 {
                    thread::yield_now();
                }
                thread::current().name().unwrap_or_default().to_owned()
            };
            let (a, b) = rayon::join(meet, meet);
            assert!(a != b && a.starts_with("dahl cpu") && b.starts_with("dahl cpu"), "{a}, {b}");
            views.slice_mut::<f32>()[0] += 1.0;
        })
        .parallel(),
    )]);
    for scheduler in ["ws", "eager"] {
        let rt = workers(2).teams(TeamPolicy::Always).scheduler(scheduler).build()?;
        let mut out = rt.zeros([])?;
        for _ in 0..300 {
            change(&MEET, &mut out)?;
        }
        assert_eq!(out.to_vec()?, [300.0]);
    }
    Ok(())
}

#[test]
fn a_worker_that_helps_takes_tasks_as_well() -> Result<()> {
    static BEGUN: AtomicBool = AtomicBool::new(false);
    static TASK_RAN: AtomicBool = AtomicBool::new(false);
    /// Makes jobs until a task has run that only the other worker can run.
    static JOBS: Codelet = Codelet::new("jobs", module_path!(), 7).parameters(WRITE).kernels(&[Some(
        Kernel::new("rust", |_| {
            BEGUN.store(true, Ordering::SeqCst);
            while !TASK_RAN.load(Ordering::SeqCst) {
                (0..64).into_par_iter().for_each(|_| thread::yield_now());
            }
        })
        .parallel(),
    )]);
    static ORDINARY: Codelet = Codelet::new("ordinary", module_path!(), 8)
        .parameters(WRITE)
        .kernels(&[Some(Kernel::new("rust", |_| TASK_RAN.store(true, Ordering::SeqCst)))]);
    let rt = workers(2).teams(TeamPolicy::Always).build()?;
    let (mut a, mut b) = (rt.zeros([])?, rt.zeros([])?);
    change(&JOBS, &mut a)?;
    while !BEGUN.load(Ordering::SeqCst) {
        thread::yield_now();
    }
    change(&ORDINARY, &mut b)?;
    rt.wait()
}

#[test]
fn a_panic_in_a_job_is_the_tasks_failure() -> Result<()> {
    static FAIL: Codelet = Codelet::new("fail", module_path!(), 9).parameters(WRITE).kernels(&[Some(
        Kernel::new("rust", |_| {
            (0..1000).into_par_iter().for_each(|i| assert!(i != 777, "unlucky {i}"));
        })
        .parallel(),
    )]);
    for count in 1..=3 {
        let rt = workers(count).teams(TeamPolicy::Always).build()?;
        let (mut bad, mut good) = (rt.zeros([])?, rt.zeros([])?);
        change(&FAIL, &mut bad)?;
        let x = rt.from_vec([3], vec![1.0, 2.0, 3.0])?;
        submit(&SUM, &x, &mut good)?;
        let error = bad.to_vec().expect_err("the kernel panics");
        assert!(matches!(error.kind(), ErrorKind::Task(_)));
        let text = error.to_string();
        assert!(text.contains("fail") && text.contains("unlucky 777") && text.contains(file!()), "{text}");
        assert_eq!(good.to_vec()?, [6.0]);
    }
    Ok(())
}

#[test]
fn a_job_must_not_wait() -> Result<()> {
    static ARRAY: Mutex<Option<Array<'static, f32, 1>>> = Mutex::new(None);
    static ERRORS: AtomicUsize = AtomicUsize::new(0);
    static WAIT: Codelet = Codelet::new("wait", module_path!(), 10).parameters(WRITE).kernels(&[Some(
        Kernel::new("rust", |_| {
            (0..100).into_par_iter().for_each(|_| {
                let array = ARRAY.lock().unwrap();
                let error = array.as_ref().expect("put there").to_vec().expect_err("inside a kernel");
                assert!(matches!(error.kind(), ErrorKind::InsideKernel { .. }), "{error}");
                ERRORS.fetch_add(1, Ordering::SeqCst);
            });
        })
        .parallel(),
    )]);
    for build in [
        workers(3).teams(TeamPolicy::Always),
        workers(1),
        workers(1).virtual_device(VirtualDevice::new("gpu")),
    ] {
        let rt = build.build()?;
        *ARRAY.lock().unwrap() = Some(rt.zeros([4])?);
        ERRORS.store(0, Ordering::SeqCst);
        let mut out = rt.zeros([])?;
        change(&WAIT, &mut out)?;
        rt.wait()?;
        assert_eq!(ERRORS.load(Ordering::SeqCst), 100);
        *ARRAY.lock().unwrap() = None;
    }
    Ok(())
}

/// Fibonacci's number `n`, with a job for every step.
fn fibonacci(n: u32) -> u32 {
    if n < 2 {
        return n;
    }
    let (a, b) = rayon::join(|| fibonacci(n - 1), || fibonacci(n - 2));
    a + b
}

static NEST: Codelet = Codelet::new("nest", module_path!(), 11)
    .parameters(WRITE)
    .kernels(&[Some(Kernel::new("rust", nest).parallel())]);

/// Jobs in jobs.
fn nest(views: &mut Views<'_>) {
    let sum: u32 = (10..14).into_par_iter().map(fibonacci).sum();
    views.slice_mut::<f32>()[0] += sum as f32;
}

#[test]
fn several_nested_ones_at_once_end() -> Result<()> {
    const SUM_OF_NUMBERS: f32 = (55 + 89 + 144 + 233) as f32;
    for count in 1..=4 {
        for teams in [TeamPolicy::Always, TeamPolicy::Measured] {
            let rt = workers(count).teams(teams).build()?;
            let mut outs = (0..7).map(|_| rt.zeros([])).collect::<Result<Vec<_>>>()?;
            for _ in 0..20 {
                outs.iter_mut().try_for_each(|out| change(&NEST, out))?;
            }
            for out in &outs {
                assert_eq!(out.to_vec()?, [20.0 * SUM_OF_NUMBERS]);
            }
        }
    }
    Ok(())
}

#[test]
fn a_runtime_is_dropped_while_they_run() -> Result<()> {
    for _ in 0..30 {
        let rt = workers(3).teams(TeamPolicy::Always).build()?;
        let mut outs = (0..5).map(|_| rt.zeros([])).collect::<Result<Vec<_>>>()?;
        outs.iter_mut().try_for_each(|out| change(&NEST, out))?;
        drop(rt);
        outs.iter().try_for_each(|out| out.to_vec().map(|out| assert_eq!(out, [521.0])))?;
    }
    Ok(())
}

#[test]
fn a_job_that_nobody_waits_for_may_panic() -> Result<()> {
    static SPAWN: Codelet = Codelet::new("spawn", module_path!(), 12).parameters(WRITE).kernels(&[Some(
        Kernel::new("rust", |views| {
            rayon::spawn(|| panic!("nobody waits for this"));
            (0..100).into_par_iter().for_each(|_| ());
            views.slice_mut::<f32>()[0] += 1.0;
        })
        .parallel(),
    )]);
    let rt = workers(2).teams(TeamPolicy::Always).build()?;
    let mut out = rt.zeros([])?;
    for _ in 0..10 {
        change(&SPAWN, &mut out)?;
    }
    assert_eq!(out.to_vec()?, [10.0]);
    drop(rt);
    Ok(())
}
