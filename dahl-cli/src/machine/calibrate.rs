//! `dahl machine calibrate`: measures this machine, and prints its machine file.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::ValueHint;
use dahl::Machine;
use dahl_nn::prelude::*;
use dahl_trace::Trace;
use serde::Serialize;

use crate::calibration;
use crate::output::Output;
use crate::study::programs::{Workload, unchecked};
use crate::trouble::Trouble;

const EXAMPLES: &str = "\
Examples:
  dahl machine calibrate --quick
  cargo run --release -p dahl-cli -- machine calibrate > machine.toml";

/// The arguments of `dahl machine calibrate`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Traces of runs (`DAHL_TRACE`) in place of the programs that this command runs: some with one worker, which say what tasks
    /// take, and some with several, which say what they cost each other.
    #[arg(long = "trace", value_name = "FILE", value_hint = ValueHint::FilePath)]
    traces: Vec<PathBuf>,
    /// The most workers; without traces.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    workers: Option<u16>,
    /// Runs small programs, to see whether it works.
    #[arg(long)]
    quick: bool,
    /// The seed of the programs.
    #[arg(long, default_value_t = 42)]
    seed: u64,
}

/// A measured machine.
#[derive(Serialize)]
pub(super) struct Report {
    host: String,
    /// The traces, or none if the command ran its own programs.
    traces: Vec<PathBuf>,
    /// Why the power is not in it.
    no_power: Option<String>,
    /// The text of the machine file.
    machine: String,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Trouble> {
    let Arguments { ref traces, workers, quick, seed } = *arguments;
    let (machine, no_power) = if traces.is_empty() {
        if cfg!(debug_assertions) && !quick {
            let fact = "this is a debug build, whose times say nothing: `cargo run --release -p dahl-cli -- machine calibrate`";
            return Err(Trouble::Input(format!("{fact}; with --quick it shows whether it works")));
        }
        let most = workers.map_or_else(|| dahl::Topology::of_this_machine().cores(), usize::from);
        let Measured { machine, no_power } = measure(most, quick, seed, output)?;
        (machine, no_power)
    } else {
        let read = |path: &PathBuf| crate::trace::read(path);
        let runs = traces.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let names: Vec<String> = traces.iter().map(|path| path.display().to_string()).collect();
        let wrong = |fact: String| Trouble::Input(format!("{}: {fact}", names.join(", ")));
        let fact = "a trace does not say when its workers were idle and what the machine used then";
        (calibration::machine(&runs).map_err(wrong)?, Some(fact.to_owned()))
    };
    let traces = traces.clone();
    let machine = text(&machine)?;
    output.show(&Report { host: super::host(), traces, no_power, machine })
}

/// The text of a machine file.
pub(crate) fn text(machine: &Machine) -> Result<String, Trouble> {
    toml::to_string(machine).map_err(|error| Trouble::Failed(format!("the machine file: {error}")))
}

/// A machine that was measured, and why its power was not.
pub(crate) struct Measured {
    pub(crate) machine: Machine,
    pub(crate) no_power: Option<String>,
}

/// Runs programs on one worker and on all, and describes the machine by what they took.
pub(crate) fn measure(workers: usize, quick: bool, seed: u64, output: &Output) -> Result<Measured, Trouble> {
    let folder =
        tempfile::tempdir().map_err(|error| Trouble::Failed(format!("a folder for traces: {error}")))?;
    let data = FashionMnist::embedded()?;
    let workloads = Workload::measured(quick);
    let counts: Vec<usize> = if workers > 1 { vec![1, workers] } else { vec![1] };
    let progress = output.progress(counts.len() * workloads.len(), "calibrate");
    let mut traces = Vec::new();
    let mut energy = Energy::default();
    for &count in &counts {
        for workload in &workloads {
            progress.begin(format!("{} on {count} workers", workload.name()));
            // A later run does not overwrite the trace of an earlier one of the process.
            let path = folder.path().join(format!("{}.json", traces.len()));
            let rt = unchecked().cpu_workers(count).trace(&path).build()?;
            let mark = rt.energy_mark();
            workload.run(&rt, &data, seed)?;
            let joules = rt.energy_since(&mark);
            drop(rt);
            let trace = read(&path)?;
            energy.add(&trace, &joules);
            traces.push(trace);
            progress.done();
        }
    }
    let wrong = |fact: String| Trouble::Failed(format!("the runs: {fact}"));
    let mut machine = calibration::machine(&traces).map_err(wrong)?;
    let no_power = energy.describe(&mut machine, workers);
    Ok(Measured { machine, no_power })
}

fn read(path: &Path) -> Result<Trace, Trouble> {
    Trace::read(path).map_err(|error| Trouble::Failed(error.to_string()))
}

/// The energy of runs, as `idle watts x seconds + watts x seconds of busy workers`.
#[derive(Default)]
struct Energy {
    /// Seconds, seconds of all workers while they ran tasks, and joules.
    runs: Vec<[f64; 3]>,
    /// Why a run's energy is not known.
    absence: Option<String>,
}

impl Energy {
    fn add(&mut self, trace: &Trace, joules: &dahl::energy::Joules) {
        let busy_ns: u64 = trace.tasks().iter().map(|task| task.duration_ns).sum();
        match joules.value() {
            Some(joules) => self.runs.push([trace.duration_ns() as f64 / 1e9, busy_ns as f64 / 1e9, joules]),
            None => self.absence = Some(joules.to_string()),
        }
    }

