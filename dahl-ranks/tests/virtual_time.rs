//! Times on a simulated cluster.

use std::process::Command;

use dahl_core::ndarray::Axis;
use dahl_core::{Machine, Result, Runtime, VirtualDevice};

use crate::launch::nodes_of_two;
use crate::programs::kernels::{V, scale};

/// The argument that makes this process a program.
pub(crate) const AS_PROGRAM: &str = "as-program";

/// Prints the number of ranks, and the time of the last one.
pub(crate) fn program() {
    let ran = dahl_ranks::run(Runtime::builder, |rt| {
        let mut x: V = rt.zeros([1000])?;
        scale(&mut x, 1.0, Some(rt.ranks() - 1))?;
        x.read()?;
        Ok(rt.clock().now_ns())
    });
    match ran {
        Ok(times) => println!("{} ranks, virtual: {}", times.len(), times.iter().all(|&ns| ns < 100_000)),
        Err(failed) => println!("{failed}"),
    }
}

/// `DAHL_MACHINE` decides how many ranks a program has.
pub(crate) fn a_machine_file_runs_a_program() {
    let ran = |file: Option<&str>| {
        let mut command = Command::new(std::env::current_exe().expect("a program has a path"));
        command.arg(AS_PROGRAM).env_remove("DAHL_MACHINE").envs(file.map(|file| ("DAHL_MACHINE", file)));
        let output = command.output().expect("it starts");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(ran(None).starts_with("1 ranks"), "{}", ran(None));
    let path = std::env::temp_dir().join(format!("dahl-cluster-{}.toml", std::process::id()));
    let text = "cluster = { ranks = 64, level = [{ latency_us = 1.5, gbytes_per_s = 12.5 }] }";
    std::fs::write(&path, text).expect("a file can be written");
    let said = ran(path.to_str());
    std::fs::remove_file(&path).expect("it was written");
    assert_eq!(said, "64 ranks, virtual: true\n");
    assert!(ran(path.to_str()).contains("rank 0 failed"), "the file is gone");
}

/// The time of each rank when the program has done what `program` says, in nanoseconds.
fn times(machine: &Machine, program: impl Fn(&Runtime) -> Result<()> + Sync) -> Vec<u64> {
    let builder = || Runtime::builder().cpu_workers(2);
    let ran = dahl_ranks::cluster(machine, builder, |rt| {
        program(rt)?;
        rt.wait()?;
        Ok(rt.clock().now_ns())
    });
    ran.expect("no rank fails")
}

fn machine(ranks: usize) -> Machine {
    let mut machine = nodes_of_two(ranks);
    machine.cpu.speed.overhead_us = 10.0;
    machine.cpu.speed.gflops = 1e9;
    machine.cpu.speed.gbytes_per_s = 1e9;
    machine
}

/// A task of 10 us on each rank in turn, each of which needs the 40,000 bytes of the one before.
pub(crate) fn messages_take_their_time() {
    let length = 10_000;
    let program = |rt: &Runtime| {
        let mut x: V = rt.zeros([length])?;
        for rank in 0..4 {
            scale(&mut x, 1.0, Some(rank))?;
        }
        Ok(())
    };
    let ends = times(&machine(4), program);
    // 40 GB/s and 0.5 us within a node, 12.5 GB/s and 1.5 us between nodes.
    let (near, far) = (1_000 + 500, 3_200 + 1_500);
    assert_eq!(ends[3], 4 * 10_000 + 2 * near + far);
    assert!(ends.is_sorted(), "{ends:?}");
}

/// Two ranks of a node send to two of another: one after the other, through the port of the node.
pub(crate) fn ports_are_shared() {
    let length = 100_000;
    let send = |both: bool| {
        times(&machine(4), move |rt| {
            let mut arrays: Vec<V> = (0..2).map(|_| rt.zeros([length])).collect::<Result<_>>()?;
            for (rank, x) in arrays.iter_mut().enumerate().take(if both { 2 } else { 1 }) {
                scale(x, 1.0, Some(rank))?;
                scale(x, 2.0, Some(rank + 2))?;
            }
            Ok(())
        })
    };
    let message = 32_000;
    let one = send(false);
    assert_eq!(one[2], 10_000 + message + 1_500 + 10_000);
    let both = send(true);
    assert_eq!(both[2], one[2]);
    assert_eq!(both[3], one[2] + message, "the second message waits for the first");
}

/// Tasks on ranks by a pattern, which exchange what they need.
pub(crate) fn a_run_is_the_same_every_time() {
    let program = |rt: &Runtime| {
        let mut arrays: Vec<V> = (0..6).map(|i| rt.zeros([1000 * (i + 1)])).collect::<Result<_>>()?;
        for step in 0..60 {
            scale(&mut arrays[step * 7 % 6], 1.0, Some(step * step % 5))?;
        }
        arrays[3].read().map(drop)
    };
    let first = times(&machine(5), program);
    for _ in 0..5 {
        assert_eq!(times(&machine(5), program), first);
    }
}

pub(crate) fn impossible_clusters_are_refused() {
    let refused = |text: &str| Machine::from_toml(text).expect_err("it is impossible").to_string();
    let text = refused("cluster = { ranks = 0, level = [{ latency_us = 1, gbytes_per_s = 1 }] }");
    assert!(text.contains("at least one rank"), "{text}");
    let text = refused("cluster = { ranks = 8, level = [{ ranks = 4, latency_us = 1, gbytes_per_s = 1 }] }");
    assert!(text.contains("level 0: ranks = 4"), "{text}");
    let text = refused("cluster = { ranks = 8, level = [{ latency_us = 1, gbytes_per_s = 0 }] }");
    assert!(text.contains("gbytes_per_s = 0"), "{text}");
    // A rank needs a network in the time of its machine.
    let machine = nodes_of_two(2);
    let failed =
        dahl_ranks::threads(2, 0, || Runtime::builder().virtual_machine(machine.clone()), |_| Ok(()));
    let text = failed.expect_err("it is no network of a cluster").to_string();
    assert!(text.contains("simulated cluster"), "{text}");
}

/// What a rank sends last leaves when it has been computed, also if the rank's program then ends.
pub(crate) fn the_last_message_has_its_time() {
    let builder = || Runtime::builder().cpu_workers(1);
    let clocks = dahl_ranks::cluster(&machine(2), builder, |rt| {
        let mut x = rt.zeros::<f32, 2>([4, 4])?;
        rt.set_owner(&x, 0)?;
        let mut parts = x.partition_into_mut(Axis(1), 2)?;
        for _ in 0..10 {
            scale(&mut parts[0], 1.0, Some(0))?;
        }
        drop(parts);
        scale(&mut x, 1.0, Some(1))?;
        Ok(rt.clock())
    });
    let ends: Vec<u64> = clocks.expect("no rank fails").iter().map(|clock| clock.now_ns()).collect();
    assert!(ends[1] >= 100_000 + 500 + 10_000, "{ends:?}");
}

/// What a device has written is in main memory before it leaves.
pub(crate) fn devices_take_part() {
    let mut machine = nodes_of_two(2);
    machine.cpu.speed.overhead_us = 100.0;
    machine.devices.push(VirtualDevice::new("gpu").link(1000.0, 1e6));
    machine.devices[0].speed.overhead_us = 10.0;
    let builder = || Runtime::builder().cpu_workers(1).scheduler("eager");
    let ends = dahl_ranks::cluster(&machine, builder, |rt| {
        let (mut x, mut y): (V, V) = (rt.zeros([3])?, rt.zeros([3])?);
        // The CPU takes the first one, the device the second one.
        scale(&mut x, 1.0, Some(0))?;
        scale(&mut y, 1.0, Some(0))?;
        scale(&mut y, 1.0, Some(1))?;
        rt.wait()?;
        Ok(rt.clock().now_ns())
    });
    let ends = ends.expect("no rank fails");
    // To the device, the task, back, the message, and the task of rank 1.
    assert!(ends[1] >= 1_000_000 + 10_000 + 1_000_000 + 500 + 100_000, "{ends:?}");
}

pub(crate) fn failures_at_one_time_are_that_of_the_first_rank() {
    for _ in 0..10 {
        let failed = dahl_ranks::cluster(&machine(8), Runtime::builder, |rt| {
            if rt.rank() > 3 {
                std::panic::resume_unwind(Box::new("out of paper"));
            }
            let mut x: V = rt.zeros([3])?;
            scale(&mut x, 1.0, Some(7))?;
            x.read().map(drop)
        });
        let failed = failed.expect_err("ranks fail");
        assert_eq!((failed.rank, &failed.cause[..]), (4, "out of paper"));
    }
    let builder = || -> dahl_core::RuntimeBuilder { std::panic::resume_unwind(Box::new("no settings")) };
    let failed = dahl_ranks::cluster(&machine(3), builder, |_| Ok(())).expect_err("there is no runtime");
    assert_eq!((failed.rank, &failed.cause[..]), (0, "no settings"));
}
