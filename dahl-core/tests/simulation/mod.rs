//! Virtual time, asserted to the nanosecond.
//!
//! In most tests an array has 1,000 bytes, a link takes 10 us and a nanosecond for each byte, and the test sets the
//! duration of `step`.

mod calibrated;
mod host;
mod kernel_memory;
mod kernels;
mod machine;

use std::sync::{Arc, Mutex};

use dahl_core::observer::{Observer, Submission};
use dahl_core::{
    CodeletSpeed, Cpu, Machine, Result, Runtime, RuntimeBuilder, Speed, Transfer, VirtualDevice,
};
use kernels::{V, fill, join, step};

/// Elements of an array of 1,000 bytes.
const LEN: usize = 125;

/// Every codelet takes so many microseconds.
fn each_takes(us: f64) -> Speed {
    let speed = || CodeletSpeed { us: Some(us), ..CodeletSpeed::default() };
    let codelets = ["step", "join", "fill"].map(|name| (name.to_owned(), speed()));
    Speed { codelets: codelets.into(), ..Speed::default() }
}

/// A device on which every codelet takes so many microseconds, 10 us and 1 GB/s away.
fn device(name: &str, us: f64) -> VirtualDevice {
    VirtualDevice::new(name).speed(each_takes(us)).link(10.0, 1.0)
}

/// CPU workers for which every codelet takes so many microseconds.
fn cpu(workers: usize, us: f64) -> RuntimeBuilder {
    let cpu = Cpu { speed: each_takes(us), ..Cpu::default() };
    Runtime::builder().cpu_workers(workers).virtual_machine(Machine { cpu, ..Machine::default() })
}

fn now_us(rt: &Runtime) -> f64 {
    rt.clock().now_ns() as f64 / 1e3
}

/// The transfers over links: from, to, begin and end in microseconds.
#[derive(Default)]
struct Log(Mutex<Vec<(usize, usize, f64, f64)>>);

impl Log {
    fn take(&self) -> Vec<(usize, usize, f64, f64)> {
        std::mem::take(&mut self.0.lock().expect("nothing panics"))
    }
}

impl Observer for Log {
    fn submitted(&self, _: &Submission<'_>) {}

    fn transferred(&self, transfer: &Transfer, begin_ns: u64, end_ns: u64) {
        let times = (begin_ns as f64 / 1e3, end_ns as f64 / 1e3);
        self.0.lock().expect("nothing panics").push((transfer.from, transfer.to, times.0, times.1));
    }
}

fn array(rt: &Runtime) -> Result<V<'static>> {
    rt.zeros([LEN])
}

/// The duration of one call on a CPU worker of this speed.
fn duration_ns(speed: Speed, call: impl Fn(&mut V<'_>, &mut V<'_>) -> Result<()>) -> Result<u64> {
    let machine = Machine { cpu: Cpu { speed, ..Cpu::default() }, ..Machine::default() };
    let rt = Runtime::builder().cpu_workers(1).virtual_machine(machine).build()?;
    let (mut x, mut y) = (array(&rt)?, array(&rt)?);
    call(&mut x, &mut y)?;
    assert_eq!(rt.clock().now_ns(), 0, "submitting takes no time");
    rt.wait()?;
    Ok(rt.clock().now_ns())
}

