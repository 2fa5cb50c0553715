//! `dahl plan pipeline --profile FILE`: the stages of a network on several machines.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::ValueHint;
use dahl_plan::pipeline::{self, Cluster, Error, Level, Profile, Stage, enumerate, plan, simulate};
use serde::Serialize;

use super::profile;
use crate::output::Output;
use crate::table::Table;
use crate::trouble::Trouble;
use crate::units;

/// The most pipelines that are looked at one by one, which takes less than a second.
const MOST: u64 = 1_000_000;

const EXAMPLES: &str = "\
Examples:
  dahl plan pipeline --profile profile.txt --machines 4 --bandwidth 1e9
  dahl plan pipeline --profile profile.txt --machines 4 2 --bandwidth 1e10 1e9
  dahl plan pipeline --profile profile.txt --machines 4 --bandwidth 1e9 --memory 16e9 --json";

/// The arguments of `dahl plan pipeline`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The layers with their times and sizes: PipeDream's text, or JSON.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    profile: PathBuf,
    /// How many machines there are. With several numbers, the workers of a machine first, then the machines of a rack, ..
    #[arg(long, value_name = "COUNT", num_args = 1.., required = true)]
    machines: Vec<usize>,
    /// The bytes that a machine sends or receives in a second, for each number of machines.
    #[arg(long, value_name = "BYTES", num_args = 1.., required = true)]
    bandwidth: Vec<f64>,
    /// The bytes of a worker, for the parameters and activations of all minibatches in flight.
    #[arg(long, value_name = "BYTES")]
    memory: Option<f64>,
    /// Gives each stage one machine.
    #[arg(long)]
    straight: bool,
}

/// A pipeline.
#[derive(Serialize)]
struct Report<'a> {
    profile: &'a Path,
    layers: usize,
    machines: &'a [usize],
    bandwidth_bytes_per_s: &'a [f64],
    memory_bytes: Option<f64>,
    straight: bool,
    machines_used: usize,
    seconds: f64,
    one_worker_seconds: f64,
    data_parallel_seconds: f64,
    /// `null` if there are too many.
    pipelines_enumerated: Option<u64>,
    simulation: Simulated,
    stages: Vec<Row>,
    #[serde(skip)]
    names: Vec<String>,
}

/// The plan in virtual time.
#[derive(Serialize)]
struct Simulated {
    seconds: f64,
    extra_in_flight: usize,
    rule_seconds: f64,
    agrees: bool,
}

/// A stage.
#[derive(Serialize)]
struct Row {
    layers: Vec<usize>,
    replicas: usize,
    seconds: f64,
    exchange_seconds: f64,
    parameter_bytes: f64,
    activation_bytes: f64,
    output_bytes: f64,
    in_flight: usize,
    inner: Vec<Row>,
}

impl Row {
    fn new(stage: &Stage) -> Self {
        Self {
            layers: stage.layers.clone(),
            replicas: stage.replicas,
            seconds: stage.seconds,
            exchange_seconds: stage.exchange_seconds,
            parameter_bytes: stage.parameter_bytes,
            activation_bytes: stage.activation_bytes,
            output_bytes: stage.output_bytes,
            in_flight: stage.in_flight,
            inner: stage.inner.iter().map(Self::new).collect(),
        }
    }
}

pub(crate) fn run(arguments: &Arguments, output: &Output) -> Result<(), Trouble> {
    let Arguments { profile: file, machines, bandwidth, memory, straight } = arguments;
    if machines.len() != bandwidth.len() {
        let (machines, bandwidths) = (machines.len(), bandwidth.len());
        let wrong = format!(
            "`--machines` has {machines} levels but `--bandwidth` has {bandwidths}: expected one for each"
        );
        return Err(Trouble::Input(wrong));
    }
    let profile = profile::read(file)?;
    let level = |(&machines, &bandwidth)| Level { machines, bandwidth };
    let levels = machines.iter().zip(bandwidth).map(level).collect();
    let cluster = Cluster { levels, memory: *memory, straight: *straight };
    let report = report(file, &profile, &cluster, arguments).map_err(|error| match error {
        Error::Memory { .. } => Trouble::Failed(format!("{}: {error}", file.display())),
        other => Trouble::Input(format!("{}: {other}", file.display())),
    })?;
    output.show(&report)
}

