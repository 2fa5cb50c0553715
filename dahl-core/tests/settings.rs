//! Settings from the environment: an invalid value is an error that names the variable, its value and the caller's
//! line; an unknown name is a warning.

use std::ffi::OsStr;
use std::fs;
use std::process::{Command, Output};

use dahl_core::Runtime;

/// Tells a process that it is to build a runtime, and print the result.
const CHILD: &str = "SETTINGS_TEST_CHILD";

/// Runs this test program again as a process that builds a runtime.
fn build(settings: &[(&str, &OsStr)]) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", "settings::the_work_of_a_child", "--nocapture"]).env(CHILD, "1");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("DAHL_") {
            command.env_remove(name);
        }
    }
    command.envs(settings.iter().copied()).output().expect("it can be started")
}

/// Does nothing except in a process that another test has started.
#[test]
fn the_work_of_a_child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let line = line!() + 1;
    match Runtime::new() {
        Ok(_) => println!("built"),
        Err(error) => println!("refused: {error} (the call is in line {line})"),
    }
}

#[test]
fn a_wrong_value_is_an_error_with_the_name_the_value_and_the_callers_line() {
    let not_text: &OsStr = {
        #[cfg(unix)]
        {
            std::os::unix::ffi::OsStrExt::from_bytes(b"\xff2")
        }
        #[cfg(not(unix))]
        {
            OsStr::new("two")
        }
    };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "").expect("it can be written");
    let wrong: [(&str, &[&OsStr]); 26] = [
        (
            "DAHL_NCPU",
            &["0".as_ref(), "".as_ref(), "many".as_ref(), "4097".as_ref(), "-1".as_ref(), not_text],
        ),
        ("DAHL_BIND", &["".as_ref(), "core".as_ref(), "1000000".as_ref(), not_text]),
        ("DAHL_SCHED", &["".as_ref(), "wss".as_ref(), not_text]),
        ("DAHL_RAND_SEED", &["".as_ref(), "x".as_ref(), "-1".as_ref(), not_text]),
        ("DAHL_ENERGY_WEIGHT", &["-1".as_ref(), "x".as_ref(), "".as_ref(), not_text]),
        ("DAHL_PLAN", &[]),
        ("DAHL_WRITE_PLAN", &["no/such/folder/plan".as_ref(), folder.path().as_os_str()]),
        ("DAHL_TASKS_IN_FLIGHT", &["0".as_ref(), "1048577".as_ref(), not_text]),
        ("DAHL_LIMIT_MB", &["0".as_ref(), "1.5".as_ref(), not_text]),
        ("DAHL_MACHINE", &["no/such/machine.toml".as_ref(), folder.path().as_os_str()]),
        ("DAHL_NCUDA", &["x".as_ref(), "1000".as_ref(), not_text]),
        ("DAHL_CUDA_LIMIT_MB", &["0".as_ref(), "NaN".as_ref(), "".as_ref(), not_text]),
        ("DAHL_CUDA_TF32", &["2".as_ref(), "yes".as_ref(), not_text]),
        ("DAHL_CUDA_GRAPHS", &["2".as_ref(), "".as_ref(), not_text]),
        ("DAHL_KERNELS", &["fastest".as_ref(), "no/such.toml".as_ref(), not_text]),
        ("DAHL_TEAMS", &["sometimes".as_ref(), "".as_ref(), not_text]),
        ("DAHL_SIMD", &["v9".as_ref(), "avx2".as_ref(), "V3".as_ref(), "".as_ref(), not_text]),
        ("DAHL_CHECK", &["yes".as_ref(), "2".as_ref(), "".as_ref(), not_text]),
        ("DAHL_CHECK_SEED", &["x".as_ref(), "".as_ref(), not_text]),
        ("DAHL_STALL_SECONDS", &["1.5".as_ref(), "-1".as_ref(), "".as_ref(), not_text]),
        ("DAHL_STATS", &["yes".as_ref(), "no/such/folder/run.json".as_ref(), not_text]),
        ("DAHL_ENERGY_MS", &["1.5".as_ref(), "-1".as_ref(), "".as_ref(), not_text]),
        ("DAHL_TRACE", &["run.txt".as_ref(), "no/such/folder/run.json".as_ref()]),
        ("DAHL_PERF_DIR", &[file.as_os_str()]),
        ("DAHL_CALIBRATE", &["2".as_ref(), "".as_ref(), not_text]),
        ("DAHL_CUBLAS", &[]),
    ];
    for (name, values) in wrong {
        for value in values {
            let output = build(&[(name, value)]);
            let text = String::from_utf8_lossy(&output.stdout);
            let found = text.lines().find(|line| line.contains("refused: "));
            let found = found.unwrap_or_else(|| panic!("{name} = {value:?} is taken: {text}"));
            assert!(found.contains(&format!("D0010: {name} = `")), "{name} = {value:?}: {found}");
            assert!(found.contains(value.to_string_lossy().trim()), "{name} = {value:?}: {found}");
            let (_, line) = found.rsplit_once("the call is in line ").expect("the child says so");
            let place = format!("tests/settings.rs:{}:", line.trim_end_matches(')'));
            assert!(found.contains(&place), "{name} = {value:?}: {found}");
        }
    }
}

