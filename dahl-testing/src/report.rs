//! [`Summary`]: the measurements of a comparison; and the report, a table of all of them, as Markdown and JSON.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::{env, fs, io};

use serde_json::json;

use super::bound::Judgement;
use super::failure::Failure;
use super::format::Format;

/// The reference of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// `reference = PATH`: independent code.
    Independent,
    /// The same declaration in double-double arithmetic: an error in the formula itself is not found.
    SelfConsistency,
    /// None: variants and kernels were compared with each other.
    Absent,
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Independent => "independent",
            Self::SelfConsistency => "self-consistency only",
            Self::Absent => "none",
        })
    }
}

/// The result of a comparison.
pub type Compared = Result<Summary, Box<Failure>>;

/// The errors of an operation in one element type.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The operation.
    pub op: String,
    /// The element type.
    pub element: &'static str,
    /// The reference.
    pub reference: Reference,
    /// The kernels that ran.
    pub kernels: Vec<&'static str>,
    /// The number of results that were compared.
    pub results: u64,
    /// The largest error in units in the last place of the element type.
    pub max_ulps: f64,
    /// The mean error in the same units.
    pub mean_ulps: f64,
    /// The largest relative error, of results that are not zero or subnormal.
    pub max_relative: f64,
    /// The largest absolute error.
    pub max_absolute: f64,
    /// The largest error relative to its bound.
    pub bound_fraction: f64,
    /// The largest error in units of the compute type's roundoff, without the rounding to the element type. It is about
    /// the same for every element type.
    pub units: f64,
}

/// The errors of an operation's gradient in one element type.
#[derive(Clone, Debug, Default)]
pub struct GradientSummary {
    /// The test.
    pub op: String,
    /// The operation.
    pub codelet: &'static str,
    /// The element type.
    pub element: &'static str,
    /// The number of elements that were compared.
    pub results: u64,
    /// The largest error relative to its bound.
    pub bound_fraction: f64,
    /// The largest error in units in the last place of the element type.
    pub max_ulps: f64,
}

/// The variable that names the directory of reports.
const DIRECTORY: &str = "DAHL_NUMERICS_REPORT";

