//! Tasks of a program that report a failure: what their outputs reach has no value, as if each task had run by itself.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::super::execute::node_of;
use super::super::Worker;
use super::super::underway::{FINE, out_of_range};
use super::flow::PreparedBody;
use super::prepared::Prepared;
use crate::access::AccessMode;
use crate::description::{Action, TaskDesc};
use crate::error::Failure;
use crate::graph::{DeviceProgram, Submitted};
use crate::statistics::Loss;

impl Worker<'_> {
    /// Reads what the tasks of a program that has run have reported, and leaves the bound arrays without a value that failures
    /// reach.
    #[allow(unsafe_code, reason = "poisons arrays whose accesses a program's task holds")]
    pub(in super::super) fn report_failures(&self, task: &Submitted) {
        let program = node_of(task).device_program.as_ref().expect("it is a whole program");
        let slot = program.prepared.lock().unwrap_or_else(|poison| poison.into_inner());
        let Some(prepared) = slot.as_ref().and_then(|prepared| prepared.downcast_ref::<Prepared>()) else {
            return;
        };
        if !prepared.has_failure() {
            return;
        }
        for (index, failure) in self.failed(program, prepared) {
            let array = task.access(index).state().expect("each is of an array");
            // SAFETY: the program has run, and holds its accesses, of which this one is exclusive: a task of it changes the array.
            unsafe { array.poison(&failure) };
        }
    }

    /// The bound arrays that have no value at the end, each with the first cause.
    fn failed(&self, program: &DeviceProgram, prepared: &Prepared) -> Vec<(usize, Arc<Failure>)> {
        let mut without_value: HashMap<u32, Arc<Failure>> = HashMap::new();
        for (number, step) in program.steps.iter().enumerate() {
            let desc = program.task(number).desc();
            let arrays =
                || step.arrays.iter().enumerate().filter_map(|(index, array)| Some((index, (*array)?)));
            let mut cause = arrays()
                .filter(|(index, _)| reads(desc, *index))
                .find_map(|(_, array)| without_value.get(&array).cloned());
            if cause.is_none() {
                cause = self.failure_of(program, prepared, number);
            } else if desc.codelet_if_any().is_some() {
                self.shared.counters().lose(self.context.worker, desc.codelet(), Loss::Cancelled, 0);
            }
            for (_, array) in arrays().filter(|(index, _)| writes(desc, *index)) {
                match &cause {
                    Some(failure) => drop(without_value.insert(array, Arc::clone(failure))),
                    None => drop(without_value.remove(&array)),
                }
            }
        }
        let bound = program.bound_arrays.iter().enumerate();
        bound.filter_map(|(index, array)| Some((index, without_value.remove(array)?))).collect()
    }

    /// The first failure that a step has reported: of its kernel, or of a task in its bodies.
    fn failure_of(
        &self,
        program: &DeviceProgram,
        prepared: &Prepared,
        number: usize,
    ) -> Option<Arc<Failure>> {
        let mut first = None;
        if prepared.verdict(number) != FINE {
            let desc = program.task(number).desc();
            let message = out_of_range(desc.codelet(), prepared.verdict(number));
            let worker = self.context.name().to_owned();
            let failure = Failure::new(desc.codelet().name, worker, desc.location(), message);
            let failure = Arc::new(failure);
            self.shared.counters().lose(self.context.worker, desc.codelet(), Loss::Failed, 0);
            self.shared.note_failure(&failure);
            first = Some(failure);
        }
        for PreparedBody { program, prepared, .. } in prepared.bodies(number) {
            for number in 0..program.steps.len() {
                let failure = self.failure_of(program, prepared, number);
                first = first.or(failure);
            }
        }
        first
    }
}

/// Whether a step passes on that access `index` has no value.
pub(super) fn reads(desc: &TaskDesc, index: usize) -> bool {
    match desc.action() {
        // The parts get what the whole array has, and the other way round.
        Action::Split => index == 0,
        Action::Join => index > 0,
        Action::Forget => false,
        _ => desc.access(index).needs_value(),
    }
}

/// Whether a step decides whether access `index` has a value.
pub(super) fn writes(desc: &TaskDesc, index: usize) -> bool {
    match desc.action() {
        Action::Split => index > 0,
        Action::Join => index == 0 && desc.access(0).mode != AccessMode::R,
        _ => !desc.access(index).mode.is_shared(),
    }
}