#[test]
fn durations_follow_the_model() -> Result<()> {
    let speed = Speed { gflops: 0.5, gbytes_per_s: 4.0, overhead_us: 3.0, ..Speed::default() };
    // 1,000 bytes at 4 a nanosecond.
    assert_eq!(duration_ns(speed.clone(), |x, _| step(x, None))?, 3_250);
    // 1,000 operations at a half a nanosecond, which is more than 2,000 bytes take.
    assert_eq!(duration_ns(speed.clone(), |x, y| join(x, y, None))?, 5_000);
    // 2,000 bytes take more than 1,000 operations.
    let few_flops = Speed { gflops: 100.0, ..speed.clone() };
    assert_eq!(duration_ns(few_flops, |x, y| join(x, y, None))?, 3_500);
    assert_eq!(duration_ns(speed.times(5.0), |x, y| join(x, y, None))?, 1_000);

    let own = |own: CodeletSpeed| {
        let mut speed = speed.clone();
        speed.codelets.insert("join".to_owned(), own);
        speed
    };
    let quick = own(CodeletSpeed { gflops: Some(2.0), ..CodeletSpeed::default() });
    assert_eq!(duration_ns(quick.clone(), |x, y| join(x, y, None))?, 3_500);
    assert_eq!(duration_ns(quick.clone(), |x, _| step(x, None))?, 3_250, "another codelet's");
    let both = own(CodeletSpeed { gflops: Some(2.0), gbytes_per_s: Some(0.1), ..CodeletSpeed::default() });
    assert_eq!(duration_ns(both, |x, y| join(x, y, None))?, 23_000);
    let fixed = own(CodeletSpeed { us: Some(0.125), ..CodeletSpeed::default() });
    assert_eq!(duration_ns(fixed.clone(), |x, y| join(x, y, None))?, 125);
    assert_eq!(duration_ns(fixed.times(2.5), |x, y| join(x, y, None))?, 50);
    Ok(())
}

#[test]
fn independent_tasks_run_side_by_side_and_dependent_ones_do_not() -> Result<()> {
    for scheduler in ["eager", "ws"] {
        let rt = cpu(2, 2.0).scheduler(scheduler).build()?;
        let mut arrays = [array(&rt)?, array(&rt)?, array(&rt)?];
        arrays.iter_mut().try_for_each(|x| step(x, None))?;
        rt.wait()?;
        assert_eq!(now_us(&rt), 4.0);
        let [x, y, z] = &mut arrays;
        for _ in 0..3 {
            step(x, None)?;
        }
        rt.wait()?;
        assert_eq!(now_us(&rt), 10.0);
        // Both run after `z`, at the same time.
        step(z, None)?;
        join(z, x, None)?;
        join(z, y, None)?;
        rt.wait()?;
        assert_eq!(now_us(&rt), 14.0);
        assert_eq!((x.to_vec()?, y.to_vec()?), (vec![48; LEN], vec![6; LEN]));
    }
    Ok(())
}

#[test]
fn a_device_five_times_faster_waits_for_its_link() -> Result<()> {
    let rt = cpu(1, 5.0).virtual_device(device("gpu", 1.0)).build()?;
    let mut x = array(&rt)?;
    step(&mut x, 1)?;
    rt.wait()?;
    assert_eq!(now_us(&rt), 11.0 + 1.0);
    step(&mut x, 1)?;
    rt.wait()?;
    assert_eq!(now_us(&rt), 13.0, "the elements are there");
    assert_eq!(x.to_vec()?, [3; LEN]);
    assert_eq!(now_us(&rt), 13.0 + 11.0, "the host waits for the elements");
    assert_eq!(x.read()?.to_vec(), [3; LEN]);
    assert_eq!(now_us(&rt), 24.0, "they are at home now");
    step(&mut x, 0)?;
    rt.wait()?;
    assert_eq!(now_us(&rt), 24.0 + 5.0);
    assert_eq!(x.to_vec()?, [7; LEN]);
    Ok(())
}

#[test]
fn a_device_takes_what_its_link_brings() -> Result<()> {
    let rt = cpu(1, 5.0).virtual_device(device("gpu", 1.0)).scheduler("eager").build()?;
    let mut arrays: Vec<_> = (0..60).map(|_| array(&rt)).collect::<Result<_>>()?;
    arrays.iter_mut().try_for_each(|x| step(x, None))?;
    rt.wait()?;
    // Task k of the device ends at 11 k + 1, since its link is always busy, and its task k + 2 is taken then. At 199
    // us, when the CPU has taken 40 of them, the device prefetches for the last one: it is its 20th.
    assert_eq!(now_us(&rt), 221.0);
    let tasks: Vec<_> = rt.worker_uses().iter().map(|worker| worker.tasks).collect();
    assert_eq!(tasks, [40, 20]);
    Ok(())
}

