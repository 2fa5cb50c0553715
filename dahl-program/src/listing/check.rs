//! Whether the numbers of a listing name what is there.

use super::{Action, ListedStep, Listing};
use crate::graph::Origin;

/// The most bytes of all arrays: their places are computed without overflow.
const MOST_BYTES: usize = usize::MAX / 4;

/// A field, and its value with what was expected.
type Wrong = (String, String);

impl Listing {
    /// Checks that each number is one of a codelet or an array, that parts are parts of arrays, and that arguments and
    /// results are counted from 0.
    pub(super) fn check(&self) -> Result<(), Wrong> {
        self.check_arrays()?;
        for (number, step) in self.steps.iter().enumerate() {
            let field = |name: &str| format!("steps[{number}].{name}");
            if let Action::Task(call) = &step.action {
                index(call.codelet, self.codelets.len(), "codelets", || field("action.task.codelet"))?;
            } else if step.uses.first().is_none_or(|used| used.array.is_none()) {
                return Err((field("uses"), "without an array: expected the whole array first".to_owned()));
            }
            for (position, used) in step.uses.iter().enumerate() {
                if let Some(array) = used.array {
                    index(array, self.arrays.len(), "arrays", || field(&format!("uses[{position}].array")))?;
                }
                if used.array.is_none() && !matches!(step.action, Action::Task(_)) {
                    let fact = "none: expected an array for a step that is no task";
                    return Err((field(&format!("uses[{position}].array")), fact.to_owned()));
                }
                if used.view.is_some() != matches!(step.action, Action::Task(_)) {
                    let fact = "wrong: expected one for each use of a task, and for nothing else";
                    return Err((field(&format!("uses[{position}].view")), fact.to_owned()));
                }
            }
            self.check_bodies(step).map_err(|(inside, fact)| (field(&inside), fact))?;
        }
        Ok(())
    }

    /// Checks that a step has the bodies that it needs, and that these are called with its arrays.
    fn check_bodies(&self, step: &ListedStep) -> Result<(), Wrong> {
        let expected: &[&str] = match step.action {
            Action::Branch => &["then", "otherwise"],
            Action::RepeatWhile => &["body"],
            _ => &[],
        };
        if !step.bodies.iter().map(|body| &*body.name).eq(expected.iter().copied()) {
            return Err(("bodies".to_owned(), format!("wrong: expected those called {expected:?}")));
        }
        for (number, body) in step.bodies.iter().enumerate() {
            let field = |name: String| format!("bodies[{number}].{name}");
            body.check().map_err(|(inside, fact)| (field(inside), fact))?;
            let mut parameters = 0;
            for array in &body.arrays {
                let index = match array.origin {
                    Origin::Argument(index) => index,
                    Origin::Output(_) => {
                        return Err((
                            field("arrays[..].origin".to_owned()),
                            "a result: a body has none".to_owned(),
                        ));
                    }
                    Origin::Temporary | Origin::Part(_) => continue,
                };
                parameters += 1;
                let given = step.uses.get(index).and_then(|used| used.array).map(|given| &self.arrays[given]);
                if given.is_none_or(|given| (&given.element, given.bytes) != (&array.element, array.bytes)) {
                    let fact =
                        format!("argument {index}: expected one like the array that the step uses there");
                    return Err((field("arrays[..].origin".to_owned()), fact));
                }
            }
            if parameters != step.uses.len() {
                let fact = format!("of {parameters} arguments: expected {}", step.uses.len());
                return Err((format!("bodies[{number}]"), fact));
            }
        }
        Ok(())
    }

    fn check_arrays(&self) -> Result<(), Wrong> {
        let (mut arguments, mut outputs, mut bytes) = (Vec::new(), Vec::new(), 0_usize);
        for (number, array) in self.arrays.iter().enumerate() {
            let field = |name: &str| format!("arrays[{number}].{name}");
            match array.origin {
                Origin::Argument(argument) => arguments.push(argument),
                Origin::Output(output) => outputs.push(output),
                Origin::Temporary => {}
                Origin::Part(whole) => {
                    index(whole, self.arrays.len(), "arrays", || field("origin.part"))?;
                    // Whole arrays are recorded before their parts, so a part of itself is impossible.
                    if whole >= number {
                        let fact =
                            format!("{whole}: expected an array before {number}, of which it is a part");
                        return Err((field("origin.part"), fact));
                    }
                }
            }
            if array.initial.as_ref().is_some_and(|initial| initial.len() != array.bytes) {
                let fact = format!("not of {} bytes, as the array is", array.bytes);
                return Err((field("initial"), fact));
            }
            let sum = bytes.checked_add(array.bytes).filter(|&sum| sum <= MOST_BYTES);
            let Some(sum) = sum else {
                return Err((field("bytes"), format!("{}: expected a sum below {MOST_BYTES}", array.bytes)));
            };
            bytes = sum;
        }
        for (mut numbers, name) in [(arguments, "argument"), (outputs, "output")] {
            numbers.sort_unstable();
            if let Some(place) = (0..numbers.len()).find(|&place| numbers[place] != place) {
                let fact =
                    format!("{}: expected the {name}s 0 to {}, each once", numbers[place], numbers.len() - 1);
                return Err((format!("arrays[..].origin.{name}"), fact));
            }
        }
        Ok(())
    }
}

/// Whether a number is one of so many.
fn index(number: usize, count: usize, what: &str, field: impl Fn() -> String) -> Result<(), Wrong> {
    if number < count {
        return Ok(());
    }
    Err((field(), format!("{number}: expected a number of one of the {count} {what}, which count from 0")))
}
