//! Traces of replays: what a task came after.

use std::collections::HashMap;

use dahl::Machine;
use dahl::ops::{concat_init, exp_init, matmul_init, relu_init};
use dahl::prelude::*;
use serde_json::Value;

/// A whole whose parts are written by themselves, by a short and a long branch.
#[program]
fn joined<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Matrix<'_, T>,
    y: &Matrix<'_, T>,
) -> dahl::Result<Matrix<'s, T>> {
    let both = concat_init(scope, &[&exp_init(scope, x)?, &matmul_init(scope, y, y)?], 0)?;
    relu_init(scope, &both)
}

/// With more workers than tasks, each task begins when the last one before it has ended, or when it is submitted.
#[test]
fn tasks_come_after_those_that_wrote_parts() -> dahl::Result<()> {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = folder.path().join("trace.json");
    let machine = Machine::from_toml("[cpu.speed]\ngflops = 1\ngbytes_per_s = 1\noverhead_us = 1\n")?;
    let rt = Runtime::builder().virtual_machine(machine).cpu_workers(8).trace(&path).build()?;
    let [x, y] = [1, 2].map(|i| rt.from_vec([64, 64], vec![i as f32; 64 * 64]));
    let (x, y) = (x?, y?);
    let mut program = Joined::new(&rt).passes(Passes::none());
    for _ in 0..2 {
        assert_eq!(program.call(&x, &y)?.to_vec()?.last(), Some(&256.0));
    }
    drop(program);
    drop((x, y));
    drop(rt);
    let text = std::fs::read_to_string(&path).expect("the trace is there");
    let lines: Vec<Value> = serde_json::from_str(&text).expect("an array");
    let tasks = lines.into_iter().filter(|line| line["cat"] == "task");
    let tasks: HashMap<u64, Value> =
        tasks.map(|task| (task["args"]["task"].as_u64().expect("a number"), task)).collect();
    let number = |task: &Value, name: &str| task[name].as_f64().expect("a number");
    let is_step = |task: &Value| number(task, "dur") > 0.0;
    let steps = || tasks.values().filter(|task| is_step(task));
    let (mut counts, mut late) = (HashMap::new(), Vec::new());
    for step in steps() {
        let codelet = step["args"]["codelet"].as_str().expect("a name");
        *counts.entry(codelet.rsplit("::").next().expect("a name")).or_insert(0) += 1;
        let after = step["args"]["after"].as_array().expect("a list").iter();
        let before = after.map(|task| &tasks[&task.as_u64().expect("a number")]).filter(|task| is_step(task));
        let ends: Vec<f64> = before.map(|task| number(task, "ts") + number(task, "dur")).collect();
        let due = ends.iter().copied().fold(number(&step["args"], "submitted_us"), f64::max);
        if (number(step, "ts") - due).abs() > 1e-3 {
            late.push(format!("{codelet} begins at {}, those before it end at {ends:?}", step["ts"]));
        }
    }
    assert_eq!((counts["relu"], counts["copy"], counts["matmul"]), (2, 4, 2));
    assert!(late.is_empty(), "{}", late.join("\n"));
    let is =
        |task: &Value, name: &str| task["args"]["codelet"].as_str().is_some_and(|own| own.ends_with(name));
    let whole = steps().find(|task| is(task, "::relu")).expect("it was counted");
    let before = whole["args"]["after"].as_array().expect("a list").iter();
    let copies = before.filter(|task| is(&tasks[&task.as_u64().expect("a number")], "::copy"));
    assert_eq!(copies.count(), 2);
    Ok(())
}
