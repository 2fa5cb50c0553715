//! A whole program as one graph: the worker of a device makes a CUDA graph of its tasks, and launches it for each replay.
//!
//! `prepared` makes the graph and changes it, `step` and `update` do so for one task, `flow` for a branch or a loop, `failures`
//! passes on what tasks report. `README.md` says why this is sound. Not here: which programs may run so (`program::device_plan`), and calls of the driver (`dahl-driver`).

mod failures;
mod flow;
mod identities;
mod prepared;
mod step;
mod update;

use prepared::Prepared;

use super::super::execute::{begin_by_task, node_of};
use super::super::task_error::TaskError;
use super::Worker;
use super::operands::DeviceOperands;
use super::underway::Underway;
use crate::device::Requester;
use crate::graph::{DeviceProgram, Submitted};
use crate::observer::Forecast as _;
use crate::trace::TaskTimes;

/// Why a program does not run as one graph.
enum Obstacle {
    /// Not now: kernels are still measured, an array has no value or cannot be fetched, or the device is lost.
    Now,
    /// Not for some time: the device has no room for it.
    NoRoom,
    /// Never: the device does not take it, for this reason.
    Refused(String),
}

impl From<TaskError> for Obstacle {
    fn from(error: TaskError) -> Self {
        match error {
            TaskError::Cancelled(_) => Self::Now,
            TaskError::NoRoom(_) => Self::NoRoom,
            TaskError::Failed(reason) | TaskError::Unable(reason) => Self::Refused(reason),
        }
    }
}

impl Worker<'_> {
    /// Takes a whole program: puts its graph into the compute stream, or begins its tasks one by one.
    pub(super) fn take_program(&mut self, task: &Submitted) {
        let program = node_of(task).device_program.as_ref().expect("it is a whole program");
        self.shared.stall().take(Some(self.number), task.desc().sequence());
        match self.issue_program(task, program) {
            Ok(underway) => self.underway.push_back(underway),
            Err(obstacle) => self.begin_by_task(task, program, obstacle),
        }
    }

    /// Begins the tasks of a program one by one.
    #[cold]
    fn begin_by_task(&mut self, task: &Submitted, program: &DeviceProgram, obstacle: Obstacle) {
        match obstacle {
            _ if self.is_lost() => {}
            Obstacle::Now => {}
            Obstacle::NoRoom => program.pause(),
            Obstacle::Refused(reason) => {
                let name = task.desc().codelet().name;
                eprintln!("dahl: {}: `{name}` does not run as one graph: {reason}", self.context.name());
                program.refuse();
            }
        }
        begin_by_task(self.shared, Some(self.number), task);
        self.tell();
    }

    /// Puts the graph of a program into the compute stream.
    fn issue_program(&mut self, task: &Submitted, program: &DeviceProgram) -> Result<Underway, Obstacle> {
        if self.is_lost() {
            return Err(Obstacle::Now);
        }
        let codelet = task.desc().codelet();
        let _named = self.names.enter(codelet.name);
        self.context.times = TaskTimes::taken_at(self.shared.clock().now_ns());
        let mut slot = program.prepared.lock().unwrap_or_else(|poison| poison.into_inner());
        if slot.is_none() {
            self.require_chosen(program)?;
        }
        let (operands, bound) = self.bound_arrays(task, program).map_err(|error| match error {
            TaskError::NoRoom(_) => Obstacle::NoRoom,
            _ => Obstacle::Now,
        })?;
        // If something goes wrong with it from here on, another one is made.
        let mut known = slot.take().and_then(|prepared| prepared.downcast::<Prepared>().ok());
        if let Some(prepared) = &mut known
            && !prepared.update(self, program, &bound)?
        {
            known = None;
        }
        let mut prepared = match known {
            Some(prepared) => prepared,
            None => {
                self.require_chosen(program)?;
                Box::new(Prepared::new(self, program, &bound, task)?)
            }
        };
        let begin = self.expect(self.device.begin_event())?;
        let launched = prepared.launch();
        // Whatever is in the stream: later uses wait for it.
        let end = match self.device.compute_event() {
            Ok(end) => end,
            Err(error) => {
                self.device.drain();
                return Err(self.expect::<()>(Err(error)).expect_err("it is an error").into());
            }
        };
        operands.stamp(&end);
        prepared.stamp(&end);
        self.expect(launched)?;
        let can_fail = prepared.can_fail();
        *slot = Some(prepared);
        self.shared.stall().begin(Some(self.number), self.shared.clock().now_ns());
        Ok(Underway::of_program(task, (begin, end), self.context.times, can_fail))
    }

    /// Requires that the device can run all tasks of a program, and that no kernel is to be measured any more to choose one.
    fn require_chosen(&mut self, program: &DeviceProgram) -> Result<(), Obstacle> {
        for step in 0..program.steps.len() {
            let bodies = program.steps[step].flow.iter().flat_map(|flow| &flow.bodies).flatten();
            bodies.into_iter().try_for_each(|body| self.require_chosen(body))?;
            let desc = program.task(step).desc();
            if !desc.is_kernel() {
                continue;
            }
            if !self.shared.host().can_run(self.number, desc) {
                let name = desc.codelet().name;
                return Err(Obstacle::Refused(format!("`{name}` has no kernel for it any more")));
            }
            if self.settled(desc).is_none() {
                return Err(Obstacle::Now);
            }
        }
        Ok(())
    }

    /// Copies the bound arrays of a program to the device; the compute stream waits for what must come before.
    /// Where each is.
    fn bound_arrays<'r>(
        &self,
        task: &'r Submitted,
        program: &DeviceProgram,
    ) -> Result<(DeviceOperands<'r>, Vec<*mut u8>), TaskError> {
        let node = self.context.node;
        let requester = Requester { name: task.desc().codelet().name, location: task.desc().location() };
        let mut operands = DeviceOperands::new(node);
        let mut bound = Vec::with_capacity(program.bound.len());
        for ((access, &mode), uses) in task.accesses().zip(&program.bound).zip(&program.uses) {
            if uses.is_empty() {
                bound.push(std::ptr::null_mut());
                continue;
            }
            let array = access.state().expect("each is of an array");
            // SAFETY: the task is ready, so it holds its accesses; its mode is the access's, or overwrites what that changes.
            let pointer = unsafe { array.prepare_at(node, mode, requester) }?;
            operands.note(array, !mode.is_shared());
            bound.push(pointer);
        }
        Ok((operands, bound))
    }
}
