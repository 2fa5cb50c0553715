//! A run is traced, planned by `dahl plan schedule`, and run again by its plan, on simulated machines: it takes the nanoseconds
//! and the joules that the plan says.

use dahl::prelude::*;
use dahl::{Machine, Result, RuntimeBuilder, VirtualDevice};
use serde_json::Value;

use super::folder::Folder;

#[codelet(RW)]
fn potrf(c: &mut [f32]) {
    let _ = c;
}

#[codelet(R, RW)]
fn trsm(a: &[f32], c: &mut [f32]) {
    let _ = (a, c);
}

#[codelet(R, RW)]
fn syrk(a: &[f32], c: &mut [f32]) {
    let _ = (a, c);
}

#[codelet(R, R, RW)]
fn gemm(a: &[f32], b: &[f32], c: &mut [f32]) {
    let _ = (a, b, c);
}

/// The tasks of a Cholesky factorisation of so many tiles a side.
pub(super) fn cholesky(rt: &Runtime, count: usize) -> Result<()> {
    let row = |i| (0..=i).map(|_| rt.zeros([64])).collect::<Result<Vec<Vector<'_, f32>>>>();
    let mut tiles = (0..count).map(row).collect::<Result<Vec<_>>>()?;
    for k in 0..count {
        potrf(&mut tiles[k][k])?;
        for i in k + 1..count {
            let (above, below) = tiles.split_at_mut(i);
            trsm(&above[k][k], &mut below[0][k])?;
        }
        for i in k + 1..count {
            for j in k + 1..=i {
                let (above, below) = tiles.split_at_mut(i);
                let (left, right) = below[0].split_at_mut(j);
                if i == j {
                    syrk(&left[k], &mut right[0])?;
                } else {
                    gemm(&left[k], &above[j][k], &mut right[0])?;
                }
            }
        }
    }
    rt.wait()
}

/// CPUs, and with a link a device that is three times as fast.
pub(super) fn machine(link_gbytes_per_s: Option<f64>) -> Machine {
    let mut machine = Machine::default();
    for (name, us) in [("potrf", 11.0), ("trsm", 33.0), ("syrk", 35.0), ("gemm", 67.0)] {
        machine.cpu.speed.codelets.entry(name.to_owned()).or_default().us = Some(us);
    }
    (machine.cpu.watts, machine.cpu.idle_watts) = (Some(12.5), Some(2.0));
    if let Some(link) = link_gbytes_per_s {
        let mut device = VirtualDevice::new("gpu").speed(machine.cpu.speed.times(3.0)).link(1.0, link);
        (device.watts, device.idle_watts) = (Some(80.0), Some(9.0));
        machine.devices.push(device);
    }
    machine
}

/// Runs the program on a machine: nanoseconds and joules, and in which points a plan was not followed.
fn run(machine: &Machine, with: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder) -> (u64, f64, Vec<String>) {
    let builder = Runtime::builder().virtual_machine(machine.clone()).cpu_workers(2);
    let rt = with(builder).build().expect("a runtime");
    let (begin, mark) = (rt.clock().now_ns(), rt.energy_mark());
    cholesky(&rt, 4).expect("the tasks succeed");
    let nanoseconds = rt.clock().now_ns() - begin;
    let joules = rt.energy_since(&mark).value().expect("the machine has power");
    (nanoseconds, joules, rt.plan_divergences())
}

/// Runs take what their plans say, or up to `most` times as much.
fn plans_come_true(link: Option<f64>, most: f64) {
    let (folder, machine) = (Folder::new(), machine(link));
    let text = toml::to_string(&machine).expect("a machine is TOML");
    folder.write("cholesky.toml", &text);
    run(&machine, |builder| builder.scheduler("eager").trace(folder.path("cholesky.json")));
    let mut found = Vec::new();
    for objective in ["time", "energy"] {
        let words = format!(
            "plan schedule cholesky.json --machine cholesky.toml --cpus 2 --objective {objective} --steps 5000 --out best.plan --json"
        );
        let report: Value = serde_json::from_str(&folder.prints(&words)).expect("JSON");
        let plan = &report["plans"][0];
        assert_eq!(report["tasks"], 20);
        let (nanoseconds, joules, divergences) =
            run(&machine, |builder| builder.plan(folder.path("best.plan")));
        assert_eq!(divergences, [""; 0]);
        let planned_ns = plan["nanoseconds"].as_u64().expect("a number");
        let planned_joules = plan["joules"].as_f64().expect("a number");
        let (later, more) = (nanoseconds as f64 / planned_ns as f64, joules / planned_joules);
        println!("{objective}: {planned_ns} ns, {planned_joules} J; run: {later:.6}, {more:.6} of that");
        assert!((1.0..=most).contains(&later), "{objective}: {planned_ns} ns planned, {nanoseconds} ns");
        assert!(
            (1.0 - 1e-9..=most + 1e-9).contains(&more),
            "{objective}: {planned_joules} J planned, {joules} J"
        );
        found.push((nanoseconds, joules));
    }
    let [fastest, thriftiest] = found[..] else { unreachable!("two objectives") };
    assert!(fastest.0 <= thriftiest.0 && thriftiest.1 <= fastest.1, "{found:?}");
}

#[test]
fn on_equal_workers_plans_come_true() {
    plans_come_true(None, 1.0);
}

// A transfer begins when all that a task waits for is there, and to main memory when its worker takes it. In a plan it begins as
// soon as the array is written.
#[test]
fn with_a_device_plans_come_nearly_true() {
    plans_come_true(Some(1.0), 1.05);
}
