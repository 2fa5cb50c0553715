//! A tiled Cholesky factorisation for the schedulers: its tasks and their arrays, on a machine with a device.

use dahl_core::__private::{Kernel, Parameter};
use dahl_core::{AccessMode, Codelet, ElementType, Machine, Result, Runtime, Task, VirtualDevice};

use crate::schedulers::graph::{V, speed_of, time_us};

const F32: ElementType = ElementType::of::<f32>();
/// Extent of a tile, for transfers.
const TILE: usize = 256;
/// Tiles of a row.
const TILES: usize = 12;

const A: Parameter = Parameter::new("a", AccessMode::R, F32);
const B: Parameter = Parameter::new("b", AccessMode::R, F32);
const C: Parameter = Parameter::new("c", AccessMode::RW, F32);

const fn kernel(name: &'static str, hash: u64, parameters: &'static [Parameter]) -> Codelet {
    Codelet::new(name, module_path!(), hash)
        .parameters(parameters)
        .kernels(const { &[Some(Kernel::new("rust", |_| {}))] })
}

static POTRF: Codelet = kernel("potrf", 30, &[C]);
static TRSM: Codelet = kernel("trsm", 31, &[A, C]);
static SYRK: Codelet = kernel("syrk", 32, &[A, C]);
static GEMM: Codelet = kernel("gemm", 33, &[A, B, C]);

/// How long each kernel runs on the host, in microseconds; the device is five times as fast.
const TIMES: [(&str, f64); 4] = [("potrf", 112.0), ("trsm", 336.0), ("syrk", 336.0), ("gemm", 671.0)];

/// A CPU worker and a device five times as fast, 10 us and 12 GB/s away.
fn machine(link_gbytes_per_s: f64) -> Machine {
    let mut machine = Machine::default();
    machine.cpu.speed = speed_of(&TIMES);
    machine.devices =
        vec![VirtualDevice::new("gpu").speed(speed_of(&TIMES).times(5.0)).link(10.0, link_gbytes_per_s)];
    machine
}

fn tile(rt: &Runtime) -> Result<V<'static, f32>> {
    rt.zeros([TILE * TILE])
}

fn task<'a>(codelet: &'static Codelet, read: &[&'a V<'_, f32>], changed: &'a mut V<'_, f32>) -> Task<'a> {
    let mut task = Task::new(codelet);
    read.iter().for_each(|array| task.read(array));
    task.write(changed);
    task
}

/// Runs every codelet once on each worker.
fn measure(rt: &Runtime) -> Result<()> {
    let (a, b, mut c) = (tile(rt)?, tile(rt)?, tile(rt)?);
    for worker in 0..rt.workers() {
        task(&POTRF, &[], &mut c).on(worker).submit()?;
        task(&TRSM, &[&a], &mut c).on(worker).submit()?;
        task(&SYRK, &[&a], &mut c).on(worker).submit()?;
        task(&GEMM, &[&a, &b], &mut c).on(worker).submit()?;
    }
    rt.wait()
}