#[test]
fn a_transfer_overlaps_the_task_before_it() -> Result<()> {
    let log = Arc::new(Log::default());
    let rt = cpu(1, 1.0).virtual_device(device("gpu", 20.0)).observer(log.clone()).build()?;
    let mut arrays = [array(&rt)?, array(&rt)?, array(&rt)?];
    arrays.iter_mut().try_for_each(|x| step(x, 1))?;
    rt.wait()?;
    // Two are prefetched, one after the other on the link; the third when a task has ended.
    assert_eq!(log.take(), [(0, 1, 0.0, 11.0), (0, 1, 11.0, 22.0), (0, 1, 31.0, 42.0)]);
    assert_eq!(now_us(&rt), 11.0 + 3.0 * 20.0);
    Ok(())
}

#[test]
fn a_link_is_serial_each_way_and_two_ways_at_once() -> Result<()> {
    let log = Arc::new(Log::default());
    let rt = cpu(2, 1.0).virtual_device(device("gpu", 20.0)).observer(log.clone()).build()?;
    let (mut x, mut y) = (array(&rt)?, array(&rt)?);
    let (mut a, mut b) = (array(&rt)?, array(&rt)?);
    fill(&mut x, 1, 1 + 1)?; // the device is worker 2
    fill(&mut y, 2, 2)?;
    step(&mut a, 2)?;
    join(&x, &mut b, 0)?;
    join(&y, &mut b, 1)?;
    rt.wait()?;
    // At 20 us `x` goes out while `a` comes in.
    assert_eq!(log.take(), [(1, 0, 20.0, 31.0), (0, 1, 20.0, 31.0), (1, 0, 40.0, 51.0)]);
    assert_eq!(now_us(&rt), 60.0);

    // Two transfers in one direction run one after the other.
    fill(&mut x, 1, 2)?;
    join(&x, &mut y, 2)?;
    rt.wait()?;
    let begin_us = now_us(&rt);
    assert_eq!(begin_us, 100.0);
    join(&x, &mut a, 0)?;
    join(&y, &mut b, 1)?;
    rt.wait()?;
    // Also `a`, which the first task needs.
    assert_eq!(log.take(), [(1, 0, 100.0, 111.0), (1, 0, 111.0, 122.0), (1, 0, 122.0, 133.0)]);
    assert_eq!(now_us(&rt), 134.0);
    Ok(())
}

#[test]
fn elements_go_from_device_to_device_over_both_links() -> Result<()> {
    let log = Arc::new(Log::default());
    let far = device("far", 4.0).link(100.0, 0.5);
    let rt =
        cpu(1, 1.0).virtual_device(device("near", 2.0)).virtual_device(far).observer(log.clone()).build()?;
    let mut x = array(&rt)?;
    fill(&mut x, 1, 1)?;
    step(&mut x, 2)?;
    rt.wait()?;
    // 11 us out of the one, 102 us into the other.
    assert_eq!(log.take(), [(1, 2, 2.0, 115.0)]);
    assert_eq!(now_us(&rt), 119.0);
    assert_eq!(x.to_vec()?, [3; LEN]);
    assert_eq!(log.take(), [(2, 0, 119.0, 221.0)]);
    assert_eq!(now_us(&rt), 221.0);
    let totals: Vec<_> =
        rt.transfers().iter().map(|total| (total.from, total.to, total.count, total.bytes)).collect();
    assert_eq!(totals, [(1, 2, 1, 1000), (2, 0, 1, 1000)]);
    Ok(())
}

#[test]
fn a_host_read_waits_for_its_own_elements_alone() -> Result<()> {
    let rt = cpu(1, 1.0).virtual_device(device("gpu", 50.0)).build()?;
    let (mut x, mut y, z) = (array(&rt)?, array(&rt)?, array(&rt)?);
    let (mut v, mut w) = (array(&rt)?, array(&rt)?);
    fill(&mut x, 1, 1)?;
    step(&mut y, 1)?; // comes in from 0 us to 11 us, runs from 50 us to 100 us
    assert_eq!(x.to_vec()?, [1; LEN]);
    assert_eq!(now_us(&rt), 50.0 + 11.0, "the task on `y` runs still");
    join(&z, &mut w, 1)?;
    fill(&mut v, 1, 0)?;
    assert_eq!(v.to_vec()?, [1; LEN]);
    assert_eq!(now_us(&rt), 62.0);
    assert_eq!(z.to_vec()?, [0; LEN]);
    assert_eq!(now_us(&rt), 62.0, "`z` is at home, though it is on its way to the device as well");
    rt.wait()?;
    assert_eq!(now_us(&rt), 100.0 + 50.0);
    Ok(())
}

