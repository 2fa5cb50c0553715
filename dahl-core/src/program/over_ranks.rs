//! Programs over ranks: the ranks compare what they record, and which recording a call replays.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::bindings::Bindings;
use crate::array_id::ArrayId;
use crate::description::TaskDesc;
use crate::element::ElementType;
use crate::graph::LoggedStep;
use crate::ranks::{Note, Ranks};

/// Notes what was recorded, before a call of it is noted: the ranks name the first task that differs.
pub(super) fn note_recording(
    ranks: &Ranks,
    program: &str,
    arguments: &[ArrayId],
    steps: &[LoggedStep],
    outputs: &[(ArrayId, Vec<usize>, ElementType)],
) {
    let numbers = arguments.iter().copied().zip(0..).collect();
    let mut recording = Recording { ranks, program, numbers };
    recording.note_steps(steps);
    for (array, extents, element) in outputs {
        let number = recording.number(*array);
        let name = element.name;
        ranks.note(Note::call(format!(
            "{program} returns its array {number}, {name} of the shape {extents:?}"
        )));
    }
}

/// A hash of all by which a call finds its recording, and of the numbers of the call.
pub(super) fn hash_of_call(arguments: &Bindings<'_>) -> u64 {
    // Without random keys: equal in all processes of one build.
    let mut hasher = DefaultHasher::new();
    for kind in arguments.kinds() {
        let layout = &kind.layout;
        (kind.element.name, layout.extents(), layout.strides(), kind.writes, kind.leaf_len).hash(&mut hasher);
    }
    (arguments.values(), &arguments.numbers.bytes, arguments.numbers.random).hash(&mut hasher);
    hasher.finish()
}

/// A recording whose steps are noted.
struct Recording<'r> {
    ranks: &'r Ranks,
    program: &'r str,
    /// Ids are those of a rank. These numbers are the same on all ranks: first the arguments, then in the order of use.
    numbers: HashMap<ArrayId, usize>,
}

impl Recording<'_> {
    fn number(&mut self, array: ArrayId) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(array).or_insert(next)
    }

    fn note_steps(&mut self, steps: &[LoggedStep]) {
        let program = self.program;
        for step in steps {
            match step {
                LoggedStep::Task { desc, .. } => self.note_task(desc),
                LoggedStep::Flow(flow) => {
                    let condition = self.number(flow.condition);
                    let note = Note::task(flow.flow.name(), flow.location, |hasher| condition.hash(hasher));
                    self.ranks.note(note);
                    for (name, body) in flow.flow.bodies().iter().zip(&flow.bodies) {
                        self.call(format!("`{name}` of a {} in {program} begins", flow.flow.name()));
                        self.note_steps(&body.steps);
                    }
                }
                LoggedStep::Split(partition) | LoggedStep::Join(partition) => {
                    let what = if matches!(step, LoggedStep::Split(_)) { "begins" } else { "ends" };
                    let (whole, parts) = (self.number(partition.whole), partition.parts.len());
                    let location = partition.location;
                    self.call(format!(
                        "a partition of array {whole} of {program} into {parts} parts {what} at {location}"
                    ));
                }
                LoggedStep::Forget(array, location) => {
                    let number = self.number(*array);
                    self.call(format!("the value of array {number} of {program} is discarded at {location}"));
                }
            }
        }
    }

    fn call(&self, line: String) {
        self.ranks.note(Note::call(line));
    }

    fn note_task(&mut self, desc: &TaskDesc) {
        self.ranks.note(Note::task(desc.codelet().name, desc.location(), |hasher| {
            for access in desc.accesses() {
                let number = access.array().map(|array| self.number(array));
                (number, access.layout.extents(), access.mode.name()).hash(hasher);
            }
            desc.arguments().hash(hasher);
        }));
    }
}
