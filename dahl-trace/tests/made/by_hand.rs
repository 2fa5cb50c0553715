//! Small traces, written by hand.

use super::{about, end, metadata, named};
use dahl_energy::{Absence, DomainEnergy, Joules, Part};
use dahl_trace::format::{
    ArrayUse, Cause, Counter, Fact, Idle, Level, Line, Memory, NodeEnergy, POWER, Power, RunEnergy, Slice,
    TRANSFERS, Task, Transfer, What, Worker,
};

/// The `pid` and `tid` of a worker.
type Track = (u32, u32);
const CPU: Track = (1, 1);
const DEVICE: Track = (2, 2);

pub(crate) fn workers() -> Vec<Line> {
    let worker =
        |number, kind: &str, node| Fact::Worker(Worker { worker: Some(number), kind: kind.to_owned(), node });
    vec![
        metadata(1, 0, Fact::ProcessName(named("memory 0"))),
        metadata(1, 1, Fact::ThreadName(named("cpu 0"))),
        metadata(1, 1, worker(0, "cpu", 0)),
        metadata(2, 0, Fact::ProcessName(named("memory 1"))),
        metadata(2, 2, Fact::ThreadName(named("device 0"))),
        metadata(2, 2, worker(1, "toy device", 1)),
    ]
}

pub(crate) fn task(number: u64, codelet: &str, (pid, tid): Track, times: [f64; 5], after: &[u64]) -> Line {
    let [submitted_us, ready_us, taken_us, ts, dur] = times;
    let task = Task {
        task: number,
        codelet: format!("net::{codelet}"),
        kernel: Some(format!("{codelet}_simple")),
        elements: vec!["f32".to_owned(), "f32".to_owned()],
        footprint: vec![vec![2, 3], vec![3]],
        arrays: vec![
            ArrayUse { array: 1, mode: "R".to_owned(), bytes: Some(24) },
            ArrayUse { array: number + 2, mode: "W".to_owned(), bytes: None },
        ],
        predicted_us: (number > 0).then_some(dur * 1.25),
        measured_us: dur,
        submitted_us,
        ready_us,
        taken_us,
        after: after.to_vec(),
        at: "src/net.rs:7".to_owned(),
        ..Task::default()
    };
    Line::Slice(Slice { name: codelet.to_owned(), ts, dur, pid, tid, what: What::Task(Box::new(task)) })
}

pub(crate) fn idle(cause: Cause, (pid, tid): Track, ts: f64, dur: f64, before: Option<u64>) -> Line {
    let what = What::Idle(Idle { cause, before });
    Line::Slice(Slice { name: format!("idle: {}", cause.name()), ts, dur, pid, tid, what })
}

fn memory(pid: u32, ts: f64, bytes: u64) -> Line {
    let args = Level::Memory(Memory { bytes });
    Line::Counter(Counter { name: "memory".to_owned(), ts, dur: None, pid, args })
}

/// Four tasks on a processor and a device: `0 -> 1 -> 3` and `0 -> 2 -> 3`, with one transfer that is waited for.
pub(crate) fn diamond() -> Vec<Line> {
    let transfer = What::Transfer(Transfer { array: 2, from: 0, to: 1, bytes: 4000 });
    let mut last = task(3, "sum", CPU, [3.0, 60.0, 60.5, 60.5, 19.5], &[1, 2]);
    if let Line::Slice(Slice { what: What::Task(task), .. }) = &mut last {
        task.name = Some("loss \"of\" </script> the <epoch>".to_owned());
        task.priority = 2;
        task.team = true;
    }
    let mut lines = vec![about("net", true)];
    lines.extend(workers());
    lines.extend([
        idle(Cause::Submission, CPU, 0.0, 1.0, Some(0)),
        task(0, "fill", CPU, [1.0, 1.0, 1.0, 1.0, 9.0], &[]),
        memory(1, 1.0, 4000),
        task(1, "matmul", CPU, [2.0, 10.0, 10.0, 10.0, 30.0], &[0]),
        metadata(2, TRANSFERS, Fact::ThreadName(named("memory 0 to memory 1"))),
        Line::Slice(Slice {
            name: "array 2".to_owned(),
            ts: 10.25,
            dur: 14.75,
            pid: 2,
            tid: TRANSFERS,
            what: transfer,
        }),
        memory(2, 10.25, 4000),
        idle(Cause::Submission, DEVICE, 0.0, 2.5, Some(2)),
        idle(Cause::Dependency, DEVICE, 2.5, 7.5, Some(2)),
        idle(Cause::Scheduler, DEVICE, 10.0, 0.25, Some(2)),
        idle(Cause::Transfer, DEVICE, 10.25, 14.75, Some(2)),
        task(2, "matmul", DEVICE, [2.5, 10.0, 10.25, 25.0, 35.0], &[0]),
        memory(2, 60.0, 0),
        idle(Cause::Dependency, CPU, 40.0, 20.0, Some(3)),
        idle(Cause::Scheduler, CPU, 60.0, 0.5, Some(3)),
        last,
        idle(Cause::End, DEVICE, 60.0, 20.0, None),
        end(80.0, 4),
    ]);
    lines
}

/// The diamond on a machine with two counters on the processor, of which one is silent for 20 us, and none on the device.
pub(crate) fn powered() -> Vec<Line> {
    let power = |domain: &str, ts, dur, watts| {
        let args = Level::Power(Power { watts });
        Line::Counter(Counter { name: format!("{POWER}{domain}"), ts, dur: Some(dur), pid: 1, args })
    };
    let domain = |name: &str, within: Option<&str>, joules| DomainEnergy {
        name: name.to_owned(),
        part: Part::Host,
        within: within.map(str::to_owned),
        energy: Joules::measured(joules, "RAPL (powercap)"),
    };
    let absence = Absence::new("NVML is not there: libnvidia-ml.so.1: no such file", "install <the> driver");
    let nodes = [Joules::measured(1.2e-3, "RAPL (powercap)"), Joules::unavailable(absence)];
    let energy = RunEnergy {
        run: nodes[1].clone(),
        nodes: (0..).zip(nodes).map(|(node, energy)| NodeEnergy { node, energy }).collect(),
        domains: vec![domain("package-0", None, 1.2e-3), domain("core", Some("package-0"), 4e-4)],
    };
    let mut lines = diamond();
    lines.extend([
        power("package-0", 40.0, 20.0, 30.0),
        power("core", 0.0, 80.0, 5.0),
        power("package-0", 0.0, 20.0, 12.5),
        metadata(1, 0, Fact::Energy(energy)),
    ]);
    let last = lines
        .iter()
        .position(|line| matches!(line, Line::Metadata(metadata) if matches!(metadata.fact, Fact::End(_))));
    let end = lines.remove(last.expect("it is complete"));
    lines.push(end);
    lines
}

/// No task at all.
pub(crate) fn nothing() -> Vec<Line> {
    vec![about("nothing", false), end(0.0, 0)]
}

/// One task on one worker.
pub(crate) fn one() -> Vec<Line> {
    let mut lines = vec![about("one", false)];
    lines.extend(workers().drain(..3));
    lines.extend([task(0, "fill", CPU, [1.0, 1.0, 1.0, 1.0, 9.0], &[]), end(10.0, 1)]);
    lines
}
