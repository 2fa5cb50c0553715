//! Calibration: what is run is measured anew.

use dahl_core::Result;

use crate::program::{Asking, DOUBLE, count, duration_ns, run, simulated, take};

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
