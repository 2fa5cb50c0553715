//! The statistics of a run: exact in virtual time; in real time, the counts are exact.

mod energy;
mod kernels;
mod printed;

use std::thread;

use dahl_core::energy::Meters;
use dahl_core::{
    CodeletSpeed, Cpu, Machine, Result, Runtime, RuntimeBuilder, Speed, Statistics, VirtualDevice,
};
use kernels::{V, fill, step};

/// Elements of an array of 1,000 bytes.
const LEN: usize = 125;

/// `step` and `fill` take this many microseconds.
fn each_takes(us: f64) -> Speed {
    let speed = || CodeletSpeed { us: Some(us), ..CodeletSpeed::default() };
    Speed { codelets: ["step", "fill"].map(|name| (name.to_owned(), speed())).into(), ..Speed::default() }
}

/// CPU workers that take 4 us for each task and a device that takes 2 us, 10 us and 1 GB/s away.
fn machine(cpu_workers: usize) -> RuntimeBuilder {
    let cpu = Cpu { speed: each_takes(4.0), watts: Some(10.0), idle_watts: Some(1.0), ..Cpu::default() };
    let device = VirtualDevice::new("gpu").speed(each_takes(2.0)).link(10.0, 1.0).power(200.0, 50.0);
    let machine = Machine { cpu, devices: vec![device], ..Machine::default() };
    Runtime::builder().cpu_workers(cpu_workers).virtual_machine(machine).check(false)
}

/// A real runtime, on a machine without meters.
fn real(workers: usize) -> RuntimeBuilder {
    Runtime::builder().cpu_workers(workers).check(false).energy_meters(Meters::new(Vec::new()))
}

/// Checks that figures which are given in two ways agree.
#[track_caller]
fn adds_up(statistics: &Statistics) {
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0);
    let Statistics { tasks, workers, host, codelets, time_us, .. } = statistics;
    for worker in workers {
        assert!(close(worker.busy_us + worker.idle_us, *time_us), "{worker:?} in {time_us} us");
        assert!(close(worker.busy_share * time_us, worker.busy_us), "{worker:?}");
        if let Some(waiting_us) = worker.waiting_us {
            let overhead_us = worker.overhead_us.expect("both or none");
            assert!(close(waiting_us + overhead_us, worker.idle_us), "{worker:?}");
        }
    }
    let ended: u64 = workers.iter().map(|worker| worker.tasks).sum();
    let ended = ended + host.as_ref().map_or(0, |host| host.tasks);
    assert_eq!(tasks.submitted, tasks.completed + tasks.failed + tasks.cancelled + tasks.unfinished);
    assert_eq!(ended, tasks.completed + tasks.failed + tasks.cancelled);
    assert_eq!(ended, codelets.iter().map(|codelet| codelet.count).sum::<u64>());
    let failed: u64 = workers.iter().map(|worker| worker.failed).sum();
    assert_eq!(tasks.failed, failed + host.as_ref().map_or(0, |host| host.failed));
    assert_eq!(tasks.failed, codelets.iter().map(|codelet| codelet.failed).sum::<u64>());
    let busy_us: f64 = workers.iter().map(|worker| worker.busy_us).sum();
    let busy_us = busy_us + host.as_ref().map_or(0.0, |host| host.busy_us);
    let total_us: f64 = codelets.iter().map(|codelet| codelet.total_us).sum();
    assert!(close(busy_us, total_us), "{busy_us} us of workers, {total_us} us of codelets");
    if total_us > 0.0 {
        assert!(close(codelets.iter().map(|codelet| codelet.busy_share).sum(), 1.0), "{codelets:?}");
    }
}

