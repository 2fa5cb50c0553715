//! What a task costs: submission to end of empty tasks, through a generated wrapper with all its checks.
//!
//! `cargo bench --bench task_overhead [-- WORKERS]`. Each row is the median of several rounds of 200,000 tasks.

use std::time::Instant;

use dahl::Result;
use dahl::prelude::*;

const TASKS: usize = 200_000;
const ARRAYS: usize = 64;
const ROUNDS: usize = 7;

/// Does nothing to three arrays.
#[codelet(R, R, W)]
fn empty(a: &[f32], b: &[f32], out: &mut [f32]) {
    let _ = (a, b, out);
}

/// Does nothing to one.
#[codelet(RW)]
fn touch(x: &mut [f32]) {
    let _ = x;
}

/// Numbers below `bound`, the same in every run (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

type Arrays = Vec<Vector<'static, f32>>;
type Program = fn(&mut Arrays) -> Result<()>;

/// R, R, W on random ones of 64 arrays, the output another than the inputs.
fn random(arrays: &mut Arrays) -> Result<()> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..TASKS {
        let out = random.below(ARRAYS);
        let mut other = || (out + 1 + random.below(ARRAYS - 1)) % ARRAYS;
        let (a, b) = (other(), other());
        // Three of one slice, of which two may be the same: the last one is the output, swapped there and back.
        arrays.swap(out, ARRAYS - 1);
        let place = |i| if i == ARRAYS - 1 { out } else { i };
        let (inputs, output) = arrays.split_at_mut(ARRAYS - 1);
        empty(&inputs[place(a)], &inputs[place(b)], &mut output[0])?;
        arrays.swap(out, ARRAYS - 1);
    }
    Ok(())
}

/// RW on 64 arrays in turn.
fn independent(arrays: &mut Arrays) -> Result<()> {
    (0..TASKS).try_for_each(|i| touch(&mut arrays[i % ARRAYS]))
}

/// RW on one array.
fn chain(arrays: &mut Arrays) -> Result<()> {
    (0..TASKS).try_for_each(|_| touch(&mut arrays[0]))
}

fn main() -> Result<()> {
    let workers: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let workers = if workers.is_empty() { vec![1, 2] } else { workers };
    println!(
        "{:<10} {:>8} {:<16} {:>9} {:>9} {:>9}",
        "scheduler", "workers", "tasks", "median", "min", "max"
    );
    for scheduler in ["ws", "eager"] {
        for &workers in &workers {
            let rt = Runtime::builder().cpu_workers(workers).scheduler(scheduler).build()?;
            let mut arrays = (0..ARRAYS).map(|_| rt.zeros([1])).collect::<Result<Arrays>>()?;
            let programs: [(&str, Program); 3] =
                [("R, R, W random", random), ("RW independent", independent), ("RW chain", chain)];
            for (name, program) in programs {
                let mut ns = Vec::new();
                for _ in 0..ROUNDS {
                    let start = Instant::now();
                    program(&mut arrays)?;
                    rt.wait()?;
                    ns.push(start.elapsed().as_nanos() as f64 / TASKS as f64);
                }
                ns.sort_by(f64::total_cmp);
                let (median, min, max) = (ns[ROUNDS / 2], ns[0], ns[ROUNDS - 1]);
                println!(
                    "{scheduler:<10} {workers:>8} {name:<16} {median:>6.0} ns {min:>6.0} ns {max:>6.0} ns"
                );
            }
        }
    }
    Ok(())
}
