//! A whole program as one graph: the worker of a device makes a CUDA graph of its tasks, and launches it for each replay.
//!
//! `prepared` makes the graph and changes it, `step` does so for one task, `failures` passes on what tasks report. `README.md`
//! says why this is sound. Not here: which programs may run so (`program::device_plan`), and calls of the driver (`dahl-driver`).

mod failures;
mod prepared;
mod step;

use prepared::Prepared;

use super::super::task_error::TaskError;
use super::Worker;
use super::operands::DeviceOperands;
use super::underway::Underway;
use crate::device::Requester;
use crate::graph::{DeviceProgram, Node, Party, Running, Submitted};
use crate::task::Step;
use crate::trace::TaskTimes;

/// Why a program does not run as one graph now.
enum Obstacle {
    /// Its tasks run one by one on this device: to measure their kernels, or since an array has no value.
    Here,
    /// This time its tasks run wherever they can: the device has no room for it, or is lost.
    Elsewhere,
    /// As [`Elsewhere`](Self::Elsewhere), each time: the device does not take it, for this reason.
    Refused(String),
}

impl From<TaskError> for Obstacle {
    fn from(error: TaskError) -> Self {
        match error {
            TaskError::Cancelled(_) => Self::Here,
            TaskError::NoRoom(_) => Self::Elsewhere,
            TaskError::Failed(reason) | TaskError::Unable(reason) => Self::Refused(reason),
        }
    }
}

impl Worker<'_> {
    /// Takes a whole program: puts its graph into the compute stream, or begins its tasks one by one.
    pub(super) fn take_program(&mut self, task: &Submitted) {
        let (shared, node) = (self.shared, node_of(task));
        let program = node.device_program.as_ref().expect("it is a whole program");
        shared.stall().take(Some(self.number), task.desc().sequence());
        match self.issue_program(task, program) {
            Ok(underway) => {
                let is_released_early = underway.is_released_early();
                self.underway.push_back(underway);
                if is_released_early {
                    let context = &mut self.context;
                    let (recycler, lifo_slot) = (&mut context.recycler, &mut context.lifo_slot);
                    Step::of_worker(shared, Some(self.number), recycler, lifo_slot).release_early(task);
                }
            }
            Err(obstacle) => self.begin_by_task(task, program, obstacle),
        }
    }

    /// Begins the tasks of a program one by one.
    #[cold]
    fn begin_by_task(&mut self, task: &Submitted, program: &DeviceProgram, obstacle: Obstacle) {
        let is_placed = matches!(obstacle, Obstacle::Here) && !self.is_lost();
        if let Obstacle::Refused(reason) = obstacle
            && !self.is_lost()
        {
            let name = task.desc().codelet().name;
            eprintln!("dahl: {}: `{name}` does not run as one graph: {reason}", self.context.name());
            program.refuse();
        }
        // SAFETY: the task has not been counted as ended.
        let replay = unsafe { node_of(task).replay() };
        // SAFETY: it has begun, and nothing ends it: it is in no stream.
        let Running { envelope, keeps } = unsafe { replay.give_up() };
        // SAFETY: as above; the replay's envelope has not been completed.
        unsafe { keeps.begin_by_task(task, envelope, is_placed) };
        self.shared.stall().end(Some(self.number));
        self.shared.count_completed(Some(self.number));
        self.tell();
    }

    /// Puts the graph of a program into the compute stream.
    fn issue_program(&mut self, task: &Submitted, program: &DeviceProgram) -> Result<Underway, Obstacle> {
        if self.is_lost() {
            return Err(Obstacle::Elsewhere);
        }
        let codelet = task.desc().codelet();
        let _named = self.names.enter(codelet.name);
        self.context.times = TaskTimes::taken_at(self.shared.clock().now_ns());
        let mut slot = program.prepared.lock().unwrap_or_else(|poison| poison.into_inner());
        let known = slot.take().and_then(|prepared| prepared.downcast::<Prepared>().ok());
        if known.is_none() && !self.is_measured(program) {
            return Err(Obstacle::Here);
        }
        let (operands, bound) = self.bound_arrays(task, program)?;
        let prepared = match known {
            Some(mut known) => match known.update(self, program, &bound)? {
                true => Some(known),
                false => None,
            },
            None => None,
        };
        let mut prepared = match prepared {
            Some(prepared) => prepared,
            None => Box::new(Prepared::new(self, program, &bound, task)?),
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

    /// Whether no kernel of a program's tasks is to be measured any more before one is chosen.
    fn is_measured(&mut self, program: &DeviceProgram) -> bool {
        (0..program.steps.len()).all(|step| {
            let desc = program.task(step).desc();
            !desc.is_kernel() || self.settled(desc).is_some()
        })
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
        for (access, &mode) in task.accesses().zip(&program.bound) {
            let array = access.state().expect("each is of an array");
            // SAFETY: the task is ready, so it holds its accesses; its mode is the access's, or overwrites what that changes.
            let pointer = unsafe { array.prepare_at(node, mode, requester) }?;
            operands.note(array, !mode.is_shared());
            bound.push(pointer);
        }
        Ok((operands, bound))
    }
}

/// The node of a whole program.
fn node_of<'r>(task: &Submitted) -> &'r Node {
    let &Party::Node(node) = task.party() else { unreachable!("a whole program is a task of a replay") };
    // SAFETY: the task has not been counted as ended, so the program is kept.
    unsafe { Node::at(node) }
}
