//! What a task costs: submission to end of empty tasks, and the memory of those that wait, through generated wrappers with
//! all their checks.
//!
//! `cargo bench -p dahl-benches --bench task_overhead [-- --workers 2 --graph chain --scheduler eager --rounds 3 --json]`. Each row is the
//! median of several rounds of 200,000 tasks, after one that is not counted. `benches/starpu/compare.py` runs it, and the
//! same tasks in StarPU, in turn. With `--replayed` each row is followed by one of the same tasks in a program of 2,000 that is
//! replayed; the rounds of both are in turn.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dahl::prelude::*;
use dahl::{Result, RuntimeBuilder};
use lexopt::prelude::*;

const TASKS: usize = 200_000;
/// The tasks of a program.
const PROGRAM: usize = 2_000;
const ARRAYS: usize = 64;

/// How long a task of `independent 1 us` works.
const WORK: Duration = Duration::from_micros(1);

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

/// Works for some time, as a clock tells it.
#[codelet(RW)]
fn work(x: &mut [f32]) {
    let _ = x;
    let begin = Instant::now();
    while begin.elapsed() < WORK {
        std::hint::spin_loop();
    }
}

/// Whether tasks that hold a worker may end.
static IS_OPEN: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

fn set_open(is_open: bool) {
    *IS_OPEN.0.lock().unwrap_or_else(PoisonError::into_inner) = is_open;
    IS_OPEN.1.notify_all();
}

