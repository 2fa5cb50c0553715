//! What the host does by itself before it submits a task, and what that takes.

use dahl_core::{Cpu, Machine, Result, Runtime, RuntimeBuilder, Speed, Submission};

use super::kernels::{fill, join, step};
use super::{array, each_takes};

fn submission(codelet: &str, after: Option<&str>, us: f64, us_per_mb: f64) -> Submission {
    Submission { codelet: codelet.to_owned(), after: after.map(str::to_owned), us, us_per_mb }
}

/// One worker, for which `step` takes 2 us and `join` 20.
fn machine(submissions: Vec<Submission>) -> Machine {
    let mut speed: Speed = each_takes(2.0);
    speed.codelets.get_mut("join").expect("it is there").us = Some(20.0);
    Machine { cpu: Cpu { speed, submissions, ..Cpu::default() }, ..Machine::default() }
}

fn builder(submissions: Vec<Submission>) -> RuntimeBuilder {
    Runtime::builder().cpu_workers(1).virtual_machine(machine(submissions))
}

#[test]
fn the_host_works_while_the_worker_does_and_not_while_it_waits() -> Result<()> {
    let rt = builder(vec![submission("step", None, 5.0, 0.0), submission("join", None, 5.0, 0.0)]).build()?;
    let (x, mut y, mut z) = (array(&rt)?, array(&rt)?, array(&rt)?);
    let now = || rt.clock().now_ns();
    step(&mut y, None)?; // submitted at 5 us, runs from 5 to 7
    assert_eq!(now(), 5_000);
    join(&x, &mut z, None)?; // submitted at 10 us, runs from 10 to 30
    assert_eq!(now(), 10_000);
    step(&mut y, None)?; // submitted at 15 us, runs from 30 to 32
    assert_eq!(now(), 15_000);
    rt.wait()?;
    assert_eq!(now(), 32_000);
    step(&mut y, None)?; // submitted at 37 us
    rt.wait()?;
    assert_eq!(now(), 39_000);
    Ok(())
}

#[test]
fn the_codelet_before_and_the_size_decide() -> Result<()> {
    // Each `fill` writes 1,000 bytes: 1 us at 2^20 us for 2^20 thousand bytes.
    let for_bytes = f64::from(1 << 20) / 1e3;
    let submissions = vec![
        submission("step", None, 1.0, 0.0),
        submission("step", Some("fill"), 4.0, 0.0),
        submission("fill", Some("step"), 2.0, for_bytes),
    ];
    let rt = builder(submissions).build()?;
    let (x, mut y) = (array(&rt)?, array(&rt)?);
    let mut passed = Vec::new();
    let mut note = |submitted: Result<()>| {
        passed.push(rt.clock().now_ns());
        submitted
    };
    note(fill(&mut y, 1, None))?; // nothing is known of a first `fill`
    note(step(&mut y, None))?; // 4 us after a `fill`
    note(step(&mut y, None))?; // 1 us after anything else
    note(fill(&mut y, 1, None))?; // 2 us, and 1 for its bytes
    note(join(&x, &mut y, None))?; // nothing is known
    note(step(&mut y, None))?; // 1 us
    assert_eq!(passed, [0, 4_000, 5_000, 8_000, 8_000, 9_000]);
    Ok(())
}

#[test]
fn a_codelet_with_a_time_of_its_own_takes_no_other() -> Result<()> {
    let mut machine = machine(vec![submission("step", None, 3.0, 0.0)]);
    machine.cpu.submit_us = 7.0;
    let rt = Runtime::builder().cpu_workers(1).virtual_machine(machine).build()?;
    let mut x = array(&rt)?;
    step(&mut x, None)?;
    assert_eq!(rt.clock().now_ns(), 3_000);
    fill(&mut x, 1, None)?;
    assert_eq!(rt.clock().now_ns(), 10_000);
    Ok(())
}

