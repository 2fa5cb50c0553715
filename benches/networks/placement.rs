//! Study: where tasks run on two CPU workers and a device five times as fast, in virtual time.
//!
//! Each program runs by every scheduler, and by the best static placement that simulated annealing finds; docs/studies
//! has the figures. `cargo bench -p dahl-benches --bench placement [-- EVALUATIONS [SEEDS]] [NAME]`.
#![allow(clippy::duplicate_mod, reason = "each example has the module that both share")]

#[path = "../../dahl-nn/tests/placement/graph.rs"]
pub mod graph;
#[path = "../../dahl-nn/tests/placement/plan.rs"]
pub mod plan;
#[path = "../../dahl-nn/tests/placement/programs.rs"]
pub mod programs;
#[path = "../../dahl-nn/tests/placement/search.rs"]
pub mod search;

use dahl::Runtime;
use programs::{CPU_WORKERS, DEVICE_SPEED, Program, Workers};
use search::search;

const PROGRAMS: [Program; 9] = [
    Program::Matmul(4),
    Program::Matmul(8),
    Program::Cholesky(8),
    Program::Cholesky(12),
    Program::Cnn(4, 16, 4),
    Program::Cnn(16, 16, 4),
    Program::Cnn(32, 16, 4),
    Program::Cnn(4, 64, 4),
    Program::Cnn(32, 64, 4),
];

const SCHEDULERS: [&str; 9] = ["eager", "ws", "lws", "prio", "random", "dm", "dmda", "dmdas", "heft"];

/// The best of searches with so many seeds, on a thread each.
fn best_placement(program: Program, seeds: u64, evaluations: usize) -> dahl::Result<u64> {
    let found: Vec<_> = std::thread::scope(|scope| {
        let searches = (1..=seeds).map(|seed| scope.spawn(move || search(program, seed, evaluations)));
        let searches: Vec<_> = searches.collect();
        searches.into_iter().map(|search| search.join().expect("a search does not panic")).collect()
    });
    let found: Vec<_> = found.into_iter().collect::<dahl::Result<_>>()?;
    Ok(found.iter().map(|found| found.ns).min().expect("there is a seed"))
}

/// How long `program` takes by `scheduler` when performance models know the tasks from earlier runs.
fn calibrated(program: Program, scheduler: &str) -> dahl::Result<u64> {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    search::calibrated(program, folder.path(), |builder| builder.scheduler(scheduler))
}

fn study(program: Program, seeds: u64, evaluations: usize) -> dahl::Result<()> {
    let run = |workers, scheduler: &str| program.run(workers, Runtime::builder().scheduler(scheduler));
    let cpu: Vec<_> =
        ["ws", "eager"].iter().map(|name| run(Workers::Cpu, name)).collect::<dahl::Result<_>>()?;
    let cpu_ns = cpu.iter().map(|run| run.ns).min().expect("there are schedulers");
    let device_ns = search::on_device(program)?;
    let best_ns = best_placement(program, seeds, evaluations)?;
    // All work done at the speed of all workers together, with no transfer and no wait.
    let work_ns = cpu[0].busy_us.iter().sum::<f64>() * 1e3;
    let bound_ns = work_ns / (CPU_WORKERS as f64 + DEVICE_SPEED);
    let us = |ns: u64| ns as f64 / 1e3;
    println!("\n{}: {} tasks", program.name(), search::graph(program)?.tasks.len());
    println!("| placement | time, us | of the best found | without models |\n|---|---:|---:|---:|");
    let ratio = |ns: u64| ns as f64 / best_ns as f64;
    let row = |name: &str, ns: u64| println!("| {name} | {:.1} | {:.2} | |", us(ns), ratio(ns));
    row("no placement is faster than", bound_ns as u64);
    row("best found", best_ns);
    row("CPU alone", cpu_ns);
    row("device alone", device_ns);
    for scheduler in SCHEDULERS {
        let (first, ns) = (run(Workers::Both, scheduler)?.ns, calibrated(program, scheduler)?);
        println!("| {scheduler} | {:.1} | {:.2} | {:.2} |", us(ns), ratio(ns), ratio(first));
    }
    Ok(())
}

fn main() -> dahl::Result<()> {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let evaluations = numbers.next().unwrap_or(10_000) as usize;
    let seeds = numbers.next().unwrap_or(2);
    let name = std::env::args().skip(1).find(|argument| argument.starts_with(char::is_alphabetic));
    let named = |program: &Program| name.as_ref().is_none_or(|name| program.name().contains(name));
    PROGRAMS.into_iter().filter(named).try_for_each(|program| study(program, seeds, evaluations))
}
