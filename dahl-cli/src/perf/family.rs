//! [`Family`]: the data of one kernel of a codelet for all footprints.

use dahl::History;
use dahl::perf::{Curve, StoredMachine};
use serde::Serialize;

use crate::units;

/// The ratio of the standard deviation to the median absolute deviation of a normal distribution.
const DEVIATIONS: f64 = 1.4826;

/// A kernel of a codelet for some element types on a kind of worker.
pub(super) struct Family<'s> {
    /// By size.
    pub(super) histories: Vec<&'s History>,
    pub(super) curve: Option<Curve>,
}

/// The families of the codelet of this full name, in the order of kinds, types and kernels.
pub(super) fn families<'s>(machine: &'s StoredMachine, codelet: &str) -> Vec<Family<'s>> {
    let is_meant = |history: &&History| format!("{}::{}", history.module, history.codelet) == codelet;
    let mut histories: Vec<_> = machine.histories.iter().filter(is_meant).collect();
    histories.sort_by(|a, b| {
        let by_key = key(a).cmp(&key(b));
        by_key.then(a.size().total_cmp(&b.size())).then(a.footprint.cmp(&b.footprint))
    });
    let groups = histories.chunk_by(|a, b| key(a) == key(b));
    groups
        .map(|group| Family { histories: group.to_vec(), curve: Curve::through(group.iter().copied()) })
        .collect()
}

type Key<'h> = (&'h str, &'h [String], &'h str, u64);

fn key(history: &History) -> Key<'_> {
    (&history.worker_kind, &history.elements, &history.kernel, history.declaration)
}

impl Family<'_> {
    fn first(&self) -> &History {
        self.histories[0]
    }

    pub(super) fn kernel(&self) -> &str {
        &self.first().kernel
    }

    pub(super) fn worker_kind(&self) -> &str {
        &self.first().worker_kind
    }

    pub(super) fn elements(&self) -> &[String] {
        &self.first().elements
    }

    /// A description in one line.
    pub(super) fn title(&self) -> String {
        format!("kernel {} on {}, {}", self.kernel(), self.worker_kind(), elements(self.elements()))
    }

    /// Whether it is of the runtime's own tasks of a reduction.
    pub(super) fn is_of_reduction(&self) -> bool {
        matches!(self.kernel(), "fold" | "finish")
    }

    /// The unit of a task's size.
    pub(super) fn size_unit(&self) -> &'static str {
        if self.first().flops.is_some() { "flop" } else { "byte" }
    }

    /// The number of tasks.
    pub(super) fn count(&self) -> u64 {
        self.histories.iter().map(|history| history.count).sum()
    }

    pub(super) fn fitted(&self) -> Option<Fitted> {
        let curve = self.curve?;
        let ((a_us, b, c_us), (smallest, largest)) = (curve.coefficients(), curve.sizes());
        Some(Fitted { a_us, b, c_us, smallest, largest, size: self.size_unit() })
    }
}

/// `a size^b + c` microseconds.
#[derive(Debug, Serialize)]
pub(super) struct Fitted {
    a_us: f64,
    b: f64,
    c_us: f64,
    /// The range of sizes that it was fitted to.
    smallest: f64,
    largest: f64,
    /// `flop` or `byte`.
    size: &'static str,
}

impl std::fmt::Display for Fitted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { a_us, b, c_us, smallest, largest, size } = self;
        let (from, to) = (units::count(*smallest), units::count(*largest));
        write!(
            f,
            "time = {a_us:.3e} us x {size}s^{b:.2} + {}, fitted from {from} to {to} {size}s",
            units::time(*c_us)
        )
    }
}

/// Element types as shown: one, if all are the same.
pub(super) fn elements(elements: &[String]) -> String {
    match elements {
        [first, others @ ..] if others.iter().all(|other| other == first) => first.clone(),
        elements => elements.join(" "),
    }
}

/// The footprint as shown: the extents of each array; empty for a scalar.
pub(super) fn footprint(history: &History) -> String {
    let extents = |extents: &Vec<usize>| match extents.is_empty() {
        true => "scalar".to_owned(),
        false => extents.iter().map(usize::to_string).collect::<Vec<_>>().join("x"),
    };
    history.footprint.iter().map(extents).collect::<Vec<_>>().join(" ")
}

/// The number of durations except first calls.
pub(super) fn later_calls(history: &History) -> u64 {
    history.count - history.first_calls
}

/// The median absolute deviation.
pub(super) fn mad_us(history: &History) -> f64 {
    history.spread_us / DEVIATIONS
}
