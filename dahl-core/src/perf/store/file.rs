//! [`CodeletFile`] and [`TransferFile`]: the file formats of the store.

use std::collections::HashMap;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::entry::Earlier;
use super::super::history::History;
use super::super::samples::{Totals, WINDOW};
use super::super::statistics::Window;
use super::super::warnings::Warnings;
use super::super::work::Work;
use super::aside::set_aside;

/// The version of the files' format.
pub(super) const VERSION: u32 = 1;

/// The stored histories of one codelet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CodeletFile {
    pub(super) version: u32,
    pub(super) codelet: String,
    pub(super) module: String,
    #[serde(default)]
    pub(super) history: Vec<StoredHistory>,
}

/// A kernel on a kind of worker with one footprint. Times exclude first calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredHistory {
    /// In hexadecimal digits.
    pub(super) declaration: String,
    pub(super) kernel: String,
    pub(super) worker_kind: String,
    pub(super) elements: Vec<String>,
    pub(super) footprint: Vec<Vec<usize>>,
    pub(super) flops: Option<f64>,
    pub(super) bytes: f64,
    /// The number of all tasks.
    pub(super) count: u64,
    pub(super) first_calls: u64,
    pub(super) first_us: Option<f64>,
    pub(super) median_us: Option<f64>,
    pub(super) spread_us: Option<f64>,
    pub(super) mean_us: Option<f64>,
    pub(super) deviation_us: Option<f64>,
    pub(super) min_us: Option<f64>,
    pub(super) max_us: Option<f64>,
    /// The last durations, the newest first.
    pub(super) recent_us: Vec<f64>,
}

/// The indices of a file's histories, found in constant time.
#[derive(Debug, Default)]
pub(super) struct Places {
    hasher: RandomState,
    /// By the hash of their keys: the histories with that hash, nearly always one.
    places: HashMap<u64, Vec<usize>>,
}

/// The most tasks that a file may contain: up to this number, sums of durations count them exactly.
const MOST_TASKS: u64 = 1 << 53;

/// The stored durations of copies between memory nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TransferFile {
    pub(super) version: u32,
    #[serde(default)]
    pub(super) transfer: Vec<CopyTime>,
}

/// The durations of copies from one kind of memory to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct CopyTime {
    pub(in super::super) from: String,
    pub(in super::super) to: String,
    pub(in super::super) latency_us: f64,
    pub(in super::super) gbytes_per_s: f64,
}

/// A file of this format.
pub(super) trait Stored: DeserializeOwned {
    /// The first fact that no measurement can give.
    fn wrong(&self) -> Option<String>;
}