#[test]
fn the_host_and_the_workers_share_the_cores() -> Result<()> {
    let mut machine = machine(vec![submission("step", None, 6.0, 0.0), submission("fill", None, 10.0, 0.0)]);
    machine.cpu.speed.codelets.get_mut("step").expect("it is there").us = Some(8.0);
    machine.cpu.cores = Some(1);
    let rt = Runtime::builder().cpu_workers(1).virtual_machine(machine.clone()).build()?;
    let (mut x, mut y) = (array(&rt)?, array(&rt)?);
    step(&mut x, None)?; // 6 us, of the host alone
    assert_eq!(rt.clock().now_ns(), 6_000);
    // Both at half their pace: the worker needs 16 us for its 8, and the host has done 8 of its 10 by then.
    fill(&mut y, 1, None)?;
    assert_eq!(rt.clock().now_ns(), 6_000 + 16_000 + 2_000);
    rt.wait()?;
    assert_eq!(rt.clock().now_ns(), 24_000 + 2_000);
    // On two cores, in no one's way.
    machine.cpu.cores = Some(2);
    let rt = Runtime::builder().cpu_workers(1).virtual_machine(machine).build()?;
    let (mut x, mut y) = (array(&rt)?, array(&rt)?);
    step(&mut x, None)?;
    fill(&mut y, 1, None)?;
    assert_eq!(rt.clock().now_ns(), 16_000);
    let text = "[cpu]\ncores = 0";
    let error = Machine::from_toml(text).expect_err(text).to_string();
    assert!(error.contains("cpu: cores = 0: there is at least one"), "{error}");
    Ok(())
}

#[test]
fn a_simulation_with_a_working_host_is_the_same_every_time() -> Result<()> {
    let run = || -> Result<Vec<u64>> {
        let mut machine =
            machine(vec![submission("step", None, 1.5, 0.0), submission("join", None, 0.7, 300.0)]);
        (machine.seed, machine.cpu.cores) = (Some(7), Some(2));
        machine.cpu.speed.codelets.values_mut().for_each(|codelet| codelet.variation = Some(0.3));
        let rt = Runtime::builder().cpu_workers(2).virtual_machine(machine).build()?;
        let mut arrays = [array(&rt)?, array(&rt)?, array(&rt)?];
        let mut times = Vec::new();
        for round in 0..20 {
            arrays.iter_mut().try_for_each(|x| step(x, None))?;
            let [x, y, z] = &mut arrays;
            if round % 3 == 0 {
                join(x, y, None)?
            } else {
                join(y, z, None)?
            }
            times.push(rt.clock().now_ns());
        }
        rt.wait()?;
        times.push(rt.clock().now_ns());
        Ok(times)
    };
    assert_eq!(run()?, run()?);
    Ok(())
}

#[test]
fn a_callback_runs_inside_of_the_hosts_time() -> Result<()> {
    use std::sync::{Arc, Mutex};

    let rt = builder(vec![submission("step", None, 5.0, 0.0)]).build()?;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (mut x, mut y) = (array(&rt)?, array(&rt)?);
    let (clock, of_callback) = (rt.clock().clone(), Arc::clone(&seen));
    let inside: &'static _ = Box::leak(Box::new(Mutex::new(array(&rt)?)));
    let callback = move |_: Option<&dahl_core::Failure>| {
        // It may not submit, and is told so: no time passes.
        let refused = step(&mut inside.lock().expect("nothing panics"), None);
        of_callback.lock().expect("nothing panics").push((clock.now_ns(), refused.is_err()));
    };
    super::kernels::step_then(&mut x, callback)?;
    step(&mut y, None)?;
    assert_eq!(*seen.lock().expect("nothing panics"), [(7_000, true)]);
    assert_eq!(rt.clock().now_ns(), 10_000);
    Ok(())
}

#[test]
fn a_machine_file_has_the_hosts_times() -> Result<()> {
    let machine =
        machine(vec![submission("step", Some("fill"), 4.0, 0.5), submission("step", None, 1.0, 0.0)]);
    let text = toml::to_string(&machine).expect("a machine is TOML");
    assert!(text.contains("[[cpu.submission]]"), "{text}");
    assert_eq!(Machine::from_toml(&text)?, machine);
    for (figures, expected) in [
        ("us = -1", "cpu: submission of `step`: us = -1: a time is 0 or more"),
        ("us_per_mb = inf", "cpu: submission of `step`: us_per_mb = inf: a time is 0 or more"),
    ] {
        let text = format!("[[cpu.submission]]\ncodelet = \"step\"\n{figures}");
        let error = Machine::from_toml(&text).expect_err(figures).to_string();
        assert!(error.contains(expected), "{error}");
    }
    Ok(())
}
