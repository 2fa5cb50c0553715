//! [`LoggedRegion`]: what the body of a branch or of a loop submits while it is recorded (`program/README.md`).

use std::fmt;
use std::ops::Range;
use std::panic::Location;

use super::log::{Log, LoggedStep};
use crate::array_id::ArrayId;
use crate::description::TaskDesc;

/// A branch or a loop, which depends on an array of one element.
#[derive(Clone, Copy)]
pub struct Flow {
    /// Whether its only body runs as long as the condition holds. Otherwise one of its two bodies runs: the first one if the
    /// condition holds.
    pub repeats: bool,
    /// Whether the condition holds, by the bytes of its element.
    pub(crate) holds: fn(&[u8]) -> bool,
    /// The bits of the element of which one is set if the condition holds, from the lowest byte on: for devices. None if the
    /// element is of a type of another crate, whose zeros nobody else knows.
    pub(crate) bits: Option<u64>,
}

/// A branch or a loop of a recording.
#[derive(Clone, Debug)]
pub struct LoggedFlow {
    /// Which of both.
    pub flow: Flow,
    /// The array on which it depends.
    pub condition: ArrayId,
    /// What its bodies submit.
    pub bodies: Vec<LoggedRegion>,
    /// The line that submitted it.
    pub location: &'static Location<'static>,
}

/// What a body submits.
#[derive(Clone, Debug)]
pub struct LoggedRegion {
    /// The steps, in order.
    pub steps: Vec<LoggedStep>,
    /// The arrays that were made while it ran, by their places among those of the recording.
    pub arrays: Range<usize>,
}

impl LoggedStep {
    /// The branch or the loop, if it is one.
    pub(crate) fn flow(&self) -> Option<&LoggedFlow> {
        match self {
            Self::Flow(flow) => Some(flow),
            _ => None,
        }
    }
}

impl LoggedFlow {
    /// Calls `see` with each task of the bodies, and of those inside of them.
    pub(crate) fn each_task<'s>(&'s mut self, see: &mut impl FnMut(&'s mut TaskDesc)) {
        for step in self.bodies.iter_mut().flat_map(|body| &mut body.steps) {
            match step {
                LoggedStep::Task { desc, .. } => see(desc),
                LoggedStep::Flow(flow) => flow.each_task(see),
                LoggedStep::Split(_) | LoggedStep::Join(_) | LoggedStep::Forget(..) => {}
            }
        }
    }
}

impl fmt::Debug for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Flow {
    /// Its name in texts.
    pub fn name(self) -> &'static str {
        if self.repeats { "repeat_while" } else { "branch" }
    }

    /// The names of its bodies, in order.
    pub fn bodies(self) -> &'static [&'static str] {
        if self.repeats { &["body"] } else { &["then", "otherwise"] }
    }
}

impl Log {
    /// Calls `body`: what it submits is a region of its own. The result of `body` is returned with the region.
    ///
    /// If it panics, what it has submitted is forgotten.
    pub(crate) fn region<R>(&self, body: impl FnOnce() -> R) -> (R, LoggedRegion) {
        struct Open<'l>(&'l Log);
        impl Drop for Open<'_> {
            fn drop(&mut self) {
                let mut entries = self.0.entries();
                if let Some(outer) = entries.outer.pop() {
                    entries.steps = outer;
                }
            }
        }
        let start = {
            let mut entries = self.entries();
            let outer = std::mem::take(&mut entries.steps);
            entries.outer.push(outer);
            entries.arrays.len()
        };
        let open = Open(self);
        let result = body();
        let region = {
            let mut entries = self.entries();
            let steps = std::mem::take(&mut entries.steps);
            LoggedRegion { steps, arrays: start..entries.arrays.len() }
        };
        drop(open);
        (result, region)
    }

    /// A branch or a loop was submitted.
    pub(crate) fn flow(&self, flow: LoggedFlow) {
        self.entries().steps.push(LoggedStep::Flow(flow));
    }
}
