//! [`machine`]: a machine as traces of its runs show it, in the format of machine files.
//!
//! Runs in which one worker is busy say what tasks take; runs with several, what they cost each other. Not here: the programs that
//! run (`study::programs`), and the simulation (`dahl-core`).

mod durations;
mod links;
mod statistics;
mod submissions;

use dahl::{Cpu, Machine, Speed, VirtualDevice};
use dahl_trace::{Task, Trace, Worker};

use durations::Durations;
pub(crate) use durations::codelet;
use statistics::{median, trimmed_mean};

/// The kind of the workers of the CPU.
const CPU: &str = "cpu";

/// The machine on which the runs of these traces took place. Its power is not known.
///
/// # Errors
/// If no worker of the CPU ran a task, or a file is of an older version.
pub(crate) fn machine(traces: &[Trace]) -> Result<Machine, String> {
    let mut kinds: Vec<&str> = Vec::new();
    for worker in traces.iter().flat_map(Trace::workers).filter(|worker| worker.number.is_some()) {
        if worker.kind != CPU && !kinds.contains(&&*worker.kind) {
            kinds.push(&worker.kind);
        }
    }
    let (submissions, submit_us) = submissions::measured(traces);
    let cpu = Cpu { speed: speed(traces, CPU)?, submit_us, submissions, ..Cpu::default() };
    let devices = kinds.iter().map(|kind| {
        let (latency_us, link_gbytes_per_s) = links::of_device(traces, kind);
        let device = VirtualDevice { latency_us, link_gbytes_per_s, ..VirtualDevice::new(kind) };
        Ok(device.speed(speed(traces, kind)?))
    });
    Ok(Machine { cpu, devices: devices.collect::<Result<_, String>>()?, ..Machine::default() })
}

/// The speed of a kind of worker.
fn speed(traces: &[Trace], kind: &str) -> Result<Speed, String> {
    let mut durations = Durations::default();
    traces.iter().try_for_each(|trace| durations.add(trace, kind))?;
    let codelets = durations.codelets();
    if codelets.is_empty() {
        return Err(format!("no worker of the kind `{kind}` ran a task: trace a run with one worker"));
    }
    let tasks = || codelets.values().flat_map(|codelet| &codelet.measured).filter(|task| task.us > 0.0);
    let default = Speed::default();
    let gflops = tasks().filter_map(|task| Some(task.flops? / task.us / 1e3)).filter(|rate| *rate > 0.0);
    let gbytes = tasks().filter(|task| task.flops.is_none()).map(|task| task.bytes / task.us / 1e3);
    Ok(Speed {
        gflops: median(gflops.collect()).unwrap_or(default.gflops),
        gbytes_per_s: median(gbytes.filter(|rate| *rate > 0.0).collect()).unwrap_or(default.gbytes_per_s),
        overhead_us: overhead_us(traces, kind).unwrap_or(0.0),
        co_running: median(codelets.values().filter_map(|codelet| codelet.co_running).collect())
            .unwrap_or(0.0),
        codelets,
    })
}

/// The workers of a kind in a run, each with its tasks in the order of their starts.
fn workers<'t>(trace: &'t Trace, kind: &str) -> Vec<(&'t Worker, Vec<&'t Task>)> {
    let of = |index: usize| {
        let mut tasks: Vec<&Task> = trace.tasks().iter().filter(|task| task.worker == index).collect();
        tasks.sort_by_key(|task| task.start_ns);
        tasks
    };
    let all = trace.workers().iter().enumerate();
    all.filter(|(_, worker)| worker.kind == kind).map(|(index, worker)| (worker, of(index))).collect()
}

/// The time from the end of a task to the start of the next one, if that was ready before. A device may wait for data meanwhile,
/// which is no cost of a task, so its shortest time counts.
fn overhead_us(traces: &[Trace], kind: &str) -> Option<f64> {
    let mut gaps = Vec::new();
    for (_, tasks) in traces.iter().flat_map(|trace| workers(trace, kind)) {
        for pair in tasks.windows(2) {
            let end_ns = pair[0].end_ns();
            if pair[1].ready_ns < pair[0].start_ns && pair[1].start_ns >= end_ns {
                gaps.push((pair[1].start_ns - end_ns) as f64 / 1e3);
            }
        }
    }
    if kind == CPU { trimmed_mean(gaps) } else { gaps.into_iter().reduce(f64::min) }
}
