//! Overload: far more tasks than may be in flight, on few workers, with bounded memory.
//!
//! `just overload` runs ten million tasks; `DAHL_OVERLOAD_TASKS` sets another number.

use dahl::Result;
use dahl::ndarray::Axis;
use dahl::prelude::*;

/// Resident memory may differ by this much between two moments: the pools of 4,096 tasks in flight take 7 MB, and grow
/// when a run first has so many, early or late. If a million tasks leaked 8 bytes each, this would be exceeded.
const SLACK_BYTES: usize = 8 << 20;

/// The most that the arena may reserve: a region for each round in flight.
const PEAK_BYTES: usize = 4 << 20;

/// `x = x + 1`.
#[codelet(RW)]
fn count(x: &mut [i64]) {
    x[0] += 1;
}

/// `out = x`.
#[codelet(R, W)]
fn take(x: &[i64], out: &mut [i64]) {
    out[0] = x[0];
}

/// Adds `x` to `out`.
#[codelet(R, REDUX)]
fn add(x: &[i64], out: &mut [i64]) {
    out[0] += x[0];
}

/// `x = x + 1`, in any order.
#[codelet(COMMUTE)]
fn commute(x: &mut [i64]) {
    x[0] += 1;
}

/// Tasks of a [`round`].
const ROUND: usize = 10;

struct Arrays {
    counter: Vector<'static, i64>,
    copy: Vector<'static, i64>,
    sum: Vector<'static, i64>,
    commuted: Vector<'static, i64>,
    halves: Vector<'static, i64>,
}

/// Ten tasks in all modes over a few arrays.
fn round(arrays: &mut Arrays, arena: &mut Arena) -> Result<()> {
    let Arrays { counter, copy, sum, commuted, halves } = arrays;
    count(counter)?;
    take(counter, copy)?;
    add(copy, sum)?;
    add(counter, sum)?;
    add(copy, sum)?;
    commute(commuted)?;
    commute(commuted)?;
    for half in halves.partition_mut(Axis(0), 1)?.iter_mut() {
        count(half)?;
    }
    let mut made = arena.zeros([1])?;
    take(commuted, &mut made)?;
    arena.reset();
    Ok(())
}

/// Resident bytes of this process, if the system reports them.
fn resident_bytes() -> Option<usize> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = statm.split_whitespace().nth(1)?.parse().ok()?;
    // Pages are 4 KiB or more; larger ones are counted as less, and so is their growth.
    Some(pages * 4096)
}

#[test]
fn memory_does_not_grow_with_the_number_of_tasks() -> Result<()> {
    let tasks = std::env::var("DAHL_OVERLOAD_TASKS").ok().and_then(|tasks| tasks.parse().ok());
    let rounds = tasks.unwrap_or(2_000_000_usize) / ROUND;
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let one = || rt.zeros([1]);
    let mut arrays =
        Arrays { counter: one()?, copy: one()?, sum: one()?, commuted: one()?, halves: rt.zeros([2])? };
    let mut arena = rt.arena();
    let mut early = None;
    for done in 0..rounds {
        // After the first million.
        if done == rounds.min(2_000_000 / ROUND) / 2 {
            early = Some((resident_bytes(), arena.peak_bytes()));
        }
        round(&mut arrays, &mut arena)?;
    }
    rt.wait()?;
    let n = rounds as i64;
    assert_eq!(arrays.counter.to_vec()?, [n]);
    assert_eq!(arrays.sum.to_vec()?, [3 * n * (n + 1) / 2]);
    assert_eq!(arrays.commuted.to_vec()?, [2 * n]);
    assert_eq!(arrays.halves.to_vec()?, [n, n]);
    let (early_resident, early_peak) = early.expect("some rounds");
    println!("{} tasks; the arena's peak: {early_peak} bytes, then {}", rounds * ROUND, arena.peak_bytes());
    assert!(arena.peak_bytes() <= PEAK_BYTES, "the arena reserved {} bytes", arena.peak_bytes());
    match (early_resident, resident_bytes()) {
        (Some(early), Some(late)) => {
            println!("resident: {early} bytes, then {late}");
            assert!(late <= early + SLACK_BYTES, "resident memory grew from {early} to {late} bytes");
        }
        _ => println!("resident memory is not compared: there is no /proc/self/statm here"),
    }
    Ok(())
}
