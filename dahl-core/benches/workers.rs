//! The cost of workers: memory and start time of an idle runtime, and tasks a second, by the number of workers.
//!
//! `cargo bench -p dahl-core --bench workers [-- 2 64 256 1024]`. Each row is a process of its own. The tasks are
//! empty; each writes one of 64 arrays, so that up to 64 are ready at the same time. Linux only, which reports resident
//! memory.

use std::process::Command;
use std::time::Instant;
use std::{env, fs};

use dahl_core::__private::{Kernel, Parameter};
use dahl_core::{AccessMode, Array, Codelet, ElementType, Result, Runtime, Task};

const TASKS: usize = 200_000;
const ROUNDS: usize = 5;
const ARRAYS: usize = 64;

/// Does nothing to `x`.
static TOUCH: Codelet = Codelet::new("touch", module_path!(), 1)
    .parameters(&[Parameter::new("x", AccessMode::RW, ElementType::of::<i64>())])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let _ = views.slice_mut::<i64>();
    }))]);

/// Marks the process that measures one row.
const ONE: &str = "--one";

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let Some(place) = arguments.iter().position(|argument| argument == ONE) {
        let workers = arguments.get(place + 1).and_then(|workers| workers.parse().ok());
        return measure(workers.expect("the number of workers"));
    }
    let given: Vec<_> = arguments.into_iter().filter(|argument| argument.parse::<usize>().is_ok()).collect();
    let usual = ["2", "64", "256", "1024"].map(str::to_owned).to_vec();
    println!("{:>7} {:>12} {:>10} {:>12}", "workers", "resident MB", "start ms", "tasks/s");
    for workers in if given.is_empty() { usual } else { given } {
        let status = Command::new(env::current_exe().expect("this program")).args([ONE, &workers]).status();
        assert!(status.expect("it can be started").success());
    }
    Ok(())
}

/// Measures one row and prints it.
fn measure(workers: usize) -> Result<()> {
    let begin = Instant::now();
    let rt = Runtime::builder().cpu_workers(workers).cuda_devices(0).check(false).build()?;
    let start_ms = begin.elapsed().as_secs_f64() * 1e3;
    rt.wait()?;
    let resident_mb = resident_kb() as f64 / 1024.0;
    let mut arrays = (0..ARRAYS).map(|_| rt.zeros([1])).collect::<Result<Vec<Array<'_, i64, 1>>>>()?;
    let mut rates: Vec<f64> = Vec::new();
    for _ in 0..=ROUNDS {
        let begin = Instant::now();
        for task in 0..TASKS {
            let mut touch = Task::new(&TOUCH);
            touch.write(&mut arrays[task % ARRAYS]);
            touch.submit()?;
        }
        rt.wait()?;
        rates.push(TASKS as f64 / begin.elapsed().as_secs_f64());
    }
    rates.remove(0); // the first round fills the pools
    rates.sort_by(f64::total_cmp);
    println!("{workers:>7} {resident_mb:>12.1} {start_ms:>10.1} {:>12.0}", rates[ROUNDS / 2]);
    Ok(())
}

/// The resident memory of this process.
fn resident_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux says what is resident");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it says so");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}