#[test]
fn virtual_time_is_exact() -> Result<()> {
    let rt = machine(2).name("a test").build()?;
    let (mut x, mut y) = (rt.from_vec([LEN], vec![1; LEN])?, rt.zeros([LEN])?);
    fill(&mut y, 1, 0)?; // worker 0, until 4 us
    step(&mut x, 2)?; // there at 11 us, on the device until 13
    step(&mut x, 2)?; // until 15
    step(&mut x, 1)?; // back at 26, worker 1 until 30
    step(&mut y, 0)?; // until 8
    rt.wait()?;
    let statistics = rt.statistics();
    adds_up(&statistics);
    assert_eq!((statistics.name.as_str(), statistics.is_virtual), ("a test", true));
    assert!(statistics.built_at.contains("tests/statistics/mod.rs:"), "{}", statistics.built_at);
    assert_eq!(statistics.time_us, 30.0);
    let workers: Vec<_> =
        statistics.workers.iter().map(|w| (w.name.as_str(), w.tasks, w.busy_us, w.idle_us)).collect();
    assert_eq!(workers, [("cpu 0", 2, 8.0, 22.0), ("cpu 1", 1, 4.0, 26.0), ("gpu", 2, 4.0, 26.0)]);
    // 10 W busy and 1 W idle; 200 W and 50 W.
    let joules: Vec<_> = statistics.workers.iter().map(|w| w.energy_joules.expect("it is known")).collect();
    assert_eq!(joules, [102e-6, 66e-6, 2100e-6]);
    assert_eq!(statistics.energy_joules, Some(102e-6 + 66e-6 + 2100e-6));
    let codelets: Vec<_> =
        statistics.codelets.iter().map(|c| (c.codelet, c.count, c.total_us, c.busy_share)).collect();
    assert_eq!(codelets, [("step", 4, 12.0, 0.75), ("fill", 1, 4.0, 0.25)]);
    let of_step = &statistics.codelets[0];
    assert_eq!(of_step.elements, ["i64"]);
    let kernels: Vec<_> =
        of_step.kernels.iter().map(|k| (k.worker_kind.as_str(), k.count, k.mean_us)).collect();
    assert_eq!(kernels, [("cpu", 2, 4.0), ("gpu", 2, 2.0)]);
    let on_gpu = &of_step.kernels[1];
    assert_eq!((on_gpu.median_us, on_gpu.min_us, on_gpu.max_us), (Some(2.0), 2.0, 2.0));
    assert_eq!((on_gpu.first_calls, on_gpu.first_us), (0, None), "first calls are like all others");
    let transfers: Vec<_> = statistics
        .transfers
        .iter()
        .map(|t| (t.from_name.as_str(), t.to_name.as_str(), t.count, t.bytes, t.time_us))
        .collect();
    assert_eq!(transfers, [("host", "gpu", 1, 1000, 11.0), ("gpu", "host", 1, 1000, 11.0)]);
    assert_eq!(statistics.transfers[0].gbytes_per_s, 1000.0 / 11_000.0);
    assert_eq!(statistics.workers.iter().filter_map(|worker| worker.waiting_us).count(), 0);
    Ok(())
}

#[test]
fn transfers_between_devices_take_both_links() -> Result<()> {
    let other = VirtualDevice::new("gpu").speed(each_takes(1.0)).link(10.0, 2.0);
    let rt = machine(1).virtual_device(other).build()?;
    let mut x = rt.zeros([LEN])?;
    fill(&mut x, 1, 1)?; // on the first device
    step(&mut x, 2)?; // to the host and to the second: 11 us and 10.5 us
    rt.wait()?;
    let statistics = rt.statistics();
    let transfers: Vec<_> = statistics
        .transfers
        .iter()
        .map(|t| (t.from, t.to, t.from_name.as_str(), t.to_name.as_str(), t.count, t.time_us))
        .collect();
    assert_eq!(transfers, [(1, 2, "gpu (1)", "gpu (2)", 1, 21.5)]);
    adds_up(&statistics);
    Ok(())
}

