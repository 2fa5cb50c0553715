//! Plans: written, followed, and invalid ones.

use std::fs;
use std::path::Path;

use dahl_core::{Result, Runtime, RuntimeBuilder};

use crate::schedulers::graph::{V, machine, of_worker, plan_file, recorded, task};
use crate::schedulers::program;

fn builder() -> RuntimeBuilder {
    let machine = machine(&[10.0; 11], &[("gpu", &[3.0; 11]), ("npu", &[4.0; 11])], 2.0);
    Runtime::builder().cpu_workers(2).virtual_machine(machine)
}

/// Runs `program` by the plan in `text`; returns the tasks in the order in which they ended, with their workers, and
/// the divergences.
fn follow(
    text: &str,
    builder: RuntimeBuilder,
    program: impl FnOnce(&Runtime) -> Result<()>,
) -> (Vec<(u64, usize)>, Vec<String>) {
    let path = plan_file();
    fs::write(&path, text).unwrap();
    let (divergences, placement) = recorded(builder.plan(&path), |rt| {
        program(rt)?;
        Ok(rt.plan_divergences())
    });
    let _ = fs::remove_file(&path);
    (placement, divergences.into_iter().map(|divergence| without_path(&divergence, &path)).collect())
}

fn without_path(divergence: &str, path: &Path) -> String {
    let of_file = format!("{}: ", path.display());
    divergence.strip_prefix(&of_file).expect("it names the file").to_owned()
}

#[test]
fn a_plan_gives_the_same_placement_order_and_results_again() -> Result<()> {
    for name in ["ws", "eager", "random", "dmda", "heft"] {
        let path = plan_file();
        let rt = builder().scheduler(name).write_plan(&path).build()?;
        let expected = program(&rt)?;
        drop(rt);
        let text = fs::read_to_string(&path).unwrap();
        let rt = builder().plan(&path).write_plan(path.with_extension("again")).build()?;
        assert_eq!(rt.scheduler(), "static");
        assert_eq!(program(&rt)?, expected, "{name}");
        assert_eq!(rt.plan_divergences(), [""; 0], "{name}");
        drop(rt);
        let again = fs::read_to_string(path.with_extension("again")).unwrap();
        let of_worker = |text: &str, worker: usize| {
            let end = format!(" {worker}");
            let tasks = text.lines().filter(|line| line.starts_with("task") && line.ends_with(&end));
            tasks.map(str::to_owned).collect::<Vec<_>>()
        };
        assert!((0..4).any(|worker| !of_worker(&text, worker).is_empty()));
        for worker in 0..4 {
            assert_eq!(of_worker(&again, worker), of_worker(&text, worker), "{name}, worker {worker}");
        }
        let _ = (fs::remove_file(&path), fs::remove_file(path.with_extension("again")));
    }
    Ok(())
}

#[test]
fn a_plan_is_followed_in_real_time() -> Result<()> {
    let path = plan_file();
    let rt = Runtime::builder().cpu_workers(3).write_plan(&path).build()?;
    let expected = program(&rt)?;
    drop(rt);
    let rt = Runtime::builder().cpu_workers(3).plan(&path).build()?;
    let mut text = fs::read_to_string(&path).unwrap();
    assert_eq!(program(&rt)?, expected);
    assert_eq!(rt.plan_divergences(), [""; 0]);
    drop(rt);
    // Any order of the lines is completed, though few of them can be kept.
    let mut lines: Vec<&str> = text.lines().collect();
    lines[4..].reverse();
    text = lines.join("\n");
    fs::write(&path, &text).unwrap();
    for _ in 0..20 {
        let rt = Runtime::builder().cpu_workers(3).plan(&path).build()?;
        assert_eq!(program(&rt)?, expected);
        assert_eq!(rt.plan_divergences(), [""; 0]);
    }
    let _ = fs::remove_file(&path);
    Ok(())
}

/// Four tasks that do not depend on each other.
fn four(rt: &Runtime) -> Result<()> {
    let mut arrays: Vec<V<'_>> = (0..4).map(|_| rt.zeros([1])).collect::<Result<_>>()?;
    arrays.iter_mut().try_for_each(|x| task(0, x).submit())?;
    rt.wait()
}