fn report<'a>(
    file: &'a Path,
    profile: &Profile,
    cluster: &Cluster,
    arguments: &'a Arguments,
) -> Result<Report<'a>, Error> {
    let plan = plan(profile, cluster)?;
    let all = enumerate(profile, cluster, MOST)?;
    if let Some(all) = all {
        assert!(all.seconds >= plan.seconds, "the dynamic program missed a plan: {all:?} {plan:?}");
    }
    let pipeline::Simulation { rule_seconds, seconds, extra, agrees, .. } = simulate(&plan, cluster);
    Ok(Report {
        profile: file,
        layers: profile.layers.len(),
        machines: &arguments.machines,
        bandwidth_bytes_per_s: &arguments.bandwidth,
        memory_bytes: arguments.memory,
        straight: arguments.straight,
        machines_used: plan.machines(),
        seconds: plan.seconds,
        one_worker_seconds: plan.one_worker_seconds,
        data_parallel_seconds: plan.data_parallel_seconds,
        pipelines_enumerated: all.map(|all| all.pipelines),
        simulation: Simulated { seconds, extra_in_flight: extra, rule_seconds, agrees },
        stages: plan.stages.iter().map(Row::new).collect(),
        names: profile.layers.iter().map(|layer| layer.name.clone()).collect(),
    })
}

impl Report<'_> {
    /// Adds the stages of a level and of those inside.
    fn rows(&self, table: &mut Table, stages: &[Row], before: &str) {
        for (index, stage) in stages.iter().enumerate() {
            let number = format!("{before}{}", index + 1);
            let (first, last) = (stage.layers[0], stage.layers[stage.layers.len() - 1]);
            let is_range = last - first + 1 == stage.layers.len();
            let count = stage.layers.len();
            table.row([
                number.clone(),
                if is_range { format!("{first}-{last}") } else { format!("{count} of {first}-{last}") },
                stage.replicas.to_string(),
                units::time(1e6 * stage.seconds),
                units::bytes(stage.output_bytes),
                stage.in_flight.to_string(),
                self.names[first].split('(').next().unwrap_or_default().to_owned(),
            ]);
            self.rows(table, &stage.inner, &format!("{number}."));
        }
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let workers: usize = self.machines.iter().product();
        let mut table = Table::new(&[
            "stage",
            "layers",
            ">replicas",
            ">a minibatch",
            ">sends",
            ">in flight",
            "begins with",
        ]);
        self.rows(&mut table, &self.stages, "");
        writeln!(f, "{table}")?;
        let Self { seconds, one_worker_seconds, data_parallel_seconds, .. } = self;
        writeln!(f, "{seconds:.9} s a minibatch on {workers} workers")?;
        writeln!(
            f,
            "{:.4} times as fast as one worker ({one_worker_seconds:.9} s)",
            one_worker_seconds / seconds
        )?;
        let factor = data_parallel_seconds / seconds;
        writeln!(f, "{factor:.4} times as fast as data parallel ({data_parallel_seconds:.9} s)")?;
        match self.pipelines_enumerated {
            Some(all) => writeln!(f, "No plan is faster: all {all} pipelines were looked at, one by one.")?,
            None => writeln!(
                f,
                "No plan is faster: the dynamic program compares all first stages of each rest of the network, and the \
                 time of a pipeline never falls if that of its rest rises. There are more than {MOST} pipelines, so \
                 that they were not looked at one by one."
            )?,
        }
        let Simulated { seconds: simulated, extra_in_flight: extra, rule_seconds, agrees } = self.simulation;
        let off = 100.0 * (simulated - seconds) / seconds;
        write!(f, "In virtual time: {simulated:.9} s a minibatch, {off:+.2} % from the plan")?;
        match (agrees, extra) {
            (true, 0) => writeln!(f, "."),
            (true, _) => writeln!(
                f,
                ", with {extra} more in flight for each stage after a worker's. Without them it waits for \
                 transfers: {rule_seconds:.9} s."
            ),
            (false, _) => writeln!(f, ". They disagree: the plan's time is too low for this network."),
        }
    }
}
