//! Files that cannot be used never end a run: they are set aside.

use std::fs;
use std::path::Path;

use dahl_core::Result;

use crate::perf::program::{DOUBLE, FILE, count, file, files, run, simulated};

/// Stores a run of three tasks.
fn store(folder: &Path) -> Result<()> {
    let rt = simulated().performance_dir(folder).build()?;
    run(&rt, &DOUBLE, 100, 3, Some(0))?;
    Ok(())
}

/// Changes the file of the codelet, runs two tasks, and expects that the stored measurements are set aside. Returns the
/// warnings.
fn spoil(reason: &str, change: impl FnOnce(String) -> Vec<u8>) -> Result<String> {
    let folder = tempfile::tempdir().expect("a folder");
    store(folder.path())?;
    let path = file(folder.path(), FILE);
    let spoilt = change(fs::read_to_string(&path).expect("it can be read"));
    fs::write(&path, &spoilt).expect("it can be written");
    let rt = simulated().performance_dir(folder.path()).build()?;
    run(&rt, &DOUBLE, 100, 2, Some(0))?;
    assert_eq!(count(&rt), 2, "nothing of the file is used");
    let warnings = rt.performance_warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    drop(rt);
    let aside = path.with_file_name(format!("{FILE}.{reason}"));
    assert_eq!(fs::read(&aside).expect("it was set aside"), spoilt);
    assert!(warnings[0].contains(&*path.to_string_lossy()), "{}", warnings[0]);
    assert!(warnings[0].contains(&*aside.to_string_lossy()), "{}", warnings[0]);
    let rt = simulated().performance_dir(folder.path()).build()?;
    assert_eq!((count(&rt), rt.performance_warnings().len()), (2, 0));
    Ok(warnings[0].clone())
}

#[test]
fn a_torn_file_is_set_aside_wherever_it_is_torn() -> Result<()> {
    // Cut between two histories or lines, a file may still be valid, with fewer words.
    for kept in [0, 5, 30, 70, 100, 200, 250] {
        let warning = spoil("corrupt", |text| text.as_bytes()[..kept].to_vec())?;
        assert!(warning.contains("TOML parse error at line"), "{kept}: {warning}");
    }
    Ok(())
}

#[test]
fn a_file_that_is_none_is_set_aside() -> Result<()> {
    let warning = spoil("corrupt", |_| vec![0xff, 0xfe, 0, 1])?;
    assert!(warning.contains("invalid utf-8"), "{warning}");
    let warning = spoil("corrupt", |text| text.replace("bytes = 400.0", "bytes = many").into_bytes())?;
    assert!(warning.contains("line 11, column 9"), "{warning}");
    let warning = spoil("corrupt", |text| text.replace("kernel =", "colonel =").into_bytes())?;
    assert!(warning.contains("unknown field `colonel`"), "{warning}");
    Ok(())
}

#[test]
fn figures_that_no_run_measures_are_refused() -> Result<()> {
    let warning = spoil("corrupt", |text| text.replace("mean_us = 1.04", "mean_us = nan").into_bytes())?;
    assert!(warning.contains("history 1: mean_us = NaN"), "{warning}");
    let warning = spoil("corrupt", |text| text.replace("[1.04,", "[-1.04,").into_bytes())?;
    assert!(warning.contains("recent_us = -1.04"), "{warning}");
    let warning = spoil("corrupt", |text| text.replace("count = 3", "count = 2").into_bytes())?;
    assert!(warning.contains("count = 2"), "{warning}");
    Ok(())
}

#[test]
fn another_version_is_set_aside() -> Result<()> {
    let change = |text: String| text.replace("version = 1", "version = 2\nnew = true").into_bytes();
    let warning = spoil("outdated", change)?;
    assert!(warning.contains("version 2") && warning.contains("knows version 1"), "{warning}");
    Ok(())
}

#[test]
fn what_is_set_aside_twice_is_kept_twice() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    for _ in 0..2 {
        store(folder.path())?;
        fs::write(file(folder.path(), FILE), "torn").expect("it can be written");
        drop(simulated().performance_dir(folder.path()).build()?);
    }
    let aside = files(folder.path()).into_iter().filter(|path| path.to_string_lossy().ends_with("corrupt"));
    assert_eq!(aside.count(), 2);
    Ok(())
}

#[test]
fn a_file_torn_during_the_run_is_not_lost_either() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    store(folder.path())?;
    let rt = simulated().performance_dir(folder.path()).build()?;
    run(&rt, &DOUBLE, 100, 2, Some(0))?;
    fs::write(file(folder.path(), FILE), "[[history").expect("it can be written");
    rt.save_performance_models()?;
    assert_eq!(rt.performance_warnings().len(), 1);
    drop(rt);
    let rt = simulated().performance_dir(folder.path()).build()?;
    assert_eq!(count(&rt), 2);
    Ok(())
}

#[test]
fn a_folder_that_cannot_be_is_an_error_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    fs::write(&path, "").expect("it can be written");
    let error = simulated().performance_dir(&path).build().expect_err("a file is no folder");
    assert_eq!(error.code(), "D0010");
    let text = error.to_string();
    assert!(text.contains("performance_dir") && text.contains(&*path.to_string_lossy()), "{text}");
}
