//! Models are kept from run to run.

use dahl_core::{History, Result, Runtime};

use crate::perf::program::{
    Asking, DOUBLE, DOUBLE_EDITED, FILE, count, duration_ns, file, files, rows, run, simulated, take,
};

fn sorted(mut rows: Vec<History>) -> Vec<History> {
    rows.sort_by_key(|row| (row.codelet.clone(), row.worker_kind.clone(), row.footprint.clone()));
    rows
}

#[test]
fn the_next_run_knows_what_the_last_one_measured() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let [cpu, gpu] = duration_ns(100);
    let rt = simulated().performance_dir(folder.path()).build()?;
    for len in [100, 200] {
        run(&rt, &DOUBLE, len, 3, Some(0))?;
        run(&rt, &DOUBLE, len, 4, Some(1))?;
    }
    let before = sorted(rt.performance_models());
    drop(rt);
    let (scheduler, expected) = Asking::new();
    let rt = simulated().performance_dir(folder.path()).custom_scheduler(scheduler).build()?;
    assert_eq!(rt.performance_warnings(), Vec::<String>::new());
    assert_eq!(sorted(rt.performance_models()), before);
    run(&rt, &DOUBLE, 100, 1, None)?;
    assert_eq!(take(&expected), [[Some((cpu, 3)), Some((gpu, 4))]]);
    assert_eq!(count(&rt), 15);
    assert!(rt.performance_by_worker().iter().map(|row| row.history.count).eq([1]), "of this run alone");
    Ok(())
}

#[test]
fn in_real_time_sums_and_first_calls_are_kept_too() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let stored = || Runtime::builder().cpu_workers(1).performance_dir(folder.path()).build();
    let rt = stored()?;
    run(&rt, &DOUBLE, 100, 50, Some(0))?;
    let before = rows(&rt, "double").remove(0);
    drop(rt);
    let rt = stored()?;
    let after = rows(&rt, "double").remove(0);
    let is_near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * a.abs() + 1e-6;
    assert!(is_near(before.mean_us, after.mean_us) && is_near(before.deviation_us, after.deviation_us));
    assert_eq!(
        (before.count, before.median_us, before.spread_us, before.min_us, before.max_us, before.first_us),
        (after.count, after.median_us, after.spread_us, after.min_us, after.max_us, after.first_us)
    );
    Ok(())
}

#[test]
fn saving_twice_counts_once() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let rt = simulated().performance_dir(folder.path()).build()?;
    run(&rt, &DOUBLE, 100, 3, Some(0))?;
    rt.save_performance_models()?;
    rt.save_performance_models()?;
    run(&rt, &DOUBLE, 100, 2, Some(0))?;
    drop(rt);
    let rt = simulated().performance_dir(folder.path()).build()?;
    assert_eq!(count(&rt), 5);
    Ok(())
}

#[test]
fn what_could_not_be_saved_is_saved_the_next_time() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let rt = simulated().performance_dir(folder.path()).build()?;
    run(&rt, &DOUBLE, 100, 3, Some(0))?;
    let lock = file(folder.path(), "lock");
    std::fs::remove_file(&lock).expect("it is there");
    std::fs::create_dir(&lock).expect("nothing has this name"); // which cannot be opened to be written
    let error = rt.save_performance_models().expect_err("there is no lock to take");
    assert!(error.to_string().contains("performance_dir"), "{error}");
    run(&rt, &DOUBLE, 100, 2, Some(0))?;
    std::fs::remove_dir(&lock).expect("it is there");
    rt.save_performance_models()?;
    drop(rt);
    let rt = simulated().performance_dir(folder.path()).build()?;
    let row = &rows(&rt, "double")[0];
    assert_eq!((row.count, row.mean_us), (5, duration_ns(100)[0] as f64 / 1e3));
    Ok(())
}

#[test]
fn a_file_can_be_read() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let rt = simulated().performance_dir(folder.path()).build()?;
    run(&rt, &DOUBLE, 100, 3, Some(1))?;
    drop(rt);
    let text = std::fs::read_to_string(file(folder.path(), FILE)).expect("it can be read");
    let expected = r#"version = 1
codelet = "double"
module = "programs"

[[history]]
declaration = "00000000000000d0"
kernel = "rust"
worker_kind = "gpu"
elements = ["f32"]
footprint = [[100]]
bytes = 400.0
count = 3
first_calls = 0
median_us = 0.208
spread_us = 0.0
mean_us = 0.208
deviation_us = 0.0
min_us = 0.208
max_us = 0.208
recent_us = [0.208, 0.208, 0.208]
"#;
    assert_eq!(text, expected);
    Ok(())
}

#[test]
fn an_edited_codelet_starts_anew() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let rt = simulated().performance_dir(folder.path()).build()?;
    run(&rt, &DOUBLE, 100, 3, Some(0))?;
    drop(rt);
    let (scheduler, expected) = Asking::new();
    let rt = simulated().performance_dir(folder.path()).custom_scheduler(scheduler).build()?;
    run(&rt, &DOUBLE_EDITED, 100, 2, None)?;
    let [cpu, _] = duration_ns(100);
    assert_eq!(take(&expected), [[None, None], [Some((cpu, 1)), None]]);
    let warnings = rt.performance_warnings();
    assert!(
        warnings.len() == 1 && warnings[0].contains("programs::double: its declaration has changed"),
        "{warnings:?}"
    );
    assert_eq!(
        rows(&rt, "double").iter().map(|row| (row.declaration, row.count)).collect::<Vec<_>>(),
        [(0xd1, 2)]
    );
    drop(rt);
    let outdated = std::fs::read_to_string(file(folder.path(), "programs.double.toml.outdated"));
    assert!(outdated.expect("it was set aside").contains("00000000000000d0"));
    let rt = simulated().performance_dir(folder.path()).build()?;
    assert_eq!(
        rows(&rt, "double").iter().map(|row| (row.declaration, row.count)).collect::<Vec<_>>(),
        [(0xd1, 2)]
    );
    Ok(())
}

#[test]
fn nothing_is_written_if_nothing_was_said_or_run() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    drop(simulated().performance_dir(folder.path()).build()?);
    let names: Vec<_> =
        files(folder.path()).iter().map(|path| path.file_name().map(|name| name.to_owned())).collect();
    assert_eq!(names, [Some("lock".into()), Some("machine.toml".into())]);
    let rt = simulated().build()?;
    run(&rt, &DOUBLE, 100, 1, None)?;
    rt.save_performance_models()?;
    Ok(())
}
