//! Machines as they were measured: tasks of some sizes, what tasks cost each other, and what a submission takes.

use dahl_core::{CodeletSpeed, Cpu, Machine, MeasuredTask, Result, Runtime, Speed};

use super::kernels::{V, step};
use super::{LEN, array, cpu, each_takes};

/// Tasks of `step` of so many elements took so many microseconds.
fn measured(tasks: &[(usize, f64)]) -> Speed {
    let task = |&(len, us): &(usize, f64)| MeasuredTask {
        footprint: vec![vec![len]],
        flops: None,
        bytes: (8 * len) as f64,
        us,
    };
    let own = CodeletSpeed { measured: tasks.iter().map(task).collect(), ..CodeletSpeed::default() };
    Speed { overhead_us: 0.0, codelets: [("step".to_owned(), own)].into(), ..Speed::default() }
}

/// How long `step` takes for an array of so many elements.
fn ns(speed: Speed, len: usize) -> Result<u64> {
    let machine = Machine { cpu: Cpu { speed, ..Cpu::default() }, ..Machine::default() };
    let rt = Runtime::builder().cpu_workers(1).virtual_machine(machine).build()?;
    let mut x: V<'_> = rt.zeros([len])?;
    step(&mut x, None)?;
    rt.wait()?;
    Ok(rt.clock().now_ns())
}

#[test]
fn sizes_between_measured_ones_lie_on_a_line_and_others_grow_at_most_with_the_size() -> Result<()> {
    let speed = || measured(&[(100, 3.0), (300, 7.0)]);
    for (len, expected_ns) in [(100, 3_000), (300, 7_000), (200, 5_000), (600, 13_000), (50, 2_000)] {
        assert_eq!(ns(speed(), len)?, expected_ns, "{len}");
    }
    // The line would be below proportion, and above what is measured: a task with more work is no faster.
    assert_eq!(ns(measured(&[(100, 1.0), (200, 4.0)]), 400)?, 8_000, "in proportion to the last");
    assert_eq!(ns(measured(&[(100, 4.0), (200, 3.0)]), 400)?, 3_000, "no less than the last");
    assert_eq!(ns(measured(&[(100, 4.0)]), 300)?, 12_000, "one alone says the rate");
    assert_eq!(ns(speed().times(2.0), 200)?, 2_500);
    Ok(())
}

#[test]
fn of_tasks_with_the_same_extents_the_nearest_in_bytes_counts() {
    let task = |bytes, us| MeasuredTask { footprint: vec![vec![100]], flops: None, bytes, us };
    for measured in [[task(400.0, 3.0), task(800.0, 5.0)], [task(800.0, 5.0), task(400.0, 3.0)]] {
        let own = CodeletSpeed { measured: measured.into(), ..CodeletSpeed::default() };
        let speed =
            Speed { overhead_us: 0.0, codelets: [("step".to_owned(), own)].into(), ..Speed::default() };
        let us = |bytes| speed.us("step", &[[100]], None, bytes);
        assert_eq!([us(400.0), us(800.0), us(200.0), us(700.0)], [3.0, 5.0, 3.0, 5.0].map(Some));
    }
}

/// A machine on which `step` takes 8 us, and half as long again beside another task.
fn contended(submit_us: f64) -> Machine {
    let mut speed = each_takes(8.0);
    speed.co_running = 0.5;
    Machine { cpu: Cpu { speed, submit_us, ..Cpu::default() }, ..Machine::default() }
}

#[test]
fn tasks_that_run_side_by_side_slow_each_other_down_while_both_run() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(2).virtual_machine(contended(0.0)).scheduler("eager").build()?;
    let mut arrays = [array(&rt)?, array(&rt)?, array(&rt)?];
    arrays.iter_mut().try_for_each(|x| step(x, None))?;
    rt.wait()?;
    // Two take 12 us beside each other, and the third 8 alone.
    assert_eq!(rt.clock().now_ns(), 20_000);
    let busy: f64 = rt.worker_uses().iter().map(|worker| worker.busy_us).sum();
    assert!((busy - 32.0).abs() < 1e-9, "{busy}");
    Ok(())
}

#[test]
fn a_task_that_begins_later_slows_down_what_is_left_of_the_first() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(2).virtual_machine(contended(2.0)).scheduler("eager").build()?;
    let mut arrays = [array(&rt)?, array(&rt)?];
    arrays.iter_mut().try_for_each(|x| step(x, None))?;
    rt.wait()?;
    // Submitted at 0 and 2 us; each submission takes 2 us. The first has 6 us left at 2 us and takes 9 for them. By then the second
    // has done 6 of its 8, and does the rest alone.
    assert_eq!(rt.clock().now_ns(), 13_000);
    Ok(())
}

#[test]
fn a_submission_takes_time_in_which_workers_run() -> Result<()> {
    let machine = Machine {
        cpu: Cpu { speed: each_takes(1.0), submit_us: 4.0, ..Cpu::default() },
        ..Machine::default()
    };
    let rt = Runtime::builder().cpu_workers(1).virtual_machine(machine).build()?;
    let mut x = array(&rt)?;
    (0..3).try_for_each(|_| step(&mut x, None))?;
    assert_eq!(rt.clock().now_ns(), 12_000);
    rt.wait()?;
    assert_eq!(rt.clock().now_ns(), 12_000, "the last one ended at 9 us");
    let free = cpu(1, 1.0).build()?;
    let mut y: V<'_> = free.zeros([LEN])?;
    step(&mut y, None)?;
    assert_eq!(free.clock().now_ns(), 0);
    Ok(())
}

#[test]
fn impossible_measurements_are_named() {
    for (text, expected) in [
        ("[cpu.speed]\nco_running = -1", "cpu: co_running = -1: a share is 0 or more"),
        ("[cpu]\nsubmit_us = nan", "cpu: submit_us = NaN: a time is 0 or more"),
        ("[cpu.speed.codelets.step]\nvariation = inf", "codelets.step.variation = inf"),
        (
            "[[cpu.speed.codelets.step.measured]]\nfootprint = [[2]]\nbytes = 3\nus = -1",
            "codelets.step.measured: flops = None, bytes = 3, us = -1",
        ),
    ] {
        let error = Machine::from_toml(text).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}\n{error}\n{expected}");
    }
}