/// Only the version, ignoring other fields.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// The suffix for the name of an unusable file, and the reason.
pub(super) type Unusable = (&'static str, String);

/// Reads a file; none if it does not exist. An unusable file is set aside.
pub(super) fn read<F: Stored>(path: &Path, warnings: &Warnings) -> io::Result<Option<F>> {
    match examine(path)? {
        None => Ok(None),
        Some(Ok(file)) => Ok(Some(file)),
        Some(Err((reason, fact))) => {
            set_aside(path, reason, &fact, warnings)?;
            Ok(None)
        }
    }
}

/// Reads a file without moving it; none if it does not exist.
pub(super) fn examine<F: Stored>(path: &Path) -> io::Result<Option<Result<F, Unusable>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(parse(&bytes))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn parse<F: Stored>(bytes: &[u8]) -> Result<F, Unusable> {
    let corrupt = |fact: &dyn std::fmt::Display| ("corrupt", fact.to_string().trim_end().to_owned());
    let text = std::str::from_utf8(bytes).map_err(|error| corrupt(&error))?;
    let Versioned { version } = toml::from_str(text).map_err(|error| corrupt(&error))?;
    if version != VERSION {
        let fact =
            format!("it is of version {version} of the format, and this program knows version {VERSION}");
        return Err(("outdated", fact));
    }
    let file: F = toml::from_str(text).map_err(|error| corrupt(&error))?;
    file.wrong().map_or(Ok(file), |wrong| Err(corrupt(&wrong)))
}

/// The first of these figures that is not a number of at least 0.
fn wrong_figure(figures: &[(&str, Option<f64>)]) -> Option<String> {
    let is_wrong = |figure: f64| !(figure.is_finite() && figure >= 0.0);
    let (name, figure) = figures.iter().find(|(_, figure)| figure.is_some_and(is_wrong))?;
    Some(format!("{name} = {}: expected a number from 0 on", figure.unwrap_or_default()))
}

impl Stored for CodeletFile {
    fn wrong(&self) -> Option<String> {
        let of_history = |(index, history): (usize, &StoredHistory)| {
            Some(format!("history {}: {}", index + 1, history.wrong()?))
        };
        self.history.iter().enumerate().find_map(of_history)
    }
}

impl Stored for TransferFile {
    fn wrong(&self) -> Option<String> {
        self.transfer.iter().find_map(|copy| {
            let rate = Some(copy.gbytes_per_s).filter(|rate| *rate > 0.0).or(Some(f64::NAN));
            wrong_figure(&[("latency_us", Some(copy.latency_us)), ("gbytes_per_s", rate)])
        })
    }
}

impl CodeletFile {
    pub(super) fn new(codelet: &str, module: &str) -> Self {
        let (codelet, module) = (codelet.to_owned(), module.to_owned());
        Self { version: VERSION, codelet, module, history: Vec::new() }
    }

    /// The name of the file of a codelet.
    pub(super) fn name(codelet: &str, module: &str) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let name = format!("{}.{codelet}", module.replace("::", "."));
        name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect::<String>() + ".toml"
    }

    pub(super) fn text(&self) -> String {
        toml::to_string(self).expect("histories are plain data")
    }

    /// Its histories, for display.
    pub(super) fn histories(&self) -> impl Iterator<Item = History> {
        self.history.iter().filter_map(|history| {
            let hash = u64::from_str_radix(&history.declaration, 16).ok()?;
            Some(history.history(&self.codelet, &self.module, hash))
        })
    }
}

impl StoredHistory {
    fn wrong(&self) -> Option<String> {
        if self.count > MOST_TASKS {
            return Some(format!("count = {}: expected a number up to {MOST_TASKS}", self.count));
        }
        let durations = self.count.checked_sub(self.first_calls);
        if durations.is_none_or(|durations| durations < self.recent_us.len() as u64) {
            let (count, first, recent) = (self.count, self.first_calls, self.recent_us.len());
            return Some(format!("count = {count}, with first_calls = {first} and {recent} recent_us"));
        }
        let recent_us = self.recent_us.iter().map(|&us| ("recent_us", Some(us)));
        let figures = [
            ("flops", self.flops),
            ("bytes", Some(self.bytes)),
            ("first_us", self.first_us),
            ("median_us", self.median_us),
            ("spread_us", self.spread_us),
            ("mean_us", self.mean_us),
            ("deviation_us", self.deviation_us),
            ("min_us", self.min_us),
            ("max_us", self.max_us),
        ];
        wrong_figure(&figures.into_iter().chain(recent_us).collect::<Vec<_>>())
    }

    /// Whether both are for one footprint of one kernel on one kind of worker.
    fn is_like(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }

    /// Its key among the histories of its codelet.
    fn identity(&self) -> (&str, &str, &str, &[String], &[Vec<usize>]) {
        (&self.declaration, &self.kernel, &self.worker_kind, &self.elements, &self.footprint)
    }

    pub(super) fn work(&self) -> Work {
        Work { flops: self.flops, bytes: self.bytes }
    }

