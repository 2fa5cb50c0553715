//! The worker and time of each task under each scheduler, on simulated machines: times are exact.

mod cholesky;
mod going_on;
mod graph;
mod one_seed;
mod plans;
mod rules;

use dahl_core::{Result, Runtime};
use graph::{V, join, machine, of_worker, recorded, task};

/// Sums over arrays that several tasks contribute to at the same time.
fn program(rt: &Runtime) -> Result<Vec<i64>> {
    let mut arrays: Vec<V<'_>> = (0..6).map(|i| rt.from_vec([4], vec![i; 4])).collect::<Result<_>>()?;
    for round in 0..8 {
        for (i, array) in arrays.iter_mut().enumerate() {
            task((i + round) % 10, array).priority(((i * round) % 3) as i32).submit()?;
        }
        let (head, tail) = arrays.split_at_mut(1 + round % 5);
        join(&head[0], &mut tail[0])?;
        join(&tail[tail.len() - 1], &mut head[head.len() - 1])?;
    }
    Ok(arrays.iter().map(|array| array.to_vec()).collect::<Result<Vec<_>>>()?.concat())
}

fn names() -> impl Iterator<Item = &'static str> {
    Runtime::schedulers().iter().copied()
}

#[test]
fn the_results_are_the_same_under_every_scheduler() -> Result<()> {
    let expected = program(&Runtime::builder().cpu_workers(1).scheduler("sequential").build()?)?;
    for name in names() {
        for workers in 1..4 {
            for tasks in [1, 3, 4096] {
                let builder = Runtime::builder().cpu_workers(workers).scheduler(name).tasks_in_flight(tasks);
                assert_eq!(program(&builder.build()?)?, expected, "{name}, {workers} workers, {tasks} tasks");
                let times: Vec<f64> = (1..12).map(f64::from).collect();
                let machine = machine(&[10.0; 11], &[("gpu", &times), ("npu", &[4.0; 11])], 2.0);
                let builder = Runtime::builder().cpu_workers(workers).scheduler(name).tasks_in_flight(tasks);
                let rt = builder.virtual_machine(machine).build()?;
                assert_eq!(program(&rt)?, expected, "{name}, {workers} workers and devices, {tasks} tasks");
            }
        }
    }
    Ok(())
}

#[test]
fn no_task_is_lost_with_a_device() {
    for name in names() {
        let mut machine = machine(&[10.0], &[("gpu", &[1.0])], 0.0);
        machine.devices[0].lost_after = Some(3);
        let builder = Runtime::builder().cpu_workers(1).scheduler(name).virtual_machine(machine);
        let ((), placement) = recorded(builder, |rt| {
            for _ in 0..20 {
                let mut x = rt.zeros([1])?;
                task(0, &mut x).submit()?;
            }
            rt.wait()
        });
        assert_eq!(placement.len(), 20, "{name}");
        let of_device = of_worker(&placement, 1).len();
        assert!(of_device == if name == "sequential" { 0 } else { 3 }, "{name}: {of_device}");
    }
}

#[test]
fn a_task_that_nobody_can_run_any_more_fails() {
    for name in names() {
        let mut machine = machine(&[10.0], &[("gpu", &[10.0])], 0.0);
        machine.devices[0].lost_after = Some(1);
        let builder = Runtime::builder().cpu_workers(1).scheduler(name).virtual_machine(machine);
        let rt = builder.build().expect("the settings are possible");
        let mut x = rt.zeros([1]).expect("there is memory");
        let mut submit = || task(0, &mut x).on_kind("gpu").submit();
        assert!(submit().is_ok() && submit().is_ok() && submit().is_ok(), "{name}");
        let error = rt.wait().unwrap_err().to_string();
        let facts = [
            "no worker that is left can run it",
            "the device `gpu` is lost",
            "in the memory of a device that is lost",
        ];
        assert!(facts.iter().any(|fact| error.contains(fact)), "{name}: {error}");
    }
}

#[test]
fn an_unknown_scheduler_is_an_error_with_the_choices() {
    let error = Runtime::builder().scheduler("best").build().unwrap_err().to_string();
    for name in Runtime::schedulers() {
        assert!(error.contains(name), "{error}");
    }
}