/// The factorisation of `tiles`, rows of the lower triangle; priorities are longest paths, as in Chameleon and PLASMA.
fn factorise(tiles: &mut [Vec<V<'static, f32>>], on_device: bool) -> Result<()> {
    let count = tiles.len();
    for k in 0..count {
        let priority = |i: usize, j: usize| 3 * (count - k) as i32 - (i + j) as i32;
        let on = |task: Task<'_>| if on_device { task.on(1).submit() } else { task.submit() };
        on(task(&POTRF, &[], &mut tiles[k][k]).priority(3 * (count - k) as i32))?;
        for i in k + 1..count {
            let (above, below) = tiles.split_at_mut(i);
            on(task(&TRSM, &[&above[k][k]], &mut below[0][k]).priority(priority(i - k, 0)))?;
        }
        for i in k + 1..count {
            for j in k + 1..=i {
                let (above, below) = tiles.split_at_mut(i);
                let (left, right) = below[0].split_at_mut(j);
                let task = if i == j {
                    task(&SYRK, &[&left[k]], &mut right[0])
                } else {
                    task(&GEMM, &[&left[k], &above[j][k]], &mut right[0])
                };
                on(task.priority(priority(i - k, j - k)))?;
            }
        }
    }
    Ok(())
}

/// The makespan of the factorisation when durations are known, in microseconds: under a scheduler, or on the device
/// alone.
fn makespan_us(scheduler: Option<&str>, link_gbytes_per_s: f64) -> Result<f64> {
    let builder = Runtime::builder().cpu_workers(1).scheduler(scheduler.unwrap_or("eager")).check(false);
    let rt = builder.virtual_machine(machine(link_gbytes_per_s)).build()?;
    measure(&rt)?;
    let row = |i| (0..=i).map(|_| tile(&rt)).collect::<Result<Vec<_>>>();
    let mut tiles = (0..TILES).map(row).collect::<Result<Vec<_>>>()?;
    time_us(&rt, || factorise(&mut tiles, scheduler.is_none()))
}

/// The microseconds and the joules of the factorisation when durations are known, under a scheduler for which a joule is worth so
/// many seconds. The device is five times as fast, and takes eight times the energy for a task.
fn weighed(scheduler: &str, seconds_per_joule: f64) -> Result<(f64, f64)> {
    let mut machine = machine(12.0);
    (machine.cpu.watts, machine.cpu.idle_watts) = (Some(12.0), Some(2.0));
    machine.devices = machine.devices.into_iter().map(|device| device.power(440.0, 4.0)).collect();
    let builder = Runtime::builder().cpu_workers(2).scheduler(scheduler).check(false);
    let rt = builder.virtual_machine(machine).energy_weight(seconds_per_joule).build()?;
    measure(&rt)?;
    let row = |i| (0..=i).map(|_| tile(&rt)).collect::<Result<Vec<_>>>();
    let mut tiles = (0..TILES).map(row).collect::<Result<Vec<_>>>()?;
    let mark = rt.energy_mark();
    let us = time_us(&rt, || factorise(&mut tiles, false))?;
    Ok((us, rt.energy_since(&mark).value().expect("the machine has powers")))
}

#[test]
fn a_joule_that_is_worth_more_costs_time() -> Result<()> {
    for name in ["dm", "dmda", "dmdas", "heft"] {
        let runs = [0.0, 0.02, 1.0].map(|weight| weighed(name, weight));
        let [fast, between, thrifty] = runs;
        let (fast, between, thrifty) = (fast?, between?, thrifty?);
        println!("{name}: {fast:.3?} {between:.3?} {thrifty:.3?} us, J");
        assert!(fast.0 < between.0 && between.0 < thrifty.0, "{name}: {fast:?}, {between:?}, {thrifty:?}");
        assert!(fast.1 > between.1 && between.1 > thrifty.1, "{name}: {fast:?}, {between:?}, {thrifty:?}");
    }
    Ok(())
}

#[test]
fn a_weight_needs_a_scheduler_and_powers() {
    let refusal = |machine: Option<Machine>, scheduler: &str, weight: f64| {
        let builder = Runtime::builder().scheduler(scheduler).energy_weight(weight).cuda_devices(0);
        let builder = match machine {
            Some(machine) => builder.virtual_machine(machine),
            None => builder,
        };
        builder.build().map(drop).map_err(|error| error.to_string()).unwrap_err()
    };
    let mut powered = machine(12.0);
    (powered.cpu.watts, powered.cpu.idle_watts) = (Some(12.0), Some(2.0));
    powered.devices = powered.devices.into_iter().map(|device| device.power(440.0, 4.0)).collect();
    assert!(refusal(Some(powered.clone()), "ws", 1.0).contains("dm, dmda, dmdas, heft"));
    assert!(refusal(Some(machine(12.0)), "dmda", 1.0).contains("`watts` and `idle_watts`"));
    assert!(refusal(None, "dmda", 1.0).contains("a machine file"));
    for wrong in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(refusal(Some(powered.clone()), "dmda", wrong).contains("a number of seconds from 0"));
    }
}

/// A lower bound for every schedule: all work is divided without loss, or the longest path runs on the device.
fn bound_us() -> f64 {
    let n = TILES as f64;
    let [potrf, trsm, syrk, gemm] = TIMES.map(|(_, us)| us);
    let pairs = n * (n - 1.0) / 2.0;
    let host_us = n * potrf + pairs * (trsm + syrk) + pairs * (n - 2.0) / 3.0 * gemm;
    let way_us = (n * potrf + (n - 1.0) * (trsm + syrk)) / 5.0;
    (host_us / 6.0).max(way_us)
}

#[test]
fn with_a_fast_link_the_end_is_near_the_least_possible() -> Result<()> {
    for (name, most) in [("dm", 1.04), ("dmda", 1.03), ("dmdas", 1.02), ("heft", 1.03)] {
        let factor = makespan_us(Some(name), 12.0)? / bound_us();
        assert!((1.0..most).contains(&factor), "{name}: {factor:.3} of the bound");
    }
    Ok(())
}

#[test]
fn with_a_slow_link_the_host_and_the_device_are_faster_than_the_device_alone() -> Result<()> {
    for link_gbytes_per_s in [4.0, 2.0, 1.0] {
        let alone_us = makespan_us(None, link_gbytes_per_s)?;
        for name in ["dmda", "dmdas", "heft"] {
            let factor = makespan_us(Some(name), link_gbytes_per_s)? / alone_us;
            assert!(factor < 1.0, "{name}: {factor:.3} of the device alone at {link_gbytes_per_s} GB/s");
        }
    }
    Ok(())
}
