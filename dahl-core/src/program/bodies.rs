//! [`Instances`]: the bodies of a branch or of a loop, and how they run. `README.md` says who may touch what.
#![allow(unsafe_code, reason = "begins replays for a task whose accesses are held")]

use std::ptr::NonNull;
use std::sync::Arc;

use super::array_spec::ArraySpec;
use super::instance::Instance;
use super::steps::Step;
use super::varying::CallNumbers;
use crate::access::AccessMode;
use crate::codelet::Codelet;
use crate::description::{Action, Call, TaskDesc};
use crate::device::{FetchError, Requester};
use crate::graph::{Bodies, Flow, Submitted};
use crate::shape::Layout;

/// What a branch and a loop are called where tasks are counted and traced.
static BRANCH: Codelet = Codelet::new("branch", module_path!(), 0);
static REPEAT_WHILE: Codelet = Codelet::new("repeat_while", module_path!(), 0);

/// The bodies of a branch or of a loop, ready to run.
#[derive(Debug)]
pub(super) struct Instances {
    flow: Flow,
    bodies: Vec<Arc<Instance>>,
}

impl Instances {
    /// Of as many bodies as `flow` has.
    pub(super) fn new(flow: Flow, bodies: Vec<Arc<Instance>>) -> Self {
        Self { flow, bodies }
    }
}

impl Bodies for Instances {
    unsafe fn proceed(&self, task: NonNull<Submitted>, is_first: bool) -> Result<bool, FetchError> {
        let Flow { repeats, .. } = self.flow;
        if !repeats && !is_first {
            return Ok(false);
        }
        // SAFETY: guaranteed by the caller: the task has not ended.
        let flow = unsafe { task.as_ref() };
        let requester = Requester { name: self.flow.name(), location: flow.desc().location() };
        let condition = flow.access(0).state().expect("the first array is the condition");
        // SAFETY: guaranteed by the caller: the access is held, and no body, which could change it, is running.
        let holds = unsafe { condition.holds(self.flow, requester) }?;
        let body = match (repeats, holds) {
            (true, false) => return Ok(false),
            (_, true) => &self.bodies[0],
            (false, false) => &self.bodies[1],
        };
        let bound = flow.accesses().map(|access| NonNull::from(access.state().expect("each is of an array")));
        // SAFETY:
        // - the task's accesses are held, and no body of it is running: guaranteed by the caller.
        // - the turn: the task is one of a replay that runs, which holds the turn of its program.
        unsafe { Arc::clone(body).begin(task, bound, &CallNumbers::default()) };
        Ok(true)
    }
}

/// Fills in the description of a branch or of a loop.
pub(super) fn fill_flow(desc: &mut TaskDesc, flow: Flow, step: &Step) {
    let codelet = if flow.repeats { &REPEAT_WHILE } else { &BRANCH };
    desc.begin(Action::External(Call::new(codelet, None)), step.location);
    for index in 0..step.arrays.len() {
        let changes = step.bodies.iter().any(|body| body.changes(index));
        let mode = if changes { AccessMode::RW } else { AccessMode::R };
        desc.push(None, None, mode, |layout: &mut Layout| layout.set_contiguous(&[]));
        desc.add_tag();
    }
}

/// Whether a branch or a loop has the bodies that it needs, and these fit its arrays.
///
/// # Errors
/// What is wrong.
pub(super) fn check(arrays: &[ArraySpec], step: &Step, flow: Flow) -> Result<(), String> {
    if step.bodies.len() != flow.bodies().len() {
        return Err("it has another number of bodies".to_owned());
    }
    let condition = step.arrays.first().copied().flatten().map(|array| &arrays[array]);
    if condition.is_none_or(|condition| condition.bytes != condition.element.size_bytes) {
        return Err("its condition is no array of one element".to_owned());
    }
    for (body, name) in step.bodies.iter().zip(flow.bodies()) {
        let fits = |(place, array): (usize, &Option<usize>)| {
            array.is_some_and(|array| body.bound()[place].fits_array(&arrays[array]))
        };
        let is_called_with =
            body.bound().len() == step.arrays.len() && step.arrays.iter().enumerate().all(fits);
        if !is_called_with || body.varies() {
            return Err(format!("its body `{name}` was recorded for other arrays"));
        }
    }
    Ok(())
}
