//! Studies: commands that answer one question each, and write the results: tables, figures, and their origin.
//!
//! Each study is a file, which defines the variants, the measurements of each, and the figures. Rounds and medians are
//! in `rounds`, the files in `results`, the style of figures in `plot`, the programs in `programs`. `docs/studies`
//! describes the results.

mod batch_size;
mod element_type;
mod energy;
mod environment;
mod fast_device;
mod findings;
mod frameworks;
mod granularity;
mod idle;
mod layers;
mod plot;
pub(crate) mod programs;
mod ranks;
mod results;
mod rounds;
mod scheduler;
mod session;
mod simulation;
mod softmax;
mod workers;

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use crate::choices::unknown;
use crate::output::{HEADING, Output};
use crate::trouble::Trouble;
use findings::Findings;
use results::{About, Checkout, Folder};
use session::Session;
pub(crate) use session::Settings;

/// All studies, in the order of the page that shows them.
const STUDIES: [&Study; 13] = [
    &granularity::STUDY,
    &batch_size::STUDY,
    &element_type::STUDY,
    &workers::STUDY,
    &scheduler::STUDY,
    &softmax::STUDY,
    &layers::STUDY,
    &fast_device::STUDY,
    &idle::STUDY,
    &simulation::STUDY,
    &energy::STUDY,
    &ranks::STUDY,
    &frameworks::STUDY,
];

/// A study.
pub(crate) struct Study {
    pub(crate) name: &'static str,
    /// Its question, in one line.
    pub(crate) question: &'static str,
    pub(crate) time: Time,
    /// The default number of rounds.
    pub(crate) rounds: usize,
    run: fn(&mut Session<'_>) -> Result<Findings, Trouble>,
}

/// The kind of time that a study measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Time {
    /// Real time on this machine: medians, with their spread.
    Real,
    /// Virtual time of simulated machines: exact, and the same on every machine.
    Virtual,
    /// Both, in separate tables.
    Both,
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Real => "real",
            Self::Virtual => "virtual",
            Self::Both => "both",
        })
    }
}

/// The arguments of `dahl study`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  dahl study                          lists the studies
  dahl study granularity              runs one; its files go to results/DATE-granularity-COMMIT
  dahl study softmax --rounds 15      more rounds
  dahl study idle --quick --out /tmp/idle
  dahl study frameworks --python target/pytorch/bin/python")]
pub(crate) struct Arguments {
    /// The study's name; without one, all are listed.
    name: Option<String>,
    /// Lists the studies.
    #[arg(long)]
    list: bool,
    /// The folder for the files; those of an earlier run there are written anew.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Measures little: to see in seconds whether a study works.
    #[arg(long)]
    quick: bool,
    /// The seed of random numbers.
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Rounds of measuring in real time; each study has a number of its own.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// The most CPU workers in real time [default: one for each core].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1024))]
    workers: Option<u32>,
    /// Of `frameworks`: a Python that has PyTorch [default: python3, if it has].
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Trains as this file says: `frameworks` starts itself so, for each training in dahl.
    #[arg(long, value_name = "FILE", hide = true)]
    train: Option<PathBuf>,
}

/// Runs a study, or lists them.
pub(crate) fn run(arguments: &Arguments, output: &Output) -> Result<(), Trouble> {
    let Some(name) = arguments.name.as_ref().filter(|_| !arguments.list) else {
        return output.show(&Listing::new());
    };
    let Some(study) = STUDIES.into_iter().find(|study| study.name == name) else {
        let names: Vec<String> = STUDIES.iter().map(|study| study.name.to_owned()).collect();
        return Err(unknown("study", name, "dahl", &names));
    };
    if study.name == frameworks::STUDY.name
        && let Some(settings) = &arguments.train
    {
        return frameworks::train_alone(settings);
    }
    if let (Some(python), true) = (&arguments.python, study.name != frameworks::STUDY.name) {
        return Err(Trouble::Input(format!(
            "--python {}: the study `{name}` runs no Python; `frameworks` does",
            python.display()
        )));
    }
    let settings = Settings {
        seed: arguments.seed,
        rounds: arguments
            .rounds
            .map_or(if arguments.quick { 2 } else { study.rounds }, |rounds| rounds as usize),
        workers: arguments
            .workers
            .map_or_else(|| dahl::Topology::of_this_machine().cores(), |workers| workers as usize),
        is_quick: arguments.quick,
    };
    if cfg!(debug_assertions) && !arguments.quick {
        return Err(slow_build(name));
    }
    environment::leave(output)?;
    let checkout = Checkout::of_this_build();
    let about = About::of(study, &settings, &checkout);
    let folder = match &arguments.out {
        Some(path) => Folder::at(path)?,
        None => Folder::new(study.name, about.date(), &checkout.short())?,
    };
    let mut session = Session::new(settings, &folder, about, output, arguments.python.as_deref());
    let findings = (study.run)(&mut session)?;
    let about = session.end();
    let provenance = provenance(study, &settings, &about);
    folder.text("summary.md", &format!("{findings}\n{provenance}\n"))?;
    folder.text("about.toml", &about.text()?)?;
    output.show(&Report { study: study.name, folder: folder.path().to_owned(), findings, provenance })
}

/// The error of a build without optimisation, which would measure nothing useful.
fn slow_build(study: &str) -> Trouble {
    Trouble::Input(format!(
        "this is a debug build, whose times say nothing: `cargo run --release -p dahl-cli -- study {study}`; \
         with --quick it shows whether the study works"
    ))
}

/// The line below a study's tables. For virtual time it is the same if the sources are.
fn provenance(study: &Study, settings: &Settings, about: &About) -> String {
    let (rounds, build, machine) = (settings.rounds, about.build(), about.machine());
    let plural = if rounds == 1 { "" } else { "s" };
    let line = match study.time {
        Time::Virtual => format!("Virtual time: exact, and the same on every machine; {build}."),
        Time::Real => {
            format!("{rounds} round{plural} in turn, medians; {build}. {machine}.")
        }
        Time::Both => {
            format!("Real time: {rounds} round{plural} in turn; {build}. {machine}. Virtual time is exact.")
        }
    };
    if settings.is_quick { format!("{line}\n\nquick: shows only that it works.") } else { line }
}

/// The list of studies.
#[derive(Serialize)]
struct Listing {
    studies: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    name: &'static str,
    question: &'static str,
    time: String,
}

impl Listing {
    fn new() -> Self {
        let listed = |study: &Study| Listed {
            name: study.name,
            question: study.question,
            time: study.time.to_string(),
        };
        Self { studies: STUDIES.into_iter().map(listed).collect() }
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADING}{:<14} {:<8} question{HEADING:#}", "study", "time")?;
        for Listed { name, question, time } in &self.studies {
            writeln!(f, "{name:<14} {time:<8} {question}")?;
        }
        Ok(())
    }
}

/// The findings of a study, and the folder of its files.
#[derive(Serialize)]
struct Report {
    study: &'static str,
    folder: PathBuf,
    findings: Findings,
    provenance: String,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n{}\n\n{HEADING}{}{HEADING:#}", self.findings, self.provenance, self.folder.display())
    }
}
