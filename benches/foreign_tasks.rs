//! What a rank does for a task of another rank, and what it keeps of it.
//!
//! `cargo bench -p dahl-benches --bench foreign_tasks`. One rank runs; the others are echoes, which answer each comparison with what
//! this rank sent. So nothing else needs the processor. All tasks belong to rank 1, on arrays that this rank does not use. Times are
//! medians of several rounds.

use std::collections::HashMap;
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use dahl::Result;
use dahl::prelude::*;
use dahl_core::ranks::{Destination, Kept, Message, Tag, Transport, deliver};

const TASKS: usize = 1_000_000;
const ROUNDS: usize = 7;
/// The tasks before memory is measured, and those after it.
const EARLIER: usize = 1_000_000;
const LATER: usize = 10_000_000;
const ARRAYS: usize = 64;

/// Does nothing to one array.
#[codelet(RW)]
fn touch(x: &mut [f32]) {
    let _ = x;
}

/// Does nothing to three.
#[codelet(R, R, W)]
fn empty(a: &[f32], b: &[f32], out: &mut [f32]) {
    let _ = (a, b, out);
}

/// Rank 0 of several. The others say what it says.
struct Echo {
    ranks: usize,
    said: Mutex<HashMap<(usize, Tag), Vec<u8>>>,
}

impl Transport for Echo {
    fn rank(&self) -> usize {
        0
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn send(&self, to: usize, tag: Tag, message: Message) {
        let message = message.unwrap_or_else(|cause| panic!("no task fails: {cause}"));
        let bytes = (*message).as_ref().to_vec();
        self.said.lock().unwrap_or_else(PoisonError::into_inner).insert((to, tag), bytes);
    }

    fn receive(&self, from: usize, tag: Tag, destination: Box<dyn Destination>) {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner).remove(&(from, tag));
        deliver(Ok(&said.expect("this rank says it first")), destination);
    }
}

fn runtime(ranks: usize) -> Result<Runtime> {
    let echo = Echo { ranks, said: Mutex::default() };
    Runtime::builder().cpu_workers(1).check(false).ranks(Arc::new(echo)).build()
}

fn arrays(rt: &Runtime) -> Result<Vec<Vector<'static, f32>>> {
    let arrays: Vec<Vector<'static, f32>> = (0..ARRAYS).map(|_| rt.zeros([1])).collect::<Result<_>>()?;
    arrays.iter().try_for_each(|array| rt.set_owner(array, 1))?;
    Ok(arrays)
}

/// Submits tasks of one array or of three, to rank `rank`.
fn submit(arrays: &mut [Vector<'static, f32>], count: usize, is_of_three: bool, rank: usize) -> Result<()> {
    let (inputs, outputs) = arrays.split_at_mut(ARRAYS / 2);
    for task in 0..count {
        let output = &mut outputs[task % (ARRAYS / 2)];
        if is_of_three {
            let (a, b) = (&inputs[task % (ARRAYS / 2)], &inputs[(task + 7) % (ARRAYS / 2)]);
            Empty::task(a, b, output).on_rank(rank).submit()?;
        } else {
            Touch::task(output).on_rank(rank).submit()?;
        }
    }
    Ok(())
}

/// The median nanoseconds of a task.
fn ns(ranks: usize, is_of_three: bool) -> Result<f64> {
    let rt = runtime(ranks)?;
    let mut arrays = arrays(&rt)?;
    let mut times = Vec::new();
    for _ in 0..=ROUNDS {
        let begin = Instant::now();
        submit(&mut arrays, TASKS, is_of_three, 1)?;
        times.push(begin.elapsed().as_nanos() as f64 / TASKS as f64);
    }
    // The first one has grown the tables.
    let measured = &mut times[1..];
    measured.sort_by(f64::total_cmp);
    Ok(measured[ROUNDS / 2])
}

/// The bytes of main memory of this process.
fn resident_bytes() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").ok().and_then(|text| {
        let resident = text.split(' ').nth(1)?;
        resident.parse::<usize>().ok()
    });
    pages.unwrap_or(0) * 4096
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    println!("| ranks | arrays of a task | ns for a task of another rank |\n|---:|---:|---:|");
    for ranks in [2, 64] {
        for is_of_three in [false, true] {
            println!("| {ranks} | {} | {:.0} |", if is_of_three { 3 } else { 1 }, ns(ranks, is_of_three)?);
        }
    }
    let rt = runtime(2)?;
    let mut arrays = arrays(&rt)?;
    submit(&mut arrays, EARLIER, true, 1)?;
    let before = resident_bytes();
    submit(&mut arrays, LATER, true, 1)?;
    let kept = rt.kept_of_ranks().ok_or("there are ranks")?;
    println!(
        "\n{LATER} tasks of another rank after {EARLIER}: the process has {} KiB more; the rank keeps {} submissions ({} KiB) and {} arrays",
        resident_bytes().saturating_sub(before) >> 10,
        kept.submissions,
        (kept.submissions * Kept::SUBMISSION_BYTES) >> 10,
        kept.arrays
    );
    Ok(())
}