    /// Its durations, as sums.
    pub(super) fn earlier(&self) -> Earlier {
        let count = self.count - self.first_calls;
        let ns = |us: Option<f64>| us.unwrap_or(0.0) * 1e3;
        let (mean, deviation) = (ns(self.mean_us), ns(self.deviation_us));
        let totals = Totals {
            first_calls: self.first_calls,
            first_ns: ns(self.first_us) * self.first_calls as f64,
            count,
            sum_ns: mean * count as f64,
            squares: (mean * mean + deviation * deviation) * count as f64,
            min_ns: ns(self.min_us),
            max_ns: ns(self.max_us),
        };
        Earlier { totals, recent: self.recent_us.iter().map(|us| (us * 1e3).round() as u64).collect() }
    }

    /// Sets its durations from sums.
    pub(super) fn set(&mut self, earlier: &Earlier) {
        let Earlier { totals, recent } = earlier;
        let us = |ns: f64| ns / 1e3;
        let is_measured = totals.count > 0;
        let mean_and_deviation = totals.mean_and_deviation_ns();
        let mut window = Window::new();
        recent.iter().take(WINDOW).for_each(|&ns| window.push(ns));
        let median_and_spread = window.median_and_spread();
        self.count = totals.tasks();
        self.first_calls = totals.first_calls;
        self.first_us = totals.first_mean_ns().map(us);
        self.median_us = median_and_spread.map(|(median, _)| us(median));
        self.spread_us = median_and_spread.map(|(_, spread)| us(spread));
        self.mean_us = mean_and_deviation.map(|(mean, _)| us(mean));
        self.deviation_us = mean_and_deviation.map(|(_, deviation)| us(deviation));
        self.min_us = is_measured.then(|| us(totals.min_ns));
        self.max_us = is_measured.then(|| us(totals.max_ns));
        self.recent_us = recent.iter().take(WINDOW).map(|&ns| us(ns as f64)).collect();
    }

    /// The history, for display.
    fn history(&self, codelet: &str, module: &str, declaration: u64) -> History {
        let first = self.first_us.unwrap_or(0.0);
        let or_first = |us: Option<f64>| us.unwrap_or(first);
        History {
            codelet: codelet.to_owned(),
            module: module.to_owned(),
            declaration,
            kernel: self.kernel.clone(),
            worker_kind: self.worker_kind.clone(),
            elements: self.elements.clone(),
            footprint: self.footprint.clone(),
            count: self.count,
            median_us: or_first(self.median_us),
            spread_us: self.spread_us.unwrap_or(0.0),
            first_calls: self.first_calls,
            first_us: self.first_us,
            mean_us: or_first(self.mean_us),
            deviation_us: self.deviation_us.unwrap_or(0.0),
            min_us: or_first(self.min_us),
            max_us: or_first(self.max_us),
            flops: self.flops,
            bytes: self.bytes,
        }
    }
}

impl Places {
    /// The indices of all histories.
    pub(super) fn of(histories: &[StoredHistory]) -> Self {
        let mut places = Self::default();
        histories.iter().enumerate().for_each(|(place, history)| places.add(place, history));
        places
    }

    /// Adds the index of one history.
    pub(super) fn add(&mut self, place: usize, history: &StoredHistory) {
        self.places.entry(self.hasher.hash_one(history.identity())).or_default().push(place);
    }

    /// The index of the first one with the same key as `history`.
    pub(super) fn find(&self, histories: &[StoredHistory], history: &StoredHistory) -> Option<usize> {
        let places = self.places.get(&self.hasher.hash_one(history.identity()))?;
        places.iter().copied().find(|&place| histories[place].is_like(history))
    }
}

impl TransferFile {
    pub(super) fn new(transfer: Vec<CopyTime>) -> Self {
        Self { version: VERSION, transfer }
    }

    pub(super) fn text(&self) -> String {
        toml::to_string(self).expect("durations are plain data")
    }
}

/// The text of a declaration's hash.
pub(super) fn declaration(hash: u64) -> String {
    format!("{hash:016x}")
}
