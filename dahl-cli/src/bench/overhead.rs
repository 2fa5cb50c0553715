//! `dahl bench overhead`: nanoseconds for a task, by graph and number of workers.

mod graph;

use std::fmt;
use std::time::Instant;

use dahl::{Binding, Runtime};
use serde::Serialize;

use crate::load::Load;
use crate::output::Output;
use crate::table::Table;
use crate::trouble::Trouble;
use crate::units;
use graph::{ARRAYS, Arrays, Graph};

const EXAMPLES: &str = "\
Examples:
  dahl bench overhead
  dahl bench overhead --workers 1,2,4 --graph chain --graph independent
  dahl bench overhead --scheduler eager --tasks 20000 --rounds 3 --json";

/// The arguments of `dahl bench overhead`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Numbers of CPU workers. [default: 1, and one for each core]
    #[arg(long, value_name = "N,..", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: Vec<u16>,
    /// The graph of the tasks, once for each. [default: all]
    #[arg(long, value_enum)]
    graph: Vec<Graph>,
    /// The scheduler. [default: DAHL_SCHED, or ws]
    #[arg(long, value_name = "NAME")]
    scheduler: Option<String>,
    /// Tasks in a round.
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..))]
    tasks: u32,
    /// Rounds, after a warm-up round.
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..=1000))]
    rounds: u16,
}

/// The measurements.
#[derive(Serialize)]
struct Report {
    tasks: u32,
    rounds: u16,
    /// `debug` if dahl has debug assertions, which cost time, otherwise `release`.
    build: &'static str,
    load: Load,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    scheduler: &'static str,
    workers: usize,
    graph: Graph,
    /// The time per task, in the median round.
    median_ns: f64,
    min_ns: f64,
    max_ns: f64,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Trouble> {
    if let Ok(machine) = std::env::var("DAHL_MACHINE") {
        return Err(Trouble::Input(format!(
            "DAHL_MACHINE = `{machine}`: the time of a simulated machine is none of this one's: unset it to measure"
        )));
    }
    let graphs = if arguments.graph.is_empty() { Graph::ALL.to_vec() } else { arguments.graph.clone() };
    let workers = arguments.workers();
    let rounds = usize::from(arguments.rounds) + 1;
    let progress = output.progress(workers.len() * graphs.len() * rounds, "rounds");
    let load = Load::now();
    let mut rows = Vec::new();
    for workers in workers {
        let rt = arguments.runtime(workers)?;
        let mut arrays = (0..ARRAYS).map(|_| rt.zeros([1])).collect::<dahl::Result<Arrays>>()?;
        for &graph in &graphs {
            progress.begin(format!("{graph}, {workers} workers"));
            let mut ns = Vec::new();
            for _ in 0..rounds {
                ns.push(round(&rt, graph, arguments.tasks, &mut arrays)?);
                progress.done();
            }
            rows.push(Row::new(rt.scheduler(), workers, graph, &mut ns[1..]));
        }
    }
    drop(progress);
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    output.show(&Report { tasks: arguments.tasks, rounds: arguments.rounds, build, load, rows })
}

/// Nanoseconds per task.
fn round(rt: &Runtime, graph: Graph, tasks: u32, arrays: &mut Arrays) -> dahl::Result<f64> {
    let start = Instant::now();
    graph.submit(tasks, arrays)?;
    rt.wait()?;
    Ok(start.elapsed().as_nanos() as f64 / f64::from(tasks))
}

impl Arguments {
    fn workers(&self) -> Vec<usize> {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let mut workers: Vec<_> = match self.workers.is_empty() {
            true => vec![1, cores],
            false => self.workers.iter().copied().map(usize::from).collect(),
        };
        workers.dedup();
        workers
    }

    /// A runtime without checked mode and without binding, whatever the environment says.
    fn runtime(&self, workers: usize) -> dahl::Result<Runtime> {
        let settings = Runtime::builder().cpu_workers(workers).check(false).binding(Binding::None);
        match &self.scheduler {
            Some(scheduler) => settings.scheduler(scheduler).build(),
            None => settings.build(),
        }
    }
}

impl Row {
    fn new(scheduler: &'static str, workers: usize, graph: Graph, ns: &mut [f64]) -> Self {
        ns.sort_by(f64::total_cmp);
        let (min_ns, max_ns) = (ns[0], ns[ns.len() - 1]);
        Self { scheduler, workers, graph, median_ns: ns[(ns.len() - 1) / 2], min_ns, max_ns }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new(&["scheduler", ">workers", "graph", ">a task", ">least", ">most"]);
        for Row { scheduler, workers, graph, median_ns, min_ns, max_ns } in &self.rows {
            let ns = |ns: f64| format!("{} ns", units::significant(ns));
            let [median, min, max] = [*median_ns, *min_ns, *max_ns].map(ns);
            table.row([(*scheduler).to_owned(), workers.to_string(), graph.to_string(), median, min, max]);
        }
        write!(f, "{table}")?;
        let Self { tasks, rounds, build, .. } = self;
        writeln!(f, "The median of {rounds} rounds of {tasks} empty tasks, {build} build.")?;
        write!(f, "{}", self.load)
    }
}