    /// Adds the power of a worker to the machine: an idle one has its part of the idle power. Else says why it is not known.
    fn describe(&self, machine: &mut Machine, workers: usize) -> Option<String> {
        if let Some(absence) = &self.absence {
            return Some(absence.clone());
        }
        let [mut ii, mut ib, mut bb, mut ij, mut bj] = [0.0; 5];
        for [seconds, busy, joules] in &self.runs {
            (ii, ib, bb) = (ii + seconds * seconds, ib + seconds * busy, bb + busy * busy);
            (ij, bj) = (ij + seconds * joules, bj + busy * joules);
        }
        let determinant = ii * bb - ib * ib;
        let (idle, busy) = ((ij * bb - bj * ib) / determinant, (bj * ii - ij * ib) / determinant);
        if !(idle.is_finite() && idle >= 0.0 && busy.is_finite() && busy >= 0.0) {
            return Some(
                "idle power and that of tasks could not be told apart: more workers do that".to_owned(),
            );
        }
        let idle = idle / workers as f64;
        (machine.cpu.idle_watts, machine.cpu.watts) = (Some(idle), Some(idle + busy));
        None
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, traces, no_power, machine, .. } = self;
        let of = if traces.is_empty() {
            "programs of its own".to_owned()
        } else {
            format!("{} traces", traces.len())
        };
        writeln!(f, "# {host}, measured by `dahl machine calibrate` with {of}.")?;
        if let Some(fact) = no_power {
            writeln!(f, "# It has no watts: {}", fact.replace('\n', "\n# "))?;
        }
        f.write_str(machine)
    }
}

#[cfg(test)]
mod tests {
    use dahl::Machine;

    use super::Energy;

    #[test]
    fn power_is_told_apart_by_runs_that_are_busy_to_different_degrees() {
        let run = |seconds: f64, busy: f64| [seconds, busy, 6.0 * seconds + 10.0 * busy];
        let energy = Energy { runs: vec![run(1.0, 0.9), run(1.0, 1.8), run(2.0, 3.0)], absence: None };
        let mut machine = Machine::default();
        assert_eq!(energy.describe(&mut machine, 2), None);
        let close =
            |watts: Option<f64>, expected: f64| watts.is_some_and(|watts| (watts - expected).abs() < 1e-6);
        assert!(close(machine.cpu.idle_watts, 3.0) && close(machine.cpu.watts, 13.0), "{:?}", machine.cpu);
        let same = Energy { runs: vec![run(1.0, 1.0), run(1.0, 1.0)], absence: None };
        assert!(same.describe(&mut Machine::default(), 2).is_some());
        let unknown = Energy { runs: Vec::new(), absence: Some("no counters".to_owned()) };
        assert_eq!(unknown.describe(&mut Machine::default(), 2).as_deref(), Some("no counters"));
    }
}
