//! [`About`]: the origin of a study's figures.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use serde::Serialize;

use super::Checkout;
use crate::study::{Settings, Study, environment};
use crate::trouble::Trouble;

/// Stands for something that is not known.
const ABSENT: &str = "absent";

/// The content of `about.toml`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct About {
    study: String,
    question: String,
    /// `real`, or `virtual` for a study with exact figures.
    time: String,
    command: String,
    started: String,
    ended: String,
    /// Settings of the environment that were removed and did not reach the study.
    ignored: Vec<String>,
    #[serde(skip)]
    short: String,
    settings: BTreeMap<String, toml::Value>,
    sources: Sources,
    machine: Machine,
}

/// The sources that ran.
#[derive(Clone, Debug, Serialize)]
struct Sources {
    version: String,
    /// The commit of the checkout when the study began.
    commit: String,
    committed: String,
    /// `clean`, or `dirty` if files differ from the commit.
    tree: String,
    /// When the command was built: if before `committed`, perhaps from other sources.
    built: String,
    build: String,
    rustc: String,
    /// The file that fixes the tools of the build, and a hash of it (FNV-1a).
    flake: String,
}

/// The machine.
#[derive(Clone, Debug, Serialize)]
struct Machine {
    host: String,
    os: String,
    cpu: String,
    cores: usize,
    /// Processors that the process may use.
    processors: usize,
    instruction_set: String,
    /// The mean number of running or waiting processes in the minute before the study.
    load_at_start: String,
    /// The same in its last minute.
    load_at_end: String,
}

fn line_of(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn or_absent(fact: Option<String>) -> String {
    fact.unwrap_or_else(|| ABSENT.to_owned())
}

/// The current load of the machine.
fn load() -> String {
    or_absent(line_of("/proc/loadavg").and_then(|line| Some(line.split(' ').next()?.to_owned())))
}

/// The lock file of the checkout's flake, or without one the flake.
fn flake() -> Option<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    ["flake.lock", "flake.nix"].iter().find_map(|name| {
        let text = fs::read(folder.join(name)).ok()?;
        let hash = text.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Some(format!("{name} {hash:016x}"))
    })
}

fn seconds(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string()
}

impl Sources {
    fn new(checkout: &Checkout) -> Self {
        let built = std::env::current_exe().and_then(fs::metadata).and_then(|metadata| metadata.modified());
        let tree = checkout.is_dirty.map(|is_dirty| if is_dirty { "dirty" } else { "clean" });
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: or_absent(checkout.commit.clone()),
            committed: or_absent(checkout.committed.clone()),
            tree: or_absent(tree.map(str::to_owned)),
            built: or_absent(built.ok().map(seconds)),
            build: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
            rustc: env!("STUDY_RUSTC").to_owned(),
            flake: or_absent(flake()),
        }
    }
}

impl Machine {
    fn here() -> Self {
        let topology = dahl::Topology::of_this_machine();
        let facts = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let cpu = facts.lines().find(|line| line.starts_with("model name"));
        let cpu = cpu.and_then(|line| Some(line.split_once(':')?.1.trim().to_owned()));
        Self {
            host: or_absent(line_of("/proc/sys/kernel/hostname")),
            os: format!("{} {}", std::env::consts::OS, or_absent(line_of("/proc/sys/kernel/osrelease"))),
            cpu: or_absent(cpu),
            cores: topology.cores(),
            processors: topology.processors().len(),
            instruction_set: format!("{} {}", std::env::consts::ARCH, dahl::simd::level()),
            load_at_start: load(),
            load_at_end: String::new(),
        }
    }
}

impl About {
    /// The description of a study that begins now.
    pub(crate) fn of(study: &Study, settings: &Settings, checkout: &Checkout) -> Self {
        let values = [
            // As text: integers in TOML are signed.
            ("seed", toml::Value::from(settings.seed.to_string())),
            ("rounds", toml::Value::from(settings.rounds as i64)),
            ("workers", toml::Value::from(settings.workers as i64)),
            ("quick", toml::Value::from(settings.is_quick)),
        ];
        Self {
            study: study.name.to_owned(),
            question: study.question.to_owned(),
            time: study.time.to_string(),
            // The path of the program on this machine is irrelevant.
            command: ["dahl".to_owned()]
                .into_iter()
                .chain(std::env::args().skip(1))
                .collect::<Vec<_>>()
                .join(" "),
            started: seconds(SystemTime::now()),
            ended: String::new(),
            ignored: environment::ignored(),
            short: checkout.short(),
            settings: values.map(|(name, value)| (name.to_owned(), value)).into(),
            sources: Sources::new(checkout),
            machine: Machine::here(),
        }
    }

    /// Adds a setting that only this study has.
    pub(crate) fn setting(&mut self, name: &str, value: impl Into<toml::Value>) {
        self.settings.insert(name.to_owned(), value.into());
    }

    /// The day on which the study began, `2026-11-21`.
    pub(crate) fn date(&self) -> &str {
        &self.started[..10]
    }

    /// Records the end of the study.
    pub(crate) fn end(&mut self) {
        self.ended = seconds(SystemTime::now());
        self.machine.load_at_end = load();
    }

    /// The text of `about.toml`.
    pub(crate) fn text(&self) -> Result<String, Trouble> {
        toml::to_string(self).map_err(|error| Trouble::Failed(format!("about.toml: {error}")))
    }

    /// The machine in a few words, and its load, for pages.
    pub(crate) fn machine(&self) -> String {
        let Machine { cpu, cores, instruction_set, load_at_start, load_at_end, .. } = &self.machine;
        format!(
            "{cpu}, {cores} cores, {instruction_set}; load average {load_at_start} at the start, {load_at_end} at the end"
        )
    }

    /// The build in a few words: `release build of 1234567`.
    pub(crate) fn build(&self) -> String {
        format!("{} build of {}", self.sources.build, self.short)
    }
}