/// Holds a worker until it may go on.
#[codelet(RW)]
fn hold(x: &mut [f32]) {
    let _ = x;
    let is_open = IS_OPEN.0.lock().unwrap_or_else(PoisonError::into_inner);
    drop(IS_OPEN.1.wait_while(is_open, |is_open| !*is_open));
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

/// Submits so many tasks.
type Submit = fn(&mut [Vector<'_, f32>], usize) -> Result<()>;

/// What the tasks are, and what they depend on.
struct Graph {
    name: &'static str,
    submit: Submit,
}

const GRAPHS: [Graph; 4] = [
    Graph { name: "independent", submit: independent },
    Graph { name: "chain", submit: chain },
    Graph { name: "random", submit: random },
    Graph { name: "independent-1us", submit: independent_1us },
];

/// The tasks of graph number `graph`, as a program.
#[program]
fn recorded(
    _scope: &Recording<'_>,
    arrays: &mut [Vector<'_, f32>],
    graph: usize,
    tasks: usize,
) -> Result<()> {
    (GRAPHS[graph].submit)(arrays, tasks)
}

/// RW on 64 arrays in turn.
fn independent(arrays: &mut [Vector<'_, f32>], tasks: usize) -> Result<()> {
    (0..tasks).try_for_each(|i| touch(&mut arrays[i % ARRAYS]))
}

/// RW on one array.
fn chain(arrays: &mut [Vector<'_, f32>], tasks: usize) -> Result<()> {
    (0..tasks).try_for_each(|_| touch(&mut arrays[0]))
}

/// R, R, W on random ones of 64 arrays, the output another than the inputs.
fn random(arrays: &mut [Vector<'_, f32>], tasks: usize) -> Result<()> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..tasks {
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

/// The same as `independent`, with work.
fn independent_1us(arrays: &mut [Vector<'_, f32>], tasks: usize) -> Result<()> {
    (0..tasks).try_for_each(|i| work(&mut arrays[i % ARRAYS]))
}

fn arrays(rt: &Runtime, count: usize) -> Result<Arrays> {
    (0..count).map(|_| rt.zeros([1])).collect()
}

/// Memory that the process has, in bytes, where the system tells.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

#[derive(Default)]
struct Settings {
    workers: Vec<usize>,
    graph: Option<String>,
    scheduler: Option<String>,
    rounds: Option<usize>,
    is_replayed: bool,
    is_json: bool,
}

impl Settings {
    fn parse() -> std::result::Result<Self, lexopt::Error> {
        let mut settings = Self::default();
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("workers") => settings.workers.push(parser.value()?.parse()?),
                Long("graph") => settings.graph = Some(parser.value()?.string()?),
                Long("scheduler") => settings.scheduler = Some(parser.value()?.string()?),
                Long("rounds") => settings.rounds = Some(parser.value()?.parse()?),
                Long("replayed") => settings.is_replayed = true,
                Long("json") => settings.is_json = true,
                Long("bench") => {} // cargo says so
                other => return Err(other.unexpected()),
            }
        }
        if settings.workers.is_empty() {
            settings.workers = vec![1, 2];
        }
        Ok(settings)
    }

    fn builder(&self, workers: usize) -> RuntimeBuilder {
        let builder = Runtime::builder().cpu_workers(workers);
        match &self.scheduler {
            Some(scheduler) => builder.scheduler(scheduler),
            None => builder,
        }
    }

    /// Nanoseconds a task, in order: of tasks that are submitted, and of those of a program, in turn, if that is wanted.
    fn times(&self, number: usize, workers: usize) -> Result<Vec<Vec<f64>>> {
        let rt = self.builder(workers).build()?;
        let mut arrays = arrays(&rt, ARRAYS)?;
        let mut program = Recorded::new(&rt).passes(Passes::none());
        let mut times = vec![Vec::new(); 1 + usize::from(self.is_replayed)];
        for _ in 0..=self.rounds.unwrap_or(7) {
            for (form, times) in times.iter_mut().enumerate() {
                let begin = Instant::now();
                if form == 0 {
                    (GRAPHS[number].submit)(&mut arrays, TASKS)?;
                } else {
                    (0..TASKS / PROGRAM).try_for_each(|_| program.call(&mut arrays, number, PROGRAM))?;
                }
                rt.wait()?;
                times.push(begin.elapsed().as_nanos() as f64 / TASKS as f64);
            }
        }
        for times in &mut times {
            times.remove(0);
            times.sort_by(f64::total_cmp);
        }
        Ok(times)
    }

    /// Bytes of each task that is submitted and has not begun: all of them, while the workers are held.
    fn bytes_in_flight(&self, graph: &Graph, workers: usize) -> Result<Option<f64>> {
        let rt = self.builder(workers).tasks_in_flight(TASKS + workers).build()?;
        let (mut arrays, mut held) = (arrays(&rt, ARRAYS)?, arrays(&rt, workers)?);
        touch(&mut arrays[0])?;
        rt.wait()?;
        set_open(false);
        held.iter_mut().try_for_each(hold)?;
        let before = resident_bytes();
        let submitted = (graph.submit)(&mut arrays, TASKS);
        let after = resident_bytes();
        set_open(true);
        rt.wait()?;
        submitted?;
        let grown = before.zip(after).map(|(before, after)| after.saturating_sub(before));
        Ok(grown.map(|bytes| bytes as f64 / TASKS as f64))
    }

    fn rows(&self, number: usize, workers: usize) -> Result<()> {
        let graph = &GRAPHS[number];
        // The memory first: what a round has touched, the next one uses again.
        let bytes = self.bytes_in_flight(graph, workers)?;
        for (times, is_replayed) in self.times(number, workers)?.iter().zip([false, true]) {
            let (median, min, max) = (times[times.len() / 2], times[0], times[times.len() - 1]);
            let name = if is_replayed { format!("{}, replayed", graph.name) } else { graph.name.to_owned() };
            let bytes = bytes.filter(|_| !is_replayed);
            if self.is_json {
                let line = serde_json::json!({
                    "graph": name,
                    "workers": workers,
                    "ns_per_task": median,
                    "bytes_per_task": bytes,
                });
                println!("{line}");
            } else {
                let bytes = bytes.map_or(String::new(), |bytes| format!("{bytes:.0} B in flight"));
                println!("{name:<26} {workers:>8} {median:>7.0} ns {min:>7.0} ns {max:>7.0} ns {bytes:>20}");
            }
        }
        Ok(())
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let settings = Settings::parse()?;
    if !settings.is_json {
        println!(
            "{:<26} {:>8} {:>10} {:>10} {:>10} {:>20}",
            "tasks", "workers", "median", "min", "max", "memory"
        );
    }
    for (number, graph) in GRAPHS.iter().enumerate() {
        if settings.graph.as_ref().is_some_and(|wanted| wanted != graph.name) {
            continue;
        }
        for &workers in &settings.workers {
            settings.rows(number, workers)?;
        }
    }
    Ok(())
}
