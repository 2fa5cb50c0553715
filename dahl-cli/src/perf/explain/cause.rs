//! [`Cause`]: a property in which tasks of a codelet differ, and its effect on their duration.

use std::collections::BTreeMap;
use std::fmt;

use dahl::History;
use serde::Serialize;

use crate::perf::family::{self, Family, footprint, later_calls};

/// A property in which tasks differ, and the comparison in which it makes the largest difference. All other properties
/// agree in it.
#[derive(Debug, Serialize)]
pub(super) struct Cause {
    pub(super) what: What,
    /// The ratio of `most` to `least`.
    pub(super) factor: f64,
    pub(super) least: Side,
    pub(super) most: Side,
    /// The properties that agree.
    pub(super) among: String,
}

/// A side of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Side {
    pub(super) us: f64,
    pub(super) at: String,
}

/// A property in which tasks of a codelet differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum What {
    /// The extents of the arrays: compares medians.
    Footprint,
    /// Compares medians.
    Kernel,
    /// Compares medians.
    ElementType,
    /// Compares medians, of each kind's fastest kernel.
    WorkerKind,
    /// Compares the mean of first calls with the median.
    FirstCall,
    /// Two median absolute deviations, scaled as a standard deviation, about the median of the last calls.
    Spread,
    /// Compares the longest call with the median.
    Outlier,
}

/// A history of the codelet, with the properties that causes compare.
struct Sample<'h> {
    history: &'h History,
    footprint: String,
    elements: String,
}

/// The causes, the largest first.
pub(super) fn causes<'s: 'f, 'f>(families: impl Iterator<Item = &'f Family<'s>>) -> Vec<Cause> {
    let histories = families.flat_map(|family| family.histories.iter().copied());
    let samples: Vec<_> = histories
        .map(|history| Sample {
            history,
            footprint: footprint(history),
            elements: family::elements(&history.elements),
        })
        .collect();
    let warm: Vec<_> = samples.iter().filter(|sample| later_calls(sample.history) > 0).collect();
    let (kernel, kind) =
        (|s: &Sample<'_>| s.history.kernel.clone(), |s: &Sample<'_>| s.history.worker_kind.clone());
    let elements = |s: &Sample<'_>| s.elements.clone();
    let footprint = |s: &Sample<'_>| s.footprint.clone();
    let mut causes: Vec<_> = [
        largest(What::Footprint, &warm, footprint, |s| {
            format!("{} on {}, {}", kernel(s), kind(s), elements(s))
        }),
        largest(What::Kernel, &warm, kernel, |s| {
            format!("{}, {}, on {}", footprint(s), elements(s), kind(s))
        }),
        largest(What::ElementType, &warm, elements, |s| {
            format!("{}, {} on {}", footprint(s), kernel(s), kind(s))
        }),
        largest(What::WorkerKind, &warm, kind, |s| format!("{}, {}", footprint(s), elements(s))),
        first_call(&samples),
        spread(&warm),
        outlier(&warm),
    ]
    .into_iter()
    .flatten()
    .collect();
    causes.sort_by(|a, b| b.factor.total_cmp(&a.factor));
    causes
}

/// Among samples with the same `among`, the largest factor between medians that differ in `label`. The fastest of the
/// samples with the same label counts.
fn largest(
    what: What,
    samples: &[&Sample<'_>],
    label: impl Fn(&Sample<'_>) -> String,
    among: impl Fn(&Sample<'_>) -> String,
) -> Option<Cause> {
    let mut groups: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    for sample in samples {
        let fastest = groups.entry(among(sample)).or_default().entry(label(sample)).or_insert(f64::MAX);
        *fastest = fastest.min(sample.history.median_us);
    }
    let compared = groups.into_iter().filter(|(_, sides)| sides.len() > 1).filter_map(|(among, sides)| {
        let sides = || sides.iter().map(|(at, &us)| Side { us, at: at.clone() });
        let by_time = |a: &Side, b: &Side| a.us.total_cmp(&b.us);
        Cause::new(what, sides().min_by(by_time)?, sides().max_by(by_time)?, among)
    });
    compared.max_by(|a, b| a.factor.total_cmp(&b.factor))
}

/// The first calls that are slowest compared with the median of later calls.
fn first_call(samples: &[Sample<'_>]) -> Option<Cause> {
    let of = |sample: &Sample<'_>| {
        let first = Side { us: sample.history.first_us?, at: "first calls".to_owned() };
        let later = Side { us: sample.history.median_us, at: "later ones".to_owned() };
        (later_calls(sample.history) > 0).then(|| Cause::new(What::FirstCall, later, first, sample.all()))?
    };
    samples.iter().filter_map(of).max_by(|a, b| a.factor.total_cmp(&b.factor))
}

fn spread(samples: &[&Sample<'_>]) -> Option<Cause> {
    let of = |sample: &&Sample<'_>| {
        let (median, spread) = (sample.history.median_us, sample.history.spread_us);
        let least =
            Side { us: (median - spread).max(sample.history.min_us), at: "median - spread".to_owned() };
        let most =
            Side { us: (median + spread).min(sample.history.max_us), at: "median + spread".to_owned() };
        Cause::new(What::Spread, least, most, sample.all())
    };
    samples.iter().filter_map(of).max_by(|a, b| a.factor.total_cmp(&b.factor))
}

fn outlier(samples: &[&Sample<'_>]) -> Option<Cause> {
    let of = |sample: &&Sample<'_>| {
        let median = Side { us: sample.history.median_us, at: "median".to_owned() };
        let longest = Side { us: sample.history.max_us, at: "longest call".to_owned() };
        Cause::new(What::Outlier, median, longest, sample.all())
    };
    samples.iter().filter_map(of).max_by(|a, b| a.factor.total_cmp(&b.factor))
}

impl Sample<'_> {
    /// All properties of a history.
    fn all(&self) -> String {
        let Self { history, footprint, elements } = self;
        format!("{footprint}, {elements}, {} on {}", history.kernel, history.worker_kind)
    }
}

impl Cause {
    /// None if there is no difference, or if one side takes no time.
    fn new(what: What, least: Side, most: Side, among: String) -> Option<Self> {
        let factor = most.us / least.us;
        (least.us > 0.0 && factor > 1.0).then_some(Self { what, factor, least, most, among })
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Footprint => "footprint",
            Self::Kernel => "kernel",
            Self::ElementType => "element type",
            Self::WorkerKind => "kind of worker",
            Self::FirstCall => "first call",
            Self::Spread => "spread",
            Self::Outlier => "longest call",
        })
    }
}