#[test]
fn a_plan_that_is_not_there_is_an_error_of_its_variable() {
    let output = build(&[("DAHL_SCHED", "static".as_ref()), ("DAHL_PLAN", "no/such.plan".as_ref())]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("D0010: DAHL_PLAN = `no/such.plan`"), "{text}");
}

#[test]
fn an_unknown_name_is_a_warning_with_the_nearest_one() {
    let output =
        build(&[("DAHL_NCPUS", "2".as_ref()), ("DAHL_MEOW", "1".as_ref()), ("DAHL_NCPU", "2".as_ref())]);
    let warnings = String::from_utf8_lossy(&output.stderr);
    let warnings: Vec<_> = warnings.lines().filter(|line| line.starts_with("dahl: warning: ")).collect();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].contains("DAHL_MEOW is set, which dahl does not know; the nearest name is DAHL_"));
    assert!(
        warnings[1].contains("DAHL_NCPUS is set, which dahl does not know; the nearest name is DAHL_NCPU")
    );
    assert!(String::from_utf8_lossy(&output.stdout).contains("built"));
}

#[test]
fn the_page_lists_every_variable() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let page = fs::read_to_string(format!("{root}/docs/debugging-and-performance.md")).expect("the page");
    let listed = |name: &str| page.contains(&format!("| `{name}` |"));
    let names: Vec<_> = dahl_core::__private::VARIABLES.iter().map(|(name, _)| *name).collect();
    let missing: Vec<_> = names.iter().filter(|name| !listed(name)).collect();
    assert!(missing.is_empty(), "the page does not list {missing:?}");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `DAHL_")?.split_once('`'));
    let unknown: Vec<_> =
        rows.map(|(name, _)| format!("DAHL_{name}")).filter(|name| !names.contains(&&**name)).collect();
    assert!(unknown.is_empty(), "the page lists {unknown:?}, which are not known");
}

/// With less memory than the workers' stacks take, the process does not end: the call is refused.
#[cfg(target_os = "linux")]
#[test]
#[allow(unsafe_code, reason = "limits the memory of a child")]
fn workers_that_no_memory_is_left_for_are_an_error() {
    use std::os::unix::process::CommandExt;

    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", "settings::the_work_of_a_child", "--nocapture"]);
    command.env(CHILD, "1").env("DAHL_NCPU", "1024");
    let limit = || {
        let bytes = libc::rlimit { rlim_cur: 1 << 30, rlim_max: 1 << 30 };
        // SAFETY: it reads the limit.
        match unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const bytes) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: between fork and exec the closure makes one system call.
    unsafe { command.pre_exec(limit) };
    let output = command.output().expect("it can be started");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(text.contains("refused: D0011") && text.contains("1024 of them need"), "{text}");
}