#[test]
fn failed_and_cancelled_tasks_are_counted_in_virtual_time() -> Result<()> {
    let rt = machine(1).build()?;
    let (mut x, mut y) = (rt.zeros([LEN])?, rt.zeros([LEN])?);
    fill(&mut x, 13, 0)?;
    step(&mut x, 0)?;
    step(&mut x, 0)?;
    step(&mut y, 0)?;
    step(&mut y, 0)?;
    assert!(rt.wait().is_err());
    let statistics = rt.statistics();
    adds_up(&statistics);
    let tasks = &statistics.tasks;
    assert_eq!((tasks.submitted, tasks.completed, tasks.failed, tasks.cancelled), (5, 2, 1, 2));
    assert_eq!((statistics.time_us, statistics.workers[0].busy_us), (12.0, 12.0));
    assert_eq!(tasks.unfinished, 0);
    let codelets: Vec<_> =
        statistics.codelets.iter().map(|c| (c.codelet, c.count, c.failed, c.cancelled, c.total_us)).collect();
    assert_eq!(codelets, [("step", 4, 0, 2, 8.0), ("fill", 1, 1, 0, 4.0)], "what was cancelled took no time");
    assert_eq!(statistics.workers[0].cancelled, 2);
    Ok(())
}

#[test]
fn counts_are_exact_in_real_time() -> Result<()> {
    for workers in [1, 3] {
        for measures in [false, true] {
            let file = tempfile::NamedTempFile::with_suffix(".json").expect("a file");
            let builder = real(workers);
            let rt = match measures {
                true => builder.statistics_file(file.path()).build()?,
                false => builder.statistics(false).build()?,
            };
            let mut arrays: Vec<_> = (0..4).map(|_| rt.zeros([LEN])).collect::<Result<_>>()?;
            for round in 0..50 {
                for (index, x) in arrays.iter_mut().enumerate() {
                    if round == 40 && index == 3 { fill(x, 13, None)? } else { step(x, None)? }
                }
            }
            assert!(rt.wait().is_err());
            let statistics = rt.statistics();
            adds_up(&statistics);
            let tasks = &statistics.tasks;
            assert_eq!((tasks.submitted, tasks.completed, tasks.failed, tasks.cancelled), (200, 190, 1, 9));
            assert_eq!((statistics.is_virtual, statistics.workers.len()), (false, workers));
            assert!(statistics.workers.iter().all(|worker| worker.waiting_us.is_some() == measures));
            let of_step = statistics.codelets.iter().find(|codelet| codelet.codelet == "step");
            let of_step = of_step.expect("it ran");
            let kernel = &of_step.kernels[0];
            assert_eq!((of_step.count, of_step.cancelled, kernel.count, kernel.footprints), (199, 9, 190, 1));
            let median_us = kernel.median_us.expect("there is one footprint");
            assert!(kernel.min_us <= median_us && median_us <= kernel.max_us, "{kernel:?}");
            // Each thread that ran the codelet called it once for the first time.
            let runners = statistics.workers.iter().filter(|worker| worker.first_calls > 0).count() as u64;
            assert_eq!(kernel.first_calls, runners + u64::from(statistics.host.is_some()));
            assert!(statistics.transfers.is_empty() && statistics.energy_joules.is_none());
        }
    }
    Ok(())
}

#[test]
fn several_footprints_have_no_median_in_common() -> Result<()> {
    let rt = machine(1).build()?;
    let (mut x, mut y) = (rt.zeros([LEN])?, rt.zeros([2 * LEN])?);
    step(&mut x, 0)?;
    step(&mut y, 0)?;
    rt.wait()?;
    let statistics = rt.statistics();
    let kernel = &statistics.codelets[0].kernels[0];
    assert_eq!((kernel.count, kernel.footprints, kernel.median_us), (2, 2, None));
    Ok(())
}

#[test]
fn what_earlier_runs_measured_does_not_count() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    for _ in 0..2 {
        let rt = machine(1).performance_dir(folder.path()).build()?;
        let mut x = rt.zeros([LEN])?;
        step(&mut x, 0)?;
        rt.wait()?;
        let statistics = rt.statistics();
        assert_eq!((statistics.codelets[0].count, statistics.codelets[0].total_us), (1, 4.0));
    }
    Ok(())
}