#[test]
fn a_host_write_waits_and_moves_the_clock() -> Result<()> {
    let rt = cpu(1, 1.0).virtual_device(device("gpu", 5.0)).build()?;
    let mut x = array(&rt)?;
    step(&mut x, 1)?;
    x.write()?.iter_mut().for_each(|x| *x += 10);
    assert_eq!(now_us(&rt), 11.0 + 5.0 + 11.0);
    step(&mut x, 1)?;
    rt.wait()?;
    assert_eq!(now_us(&rt), 27.0 + 11.0 + 5.0, "the copy on the device was not valid any more");
    assert_eq!(x.to_vec()?, [23; LEN]);
    Ok(())
}

#[test]
fn workers_report_tasks_time_and_energy() -> Result<()> {
    let cpu = Cpu { speed: each_takes(4.0), watts: Some(10.0), idle_watts: Some(1.0), ..Cpu::default() };
    let devices = vec![device("gpu", 2.0).power(200.0, 50.0), device("unknown", 1.0)];
    let machine = Machine { cpu, devices, ..Machine::default() };
    let rt = Runtime::builder().cpu_workers(2).virtual_machine(machine).build()?;
    assert!(rt.clock().is_virtual());
    let mut arrays = [array(&rt)?, array(&rt)?];
    let [x, y] = &mut arrays;
    fill(x, 1, 0)?;
    fill(y, 1, 2)?;
    step(y, 2)?;
    step(y, 2)?;
    rt.wait()?;
    assert_eq!(now_us(&rt), 6.0);
    let uses = rt.worker_uses();
    let row = |use_: &dahl_core::WorkerUse| (use_.name.clone(), use_.tasks, use_.busy_us, use_.energy_joules);
    let rows: Vec<_> = uses.iter().map(row).collect();
    assert_eq!(rows[0], ("cpu 0".to_owned(), 1, 4.0, Some((10.0 * 4_000.0 + 2_000.0) / 1e9)));
    assert_eq!(rows[1], ("cpu 1".to_owned(), 0, 0.0, Some(6_000.0 / 1e9)));
    assert_eq!(rows[2], ("gpu".to_owned(), 3, 6.0, Some(200.0 * 6_000.0 / 1e9)));
    assert_eq!(rows[3], ("unknown".to_owned(), 0, 0.0, None), "what is not known is not made up");
    Ok(())
}

/// The transfers, values, and the time of a graph with many possible schedules.
type Run = (Vec<(usize, usize, f64, f64)>, Vec<Vec<i64>>, u64);

fn tangle(scheduler: &str) -> Result<Run> {
    let log = Arc::new(Log::default());
    let builder =
        cpu(2, 7.0).virtual_device(device("gpu", 1.0)).virtual_device(device("small", 3.0).memory_mb(0.004));
    let rt = builder.scheduler(scheduler).observer(log.clone()).build()?;
    let mut arrays: Vec<_> = (0..6).map(|_| array(&rt)).collect::<Result<_>>()?;
    for round in 0..40_usize {
        let places = [round % 6, (round + 1 + round / 6 % 5) % 6];
        let [x, y] = arrays.get_disjoint_mut(places).expect("two arrays");
        match round % 3 {
            0 => step(x, None)?,
            1 => join(x, y, None)?,
            _ => join(y, x, None)?,
        }
    }
    let values = arrays.iter().map(|x| x.to_vec()).collect::<Result<_>>()?;
    Ok((log.take(), values, rt.clock().now_ns()))
}

#[test]
fn the_same_program_takes_the_same_time_every_time() -> Result<()> {
    for scheduler in ["eager", "ws"] {
        let first = tangle(scheduler)?;
        assert!(!first.0.is_empty());
        for _ in 0..10 {
            assert_eq!(tangle(scheduler)?, first);
        }
        assert_eq!(first.1, tangle("eager")?.1, "values do not depend on the order of events");
    }
    Ok(())
}