static SUMMARIES: Mutex<BTreeMap<(String, &'static str), Summary>> = Mutex::new(BTreeMap::new());

/// Adds a summary to the report of `package`, `DAHL_NUMERICS_REPORT/package.md` and `.json`, if that variable is set.
///
/// # Errors
/// If the files cannot be written.
pub fn record(package: &str, summary: Summary) -> io::Result<()> {
    let Some(directory) = env::var_os(DIRECTORY).map(PathBuf::from) else { return Ok(()) };
    let mut summaries = SUMMARIES.lock().unwrap_or_else(PoisonError::into_inner);
    summaries.insert((summary.op.clone(), summary.element), summary);
    fs::create_dir_all(&directory)?;
    let all: Vec<&Summary> = summaries.values().collect();
    dahl_files::save(directory.join(format!("{package}.md")), markdown(&all))?;
    dahl_files::save(directory.join(format!("{package}.json")), json(&all))
}

static GRADIENTS: Mutex<BTreeMap<(String, &'static str), GradientSummary>> = Mutex::new(BTreeMap::new());

/// Adds the errors of gradients to the report of `package`, `DAHL_NUMERICS_REPORT/package.gradients.json`, if that variable is
/// set.
///
/// # Errors
/// If the file cannot be written.
pub fn record_gradients(package: &str, found: Vec<GradientSummary>) -> io::Result<()> {
    let Some(directory) = env::var_os(DIRECTORY).map(PathBuf::from) else { return Ok(()) };
    let mut all = GRADIENTS.lock().unwrap_or_else(PoisonError::into_inner);
    all.extend(found.into_iter().map(|summary| ((summary.op.clone(), summary.element), summary)));
    let line = |summary: &GradientSummary| {
        json!({
            "op": summary.op,
            "codelet": summary.codelet,
            "element": summary.element,
            "results": summary.results,
            "bound_fraction": summary.bound_fraction,
            "max_ulps": summary.max_ulps,
        })
    };
    let lines: Vec<_> = all.values().map(line).collect();
    fs::create_dir_all(&directory)?;
    dahl_files::save(directory.join(format!("{package}.gradients.json")), format!("{:#}\n", json!(lines)))
}

/// A table with a line for each operation: for each element type the largest and the mean error in ULP, and the largest
/// error relative to its bound.
pub fn markdown(summaries: &[&Summary]) -> String {
    let mut elements: Vec<&str> = Vec::new();
    let mut ops: Vec<(&str, Vec<&Summary>)> = Vec::new();
    for &summary in summaries {
        if !elements.contains(&summary.element) {
            elements.push(summary.element);
        }
        match ops.iter_mut().find(|(op, _)| *op == summary.op) {
            Some((_, rows)) => rows.push(summary),
            None => ops.push((&summary.op, vec![summary])),
        }
    }
    let mut text = "| op | reference | results |".to_owned();
    let mut rule = "|---|---|---:|".to_owned();
    for element in &elements {
        let _ = write!(text, " {element}: max | mean | of bound |");
        rule += "---:|---:|---:|";
    }
    let _ = write!(text, "\n{rule}\n");
    for (op, rows) in ops {
        let results: u64 = rows.iter().map(|row| row.results).sum();
        let _ = write!(text, "| `{op}` | {} | {results} |", rows[0].reference);
        for element in &elements {
            match rows.iter().find(|row| row.element == *element) {
                Some(Summary { max_ulps, mean_ulps, bound_fraction, .. }) => {
                    let [max, mean, fraction] =
                        [max_ulps, mean_ulps, bound_fraction].map(|&x| significant(x));
                    let _ = write!(text, " {max} | {mean} | {fraction} |");
                }
                None => text += " | | |",
            }
        }
        text.push('\n');
    }
    text
}

/// A number with a few digits.
fn significant(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        0.01..1000.0 => format!("{value:.2}"),
        _ => format!("{value:.0e}"),
    }
}

/// All numbers, in full.
pub fn json(summaries: &[&Summary]) -> String {
    let lines: Vec<_> = summaries
        .iter()
        .map(|summary| {
            json!({
                "op": summary.op,
                "element": summary.element,
                "reference": summary.reference.to_string(),
                "kernels": summary.kernels,
                "results": summary.results,
                "max_ulps": summary.max_ulps,
                "mean_ulps": summary.mean_ulps,
                "max_relative": summary.max_relative,
                "max_absolute": summary.max_absolute,
                "bound_fraction": summary.bound_fraction,
                "units": summary.units,
            })
        })
        .collect();
    format!("{:#}\n", json!(lines))
}

/// The errors of the results so far.
#[derive(Clone, Debug, Default)]
pub(super) struct ErrorStatistics {
    pub(super) results: u64,
    pub(super) max_ulps: f64,
    pub(super) sum_ulps: f64,
    pub(super) max_relative: f64,
    pub(super) max_absolute: f64,
    pub(super) bound_fraction: f64,
    pub(super) units: f64,
}

impl ErrorStatistics {
    /// Counts a result that is right.
    pub(super) fn add(&mut self, judgement: &Judgement, expected: f64, got: f64, format: Format) {
        self.results += 1;
        self.max_ulps = self.max_ulps.max(judgement.ulps);
        self.sum_ulps += judgement.ulps;
        self.units = self.units.max(judgement.units);
        if judgement.bound_ulps > 0.0 {
            self.bound_fraction = self.bound_fraction.max(judgement.ulps / judgement.bound_ulps);
        }
        let error = (got - expected).abs();
        if error.is_finite() {
            self.max_absolute = self.max_absolute.max(error);
            if expected.abs() >= format.smallest_normal() {
                self.max_relative = self.max_relative.max(error / expected.abs());
            }
        }
    }
}