#[test]
fn no_tasks_make_statistics_too() -> Result<()> {
    for rt in [machine(1).build()?, real(2).build()?] {
        let statistics = rt.statistics();
        adds_up(&statistics);
        assert_eq!(statistics.tasks.submitted, 0);
        assert!(statistics.codelets.is_empty() && statistics.transfers.is_empty());
        assert!(statistics.to_string().contains("no task has run"), "{statistics}");
    }
    let rt = machine(1).build()?;
    assert_eq!(rt.statistics().time_us, 0.0);
    assert_eq!(rt.statistics().workers[0].busy_share, 0.0);
    Ok(())
}

#[test]
fn memory_has_peaks_of_nodes_and_of_arenas_that_are_gone() -> Result<()> {
    let rt = machine(1).memory_limit_mb(64).build()?;
    let here = line!() + 2;
    for len in [LEN, 4 * LEN, 2 * LEN] {
        let arena = rt.arena();
        let mut x: V<'_> = arena.zeros([len])?;
        step(&mut x, 1)?;
        rt.wait()?;
    }
    let kept = rt.arena_with_capacity(1 << 16)?;
    let _x: V<'_> = kept.zeros([LEN])?;
    let statistics = rt.statistics();
    let [gone, there] = &statistics.arenas[..] else { panic!("two lines: {:?}", statistics.arenas) };
    assert!(gone.made_at.contains(&format!("mod.rs:{here}:")), "{gone:?} is of line {here}");
    assert_eq!((gone.count, gone.current_bytes, gone.reserved_bytes), (3, 0, 0));
    assert_eq!(gone.peak_bytes, 4032, "the largest of them, in whole lines of 64 bytes");
    assert_eq!((there.count, there.current_bytes), (1, 1024));
    assert_eq!((there.reserved_bytes, there.peak_bytes), (1 << 16, 1 << 16));
    let [host, gpu] = &statistics.memory[..] else { panic!("two nodes: {:?}", statistics.memory) };
    assert_eq!((host.name.as_str(), host.limit_bytes), ("host", Some(64 << 20)));
    assert_eq!((host.current_bytes, host.reserved_bytes, host.peak_bytes), (1024, 1 << 16, 1 << 16));
    assert_eq!((gpu.name.as_str(), gpu.peak_bytes, gpu.limit_bytes), ("gpu", 4032, None));
    Ok(())
}

#[test]
fn threads_may_ask_while_tasks_run() -> Result<()> {
    let rt = real(2).build()?;
    thread::scope(|scope| {
        let askers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut last = rt.statistics();
                    while last.tasks.completed < 2000 {
                        let next = rt.statistics();
                        let (before, now) = (last.tasks, next.tasks);
                        assert!(before.submitted <= now.submitted && before.completed <= now.completed);
                        assert_eq!(now.submitted, now.completed + now.unfinished);
                        assert!(last.time_us <= next.time_us);
                        last = next;
                        thread::yield_now();
                    }
                })
            })
            .collect();
        let mut x = rt.zeros([LEN])?;
        (0..2000).try_for_each(|_| step(&mut x, None))?;
        rt.wait()?;
        askers.into_iter().for_each(|asker| asker.join().expect("no assertion fails"));
        adds_up(&rt.statistics());
        Ok(())
    })
}

#[test]
fn the_host_has_a_row_when_it_runs_tasks() -> Result<()> {
    // With few tasks in flight the submitting thread must help, unless the worker is always faster.
    let rt = real(1).tasks_in_flight(2).build()?;
    let mut x = rt.zeros([100 * LEN])?;
    for _ in 0..20_000 {
        step(&mut x, None)?;
    }
    rt.wait()?;
    let statistics = rt.statistics();
    adds_up(&statistics);
    assert_eq!(statistics.tasks.completed, 20_000);
    let host = statistics.host.as_ref().map_or(0, |host| host.tasks);
    assert_eq!(host, 20_000 - statistics.workers[0].tasks);
    assert_eq!(statistics.to_string().contains("the host"), host > 0);
    Ok(())
}