#[test]
fn several_threads_wait_at_once() -> Result<()> {
    let rt = cpu(2, 1.0).virtual_device(device("gpu", 1.0)).build()?;
    std::thread::scope(|scope| {
        let chain = |worker| {
            let rt = &rt;
            move || -> Result<()> {
                let mut x = array(rt)?;
                for round in 0..100 {
                    step(&mut x, worker)?;
                    if round % 10 == 0 {
                        x.read()?;
                        rt.wait()?;
                    }
                }
                let powers = (0..100).fold(0_i64, |x, _| x.wrapping_mul(2).wrapping_add(1));
                assert_eq!(x.to_vec()?, [powers; LEN]);
                Ok(())
            }
        };
        let threads: Vec<_> =
            [Some(0), Some(1), Some(2), None].map(|worker| scope.spawn(chain(worker))).into();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no thread panics"))
    })?;
    let tasks: u64 = rt.worker_uses().iter().map(|worker| worker.tasks).sum();
    assert_eq!(tasks, 400);
    Ok(())
}

#[test]
fn a_runtime_that_is_dropped_early_ends_what_was_submitted() -> Result<()> {
    let rt = cpu(1, 1.0).virtual_device(device("gpu", 1.0)).build()?;
    let clock = rt.clock();
    let (mut x, mut y) = (array(&rt)?, array(&rt)?);
    step(&mut x, 1)?;
    join(&x, &mut y, 0)?;
    drop(rt);
    assert_eq!(clock.now_ns(), 12_000 + 11_000 + 1_000);
    assert_eq!(y.to_vec()?, [1; LEN]);
    assert!(step(&mut x, 1).is_err(), "nothing new can be submitted");
    assert_eq!(x.to_vec()?, [1; LEN]);
    Ok(())
}

#[test]
fn a_kernel_that_panics_fails_alone() -> Result<()> {
    let rt = cpu(1, 1.0).virtual_device(device("gpu", 3.0)).build()?;
    let (mut x, mut y) = (array(&rt)?, array(&rt)?);
    fill(&mut x, 13, 1)?;
    fill(&mut y, 1, 1)?;
    assert_eq!(y.to_vec()?, [1; LEN]);
    assert_eq!(now_us(&rt), 6.0 + 11.0);
    let error = x.to_vec().expect_err("it was not filled").to_string();
    assert!(error.contains("fill") && error.contains("gpu") && error.contains("unlucky"), "{error}");
    fill(&mut x, 2, 1)?;
    step(&mut x, 0)?;
    assert_eq!(x.to_vec()?, [5; LEN]);
    Ok(())
}

#[test]
fn a_task_that_is_told_to_fail_fails_alone() -> Result<()> {
    let rt = cpu(1, 1.0).virtual_device(device("gpu", 3.0).fails_at(2)).build()?;
    let mut arrays = [array(&rt)?, array(&rt)?, array(&rt)?];
    arrays.iter_mut().try_for_each(|x| step(x, 1))?;
    let values = arrays.each_ref().map(|x| x.to_vec().map_err(|error| error.to_string()));
    assert_eq!((values[0].as_ref(), values[2].as_ref()), (Ok(&vec![1; LEN]), Ok(&vec![1; LEN])));
    let error = values[1].as_ref().expect_err("the second task");
    assert!(error.contains("step") && error.contains("`gpu` failed") && error.contains("mod.rs"), "{error}");
    Ok(())
}

#[test]
fn cancelled_tasks_take_no_time_and_failed_ones_do() -> Result<()> {
    let rt = cpu(1, 1.0).virtual_device(device("gpu", 3.0).fails_at(2)).build()?;
    let (mut x, mut y) = (array(&rt)?, array(&rt)?);
    (0..100).try_for_each(|_| step(&mut x, 1))?; // the elements are there at 11 us
    assert!(rt.wait().is_err());
    assert_eq!(now_us(&rt), 11.0 + 2.0 * 3.0);
    let gpu = &rt.worker_uses()[1];
    assert_eq!((gpu.tasks, gpu.busy_us), (100, 6.0));
    step(&mut x, 0)?;
    fill(&mut y, 1, 0)?;
    assert!(x.to_vec().is_err());
    assert_eq!(y.to_vec()?, [1; LEN]);
    assert_eq!(now_us(&rt), 17.0 + 1.0, "the CPU worker is free at once");
    Ok(())
}

