//! Colours of codelets and of causes of idle time, which people with any colour vision can distinguish.
//!
//! The first six colours of codelets are Okabe and Ito's, without black and the light yellow; a violet, a dark yellow,
//! a brown and a slate follow. Idle time has muted colours, so that work stands out.

use crate::format::Cause;
use crate::trace::{Task, Trace};
use std::collections::BTreeMap;
use std::sync::Arc;

const CODELETS: [&str; 10] = [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1", "#b8a91c", "#80513a",
    "#4f7a86",
];
/// Lighter versions of these colours, for codelets from the eleventh on.
const FURTHER: [&str; 10] = [
    "#80b9d9", "#f3d080", "#80cfb9", "#e6bcd3", "#abdaf4", "#eaaf80", "#c6b5d8", "#dcd48e", "#c0a89d",
    "#a7bdc3",
];

/// The codelets of a run, the longest total time first, and the codelet of each task.
pub(crate) struct Codelets {
    pub(crate) names: Vec<Named>,
    /// The index of each task's codelet.
    pub(crate) of: Vec<usize>,
}

/// A codelet.
pub(crate) struct Named {
    pub(crate) name: Arc<str>,
    pub(crate) path: Arc<str>,
    pub(crate) color: &'static str,
}

impl Codelets {
    pub(crate) fn of(trace: &Trace) -> Self {
        let mut total: BTreeMap<&Arc<str>, (u64, &Task)> = BTreeMap::new();
        for task in trace.tasks() {
            total.entry(&task.path).or_insert((0, task)).0 += task.duration_ns;
        }
        let mut order: Vec<_> = total.into_values().collect();
        order.sort_by_key(|&(total, _)| std::cmp::Reverse(total));
        let named = |(place, (_, task)): (usize, &(u64, &Task))| Named {
            name: task.codelet.clone(),
            path: task.path.clone(),
            color: color(place),
        };
        let names: Vec<Named> = order.iter().enumerate().map(named).collect();
        let place: BTreeMap<&str, usize> =
            names.iter().enumerate().map(|(place, named)| (&*named.path, place)).collect();
        let of = trace.tasks().iter().map(|task| place[&*task.path]).collect();
        Self { names, of }
    }
}

/// The colour of the codelet of this place in a list of codelets, as `#rrggbb`.
pub fn color(place: usize) -> &'static str {
    match place % (CODELETS.len() + FURTHER.len()) {
        place if place < CODELETS.len() => CODELETS[place],
        place => FURTHER[place - CODELETS.len()],
    }
}

/// The colour of idle time: muted, and pale for causes that cannot be avoided.
pub(crate) fn idle_color(cause: Cause) -> &'static str {
    match cause {
        Cause::Submission => "#a39a8c",
        Cause::Dependency => "#6f7480",
        Cause::Scheduler => "#a8646a",
        Cause::Transfer => "#8f86b3",
        Cause::End => "#c9ccd2",
    }
}