#[test]
fn a_worker_runs_its_tasks_in_the_order_of_the_lines() {
    let plan = "dahl plan 1\ntask 3 step0 1\ntask 1 step0 0\ntask 0 step0 1\ntask 2 step0 1 # the last\n";
    let (placement, divergences) = follow(plan, builder(), four);
    assert_eq!((of_worker(&placement, 0), of_worker(&placement, 1)), (vec![1], vec![3, 0, 2]));
    assert_eq!(divergences, [""; 0]);
}

#[test]
fn an_order_that_cannot_be_kept_is_given_up() {
    // Of the chain 0 to 3, the last tasks are first in the plan.
    let plan = "dahl plan 1\ntask 3 step0 0\ntask 1 step0 1\ntask 2 step0 0\ntask 0 step0 1\n";
    let (placement, divergences) = follow(plan, builder(), |rt| {
        let mut x: V<'_> = rt.zeros([1])?;
        (0..4).try_for_each(|_| task(0, &mut x).submit())?;
        rt.wait()
    });
    assert_eq!(placement, [(0, 1), (1, 1), (2, 0), (3, 0)]);
    assert_eq!(divergences, [""; 0]);
}

#[test]
fn what_does_not_fit_is_named_and_run_all_the_same() {
    let plan = "dahl plan 1\nworker 0 cpu 0\nworker 2 tpu\nworker 9 gpu\ntask 0 step0 1\ntask 1 matmul 1\ntask 2 step0 9\n";
    let (placement, divergences) = follow(plan, builder(), four);
    assert_eq!(placement.len(), 4);
    assert!(placement.contains(&(0, 1)));
    let expected = [
        "line 3: worker 2 is `gpu`, but the plan has `tpu`",
        "line 4: there is no worker 9; the runtime has 4",
        "line 6: task 1 is `step0`, but the plan has `matmul`",
        "line 7: task 2, `step0`: there is no worker 9; the runtime has 4",
        "task 3, `step0`, is not in the plan",
    ];
    assert_eq!(divergences, expected);
}

#[test]
fn tasks_that_never_come_hold_nobody_up() {
    let plan =
        "dahl plan 1\ntask 100 step0 0\ntask 0 step0 0\ntask 1 step0 0\ntask 2 step0 0\ntask 3 step0 0\n";
    let (placement, divergences) = follow(plan, builder(), four);
    assert_eq!(placement, [(0, 0), (1, 0), (2, 0), (3, 0)]);
    assert_eq!(divergences, [""; 0]);
}

#[test]
fn a_worker_that_cannot_run_a_task_is_named() {
    let mut machine = machine(&[10.0], &[("gpu", &[1.0])], 0.0);
    machine.devices[0].speed.codelets.get_mut("step0").expect("it is there").absent = true;
    let builder = Runtime::builder().cpu_workers(1).virtual_machine(machine);
    let (placement, divergences) = follow("dahl plan 1\ntask 0 step0 1\ntask 1 step0 0\n", builder, four);
    assert_eq!(of_worker(&placement, 0).len(), 4);
    assert_eq!(divergences[0], "line 2: task 0, `step0`, cannot run on worker 1");
}

#[test]
fn a_corrupt_plan_is_an_error_that_names_file_and_line() {
    let path = plan_file();
    fs::write(&path, "dahl plan 1\ntask 0 step0 0\ntask 1 step0 first\n").unwrap();
    let error = Runtime::builder().plan(&path).build().unwrap_err().to_string();
    let name = path.display().to_string();
    assert!(error.contains(&name) && error.contains("line 3: `task 1 step0 first`"), "{error}");
    let _ = fs::remove_file(&path);
    let error = Runtime::builder().plan(&path).build().unwrap_err().to_string();
    assert!(error.contains(&name), "{error}");
    let error = Runtime::builder().scheduler("static").build().unwrap_err().to_string();
    assert!(error.contains("DAHL_PLAN"), "{error}");
    let error = Runtime::builder().scheduler("ws").plan(&path).build().unwrap_err().to_string();
    assert!(error.contains("`static`, since a plan is given"), "{error}");
    let error = Runtime::builder().write_plan("/no/such/folder/plan").build().unwrap_err().to_string();
    assert!(error.contains("/no/such/folder/plan"), "{error}");
}