#[test]
fn what_a_device_has_no_kernel_for_runs_elsewhere() -> Result<()> {
    let mut speed = each_takes(1.0);
    speed.codelets.insert("step".to_owned(), CodeletSpeed { absent: true, ..CodeletSpeed::default() });
    for scheduler in ["eager", "ws"] {
        let gpu = VirtualDevice::new("gpu").speed(speed.clone());
        let rt = cpu(1, 9.0).virtual_device(gpu).scheduler(scheduler).build()?;
        let mut arrays: Vec<_> = (0..5).map(|_| array(&rt)).collect::<Result<_>>()?;
        arrays.iter_mut().try_for_each(|x| step(x, None))?;
        rt.wait()?;
        let tasks: Vec<_> = rt.worker_uses().iter().map(|worker| worker.tasks).collect();
        assert_eq!((tasks, now_us(&rt)), (vec![5, 0], 45.0));
    }
    Ok(())
}

#[test]
fn what_is_written_back_frees_its_room_when_it_is_there() -> Result<()> {
    let log = Arc::new(Log::default());
    // A block has whole lines: 1,024 bytes. The memory holds one.
    let small = device("gpu", 20.0).memory_mb(1024.0 / f64::from(1 << 20));
    let rt = cpu(1, 1.0).virtual_device(small).observer(log.clone()).build()?;
    let (mut x, mut y) = (array(&rt)?, array(&rt)?);
    step(&mut x, 1)?;
    step(&mut y, 1)?; // its array does not fit beside the other
    rt.wait()?;
    assert_eq!(log.take(), [(0, 1, 0.0, 11.0), (1, 0, 31.0, 42.0), (0, 1, 42.0, 53.0)]);
    assert_eq!(now_us(&rt), 73.0);
    fill(&mut x, 1, 1)?;
    rt.wait()?;
    assert_eq!(log.take(), [(1, 0, 73.0, 84.0)]);
    assert_eq!(now_us(&rt), 104.0, "nothing comes in, but what goes out goes first");
    assert_eq!((x.to_vec()?, y.to_vec()?), (vec![1; LEN], vec![1; LEN]));
    Ok(())
}

#[test]
fn threads_look_while_copies_come_and_go() -> Result<()> {
    let small = device("gpu", 1.0).memory_mb(3.0 * 1024.0 / f64::from(1 << 20));
    let rt = cpu(1, 2.0).virtual_device(small).virtual_device(device("far", 1.0)).build()?;
    let mut shared = array(&rt)?;
    fill(&mut shared, 3, 1)?;
    std::thread::scope(|scope| {
        let look = |worker: usize| {
            let (rt, shared) = (&rt, &shared);
            move || -> Result<()> {
                let (mut x, mut y) = (array(rt)?, array(rt)?);
                let mut expected = (0_i64, 0_i64);
                for round in 0..200 {
                    join(shared, &mut x, 1 + (worker + round) % 2)?;
                    join(&x, &mut y, worker)?;
                    expected.0 = expected.0.wrapping_mul(3).wrapping_add(3);
                    expected.1 = expected.1.wrapping_mul(3).wrapping_add(expected.0);
                    if round % 7 == worker {
                        assert!(shared.read()?.iter().all(|&x| x == 3));
                        assert!(x.read()?.iter().all(|&x| x == expected.0));
                        y.write()?[0] = expected.1;
                    }
                }
                assert_eq!(y.to_vec()?, [expected.1; LEN]);
                Ok(())
            }
        };
        let threads = [0, 1, 2].map(|worker| scope.spawn(look(worker)));
        threads.into_iter().try_for_each(|thread| thread.join().expect("no thread panics"))
    })?;
    rt.wait()
}
