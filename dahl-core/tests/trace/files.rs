//! The file to which a trace is written.

use std::env;
use std::fs;
use std::process::Command;

use dahl_core::{Result, Runtime};

use crate::trace::file::{File, Folder};
use crate::trace::kernels::{M, step};

fn builder() -> dahl_core::RuntimeBuilder {
    Runtime::builder().cpu_workers(2)
}

#[test]
fn a_runtime_that_does_nothing_leaves_a_whole_trace() -> Result<()> {
    let folder = Folder::new();
    drop(builder().trace(folder.path()).build()?);
    let file = folder.read();
    assert!(file.is_whole);
    assert_eq!((file.tasks().len(), file.end().map(|end| end.tasks)), (0, Some(0)));
    assert!(!file.about().is_virtual);
    assert_eq!(file.about().scheduler, "ws");
    let end_us = file.end().expect("it came to its end").end_us;
    let whole = |slice: &dahl_trace::format::Slice| slice.ts == 0.0 && slice.dur == end_us;
    assert!(
        file.idle().iter().all(|(idle, slice)| idle.cause == dahl_trace::format::Cause::End && whole(slice))
    );
    Ok(())
}

#[test]
fn several_runtimes_of_a_process_do_not_write_over_each_other() -> Result<()> {
    let folder = Folder::new();
    let one = builder().trace(folder.path()).build()?;
    let two = builder().trace(folder.path()).build()?;
    let mut x: M<'static> = two.zeros([2, 2])?;
    step(&mut x).submit()?;
    drop((one, two));
    let mut three = builder().trace(folder.path()).build()?;
    for _ in 0..2 {
        let mut x: M<'static> = three.zeros([2, 2])?;
        step(&mut x).submit()?;
        step(&mut x).submit()?;
        three.wait()?;
    }
    three = {
        drop(three);
        builder().trace(folder.named("other.json")).build()?
    };
    drop(three);
    let tasks = |name: &str| File::read(&folder.named(name)).tasks().len();
    let names = ["run.json", "run-2.json", "run-3.json", "other.json"];
    assert_eq!(names.map(tasks), [0, 1, 4, 0]);
    Ok(())
}

#[test]
fn a_file_that_another_process_is_writing_is_left_alone() -> Result<()> {
    let folder = Folder::new();
    fs::write(folder.path(), "another's").expect("a file");
    let of_another = fs::OpenOptions::new().write(true).open(folder.path()).expect("the file");
    of_another.lock().expect("a lock");
    drop(builder().trace(folder.path()).build()?);
    assert_eq!(fs::read_to_string(folder.path()).expect("the file"), "another's");
    assert_eq!(File::read(&folder.named("run-2.json")).tasks().len(), 0);
    Ok(())
}

#[test]
fn a_trace_that_cannot_be_is_an_error_that_says_what_can() {
    let folder = Folder::new();
    for name in ["run.paje", "run", "json"] {
        let path = folder.named(name);
        let error = builder().trace(&path).build().expect_err("no such trace").to_string();
        let path = path.display().to_string();
        for part in [
            "D0010",
            "trace",
            path.as_str(),
            "NAME.json",
            "dahl trace html|paje|dot FILE",
            "tests/trace/files.rs",
        ] {
            assert!(error.contains(part), "{part}: {error}");
        }
        assert!(!folder.named(name).exists());
    }
    let path = folder.named("no/such/folder/run.json");
    let error = builder().trace(&path).build().expect_err("no such folder").to_string();
    assert!(error.contains(&path.display().to_string()) && error.contains("No such file"), "{error}");
}

/// Runs one test of this program again, alone, with DAHL_TRACE set.
pub(crate) fn child(test: &str, trace: &std::path::Path) -> Command {
    let mut child = Command::new(env::current_exe().expect("this program"));
    child.args(["--exact", test, "--nocapture"]).env("DAHL_TRACE", trace).env("DAHL_TRACE_TEST", test);
    child
}

/// Whether this is the child that runs `test`.
pub(crate) fn is_child(test: &str) -> bool {
    env::var_os("DAHL_TRACE_TEST").is_some_and(|of| of == test)
}

#[test]
fn the_environment_names_a_trace() -> Result<()> {
    let test = "trace::files::the_environment_names_a_trace";
    if is_child(test) {
        match builder().build() {
            Ok(rt) => step(&mut rt.zeros([2, 2])?).submit()?,
            Err(error) => println!("{error}"),
        }
        return Ok(());
    }
    let folder = Folder::new();
    let output = child(test, &folder.path()).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(folder.read().tasks().len(), 1);
    let output = child(test, &folder.named("run.html")).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("DAHL_TRACE") && text.contains("run.html") && text.contains("NAME.json"), "{text}");
    Ok(())
}

#[test]
fn a_full_disk_ends_the_trace_and_not_the_run() -> Result<()> {
    let test = "trace::files::a_full_disk_ends_the_trace_and_not_the_run";
    if is_child(test) {
        let rt = builder().build()?;
        let mut x: M<'static> = rt.zeros([2, 2])?;
        for _ in 0..10 {
            step(&mut x).submit()?;
        }
        println!("{:?}", x.to_vec()?);
        return Ok(());
    }
    let folder = Folder::new();
    std::os::unix::fs::symlink("/dev/full", folder.path()).expect("a link");
    let output = child(test, &folder.path()).output().expect("it runs");
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("[1023, 1023, 1023, 1023]"), "{text}");
    let complaint =
        format!("dahl: the trace {} cannot be written: No space left on device", folder.path().display());
    assert_eq!(errors.matches(&complaint).count(), 1, "{errors}");
    Ok(())
}
