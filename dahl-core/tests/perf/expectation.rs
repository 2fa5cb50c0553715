//! The expected durations of tasks, and their errors.

use dahl_core::{Basis, Result, Runtime, Task};

use crate::perf::program::{Asking, DOUBLE, TOTAL, count, duration_ns, rows, run, simulated, take};

#[test]
fn in_virtual_time_one_task_tells_of_all_like_it() -> Result<()> {
    let (scheduler, expected) = Asking::new();
    let rt = simulated().custom_scheduler(scheduler).build()?;
    let [cpu, gpu] = duration_ns(1000);
    run(&rt, &DOUBLE, 1000, 1, None)?;
    assert_eq!(take(&expected), [[None, None]]);
    run(&rt, &DOUBLE, 1000, 1, None)?;
    assert_eq!(take(&expected), [[Some((cpu, 1)), None]]);
    run(&rt, &DOUBLE, 1000, 3, Some(1))?;
    run(&rt, &DOUBLE, 1000, 1, None)?;
    assert_eq!(take(&expected), [[Some((cpu, 2)), Some((gpu, 3))]]);
    let rows = rows(&rt, "double");
    let told: Vec<_> = rows.iter().map(|row| (row.worker_kind.as_str(), row.count, row.median_us)).collect();
    assert_eq!(told, [("cpu", 3, cpu as f64 / 1e3), ("gpu", 3, gpu as f64 / 1e3)]);
    assert!(rows.iter().all(|row| row.spread_us == 0.0 && row.first_us.is_none() && row.bytes == 4000.0));
    Ok(())
}

#[test]
fn an_unseen_size_is_told_from_others() -> Result<()> {
    let (scheduler, expected) = Asking::new();
    let rt = simulated().custom_scheduler(scheduler).build()?;
    for len in [1000, 3000, 10_000] {
        run(&rt, &DOUBLE, len, 1, Some(1))?;
    }
    run(&rt, &DOUBLE, 50_000, 1, None)?;
    assert_eq!(take(&expected), [[None, None]], "three sizes are too few");
    run(&rt, &DOUBLE, 30_000, 1, Some(1))?;
    run(&rt, &DOUBLE, 60_000, 1, None)?;
    let estimates = expected.lock().expect("no thread panicked")[0].clone();
    let [_, gpu] = duration_ns(60_000);
    let estimate = estimates[1].expect("four sizes have been measured");
    assert_eq!((estimate.basis, estimate.samples), (Basis::Extrapolated, 0));
    assert!(estimate.ns.abs_diff(gpu) * 50 < gpu, "{estimate:?}, exactly {gpu}");
    assert_eq!(estimates[0], None, "the CPU has run one size alone");
    Ok(())
}

#[test]
fn what_was_expected_is_compared_with_what_it_took() -> Result<()> {
    let rt = simulated().build()?;
    run(&rt, &DOUBLE, 100, 4, Some(0))?;
    for len in [200, 300, 400, 500] {
        run(&rt, &DOUBLE, len, 1, Some(0))?;
    }
    let errors = rt.prediction_error();
    assert_eq!(errors.codelets.len(), 1);
    assert_eq!((errors.codelets[0].codelet.as_str(), errors.codelets[0].error), ("double", errors.overall));
    let error = errors.overall;
    assert_eq!((error.count, error.extrapolated, error.unexpected), (3, 1, 4));
    assert_eq!((error.median, error.ninth_decile), (Some(0.0), Some(0.0)));
    assert!(error.extrapolated_median.is_some_and(|median| median < 0.02), "{error:?}");
    Ok(())
}

#[test]
fn what_a_reduction_does_besides_is_measured() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let x = rt.from_vec([100], vec![1.0_f32; 100])?;
    let mut out = rt.zeros::<f32, 0>([])?;
    for _ in 0..1000 {
        let mut task = Task::new(&TOTAL);
        task.read(&x);
        task.write(&mut out);
        task.submit()?;
    }
    assert_eq!(out.to_vec()?, [1e5]);
    let of = |kernel: &str| {
        let rows = rows(&rt, "total").into_iter().filter(|row| row.kernel == kernel);
        rows.map(|row| (row.count, row.bytes, row.footprint)).collect::<Vec<_>>()
    };
    assert_eq!(of("rust").iter().map(|row| row.0).sum::<u64>(), 1000);
    let scalars = vec![vec![], vec![]];
    let folds = of("fold");
    assert!(folds.len() == 1 && folds[0].0 > 0, "{folds:?}");
    assert_eq!((folds[0].1, &folds[0].2), (8.0, &scalars));
    assert_eq!(of("finish"), [(1, 8.0, scalars)]);
    Ok(())
}

#[test]
fn workers_can_be_told_apart() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    run(&rt, &DOUBLE, 100, 7, Some(0))?;
    run(&rt, &DOUBLE, 100, 5, Some(1))?;
    let workers: Vec<_> =
        rt.performance_by_worker().into_iter().map(|row| (row.worker, row.history.count)).collect();
    assert_eq!(workers, [(Some(0), 7), (Some(1), 5)]);
    assert_eq!(count(&rt), 12);
    let merged = &rows(&rt, "double")[0];
    assert!(merged.first_us.is_some(), "in real time first calls are kept apart");
    assert!(merged.min_us <= merged.median_us && merged.median_us <= merged.max_us, "{merged:?}");
    Ok(())
}

#[test]
fn in_real_time_nothing_is_expected_of_a_first_call_alone() -> Result<()> {
    let (scheduler, expected) = Asking::new();
    let rt = Runtime::builder().cpu_workers(1).custom_scheduler(scheduler).build()?;
    for calls in 0..6 {
        run(&rt, &DOUBLE, 100, 1, Some(0))?; // which the scheduler does not see
        let mut x = rt.zeros::<f32, 1>([100])?;
        let mut task = Task::new(&DOUBLE);
        task.write(&mut x);
        task.submit()?;
        rt.wait()?;
        let told = take(&expected)[0][0];
        // Before the task that asks, there were 1, 3, 5, .. calls; the host, which may have helped, has a first one too.
        assert_eq!(told.is_some(), told.is_some_and(|(_, samples)| samples >= 2), "after {calls}: {told:?}");
        if calls == 0 {
            assert_eq!(told, None);
        }
        if calls >= 3 {
            assert!(told.is_some(), "after {calls}");
        }
    }
    Ok(())
}
