//! Calibration: stored durations of tasks that run are measured again.

use dahl_core::device::{Cpu, Speed};
use dahl_core::{Machine, Result, Runtime, RuntimeBuilder, Task, VirtualDevice};

use crate::perf::program::{Asking, DOUBLE, count, duration_ns, rows, run, simulated, take};

#[test]
fn nothing_is_expected_before_each_kind_has_run_it_five_times() -> Result<()> {
    let (scheduler, expected) = Asking::new();
    let rt = simulated().custom_scheduler(scheduler).calibrate(true).build()?;
    let [cpu, gpu] = duration_ns(100);
    run(&rt, &DOUBLE, 100, 4, Some(0))?;
    run(&rt, &DOUBLE, 100, 5, Some(1))?;
    run(&rt, &DOUBLE, 100, 2, None)?;
    assert_eq!(take(&expected), [[None, Some((gpu, 5))], [Some((cpu, 5)), Some((gpu, 5))]]);
    Ok(())
}

#[test]
fn what_is_run_is_forgotten_and_what_is_not_is_kept() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let stored = || simulated().performance_dir(folder.path());
    let rt = stored().build()?;
    run(&rt, &DOUBLE, 100, 20, Some(0))?;
    run(&rt, &DOUBLE, 200, 30, Some(0))?;
    drop(rt);
    let (scheduler, expected) = Asking::new();
    let rt = stored().calibrate(true).custom_scheduler(scheduler).build()?;
    run(&rt, &DOUBLE, 100, 3, None)?;
    assert_eq!(take(&expected), [[None, None], [None, None], [None, None]]);
    rt.save_performance_models()?;
    run(&rt, &DOUBLE, 100, 4, None)?;
    drop(rt);
    let rt = stored().build()?;
    let mut counts: Vec<_> =
        rt.performance_models().iter().map(|row| (row.footprint[0][0], row.count)).collect();
    counts.sort_unstable();
    assert_eq!((counts, count(&rt)), (vec![(100, 7), (200, 30)], 37));
    Ok(())
}

/// Independent tasks of one footprint, under `dm`.
fn run_independent(builder: RuntimeBuilder) -> Result<Runtime> {
    let rt = builder.scheduler("dm").build()?;
    let mut arrays = (0..60).map(|_| rt.zeros::<f32, 1>([100])).collect::<Result<Vec<_>>>()?;
    for x in &mut arrays {
        let mut task = Task::new(&DOUBLE);
        task.write(x);
        task.submit()?;
    }
    rt.wait()?;
    Ok(rt)
}

#[test]
fn a_scheduler_that_calibrates_measures_every_kind_and_the_next_run_need_not() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    // The device takes 0.2 ms for a task that takes a core a millisecond.
    let machine = || {
        let slow = |us: f64| Speed { overhead_us: us, ..Speed::default() };
        let cpu = Cpu { speed: slow(1000.0), ..Cpu::default() };
        let device = VirtualDevice::new("gpu").speed(slow(200.0)).link(1.0, 12.0);
        let machine = Machine { cpu, devices: vec![device], ..Machine::default() };
        Runtime::builder().cpu_workers(2).virtual_machine(machine).performance_dir(folder.path())
    };
    let rt = run_independent(machine().calibrate(true))?;
    let mut counts: Vec<_> =
        rows(&rt, "double").iter().map(|row| (row.worker_kind.clone(), row.count)).collect();
    counts.sort();
    assert!(counts.len() == 2 && counts.iter().all(|(_, count)| *count >= 5), "{counts:?}");
    drop(rt);
    let rt = run_independent(machine())?;
    assert_eq!(rt.prediction_error().overall.unexpected, 0);
    // Two cores and the device run 7 tasks in a millisecond, so 60 tasks take at least 8.6 ms.
    assert!(rt.clock().now_ns() <= 10_000_000, "{} ns", rt.clock().now_ns());
    Ok(())
}
