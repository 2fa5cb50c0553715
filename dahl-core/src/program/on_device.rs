//! [`OnDevice`]: a program as one task of a device.
#![allow(unsafe_code, reason = "fills in a record that one replay at a time owns")]

use std::panic::Location;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::array_spec::ArraySpec;
use super::device_plan::{PlannedStep, device_program, device_worker};
use crate::codelet::Codelet;
use crate::description::{Action, Call, Placement};
use crate::executor::Executor;
use crate::graph::{ArrayState, DeviceProgram, Party, Record, Replay, Running};
use crate::task;

/// A program as one task of a device.
#[derive(Debug)]
pub(super) struct OnDevice {
    /// The worker of the device.
    worker: usize,
    /// With one task. Each replay runs this one or the instance's own.
    replay: Box<Replay>,
}

impl OnDevice {
    /// The program of `replay` as one task.
    pub(super) fn new(
        executor: &Executor,
        name: &'static Codelet,
        arrays: (&[ArraySpec], usize),
        steps: &[PlannedStep<'_>],
        bound_bytes: impl Iterator<Item = usize>,
        replay: &Replay,
        location: &'static Location<'static>,
    ) -> std::result::Result<Self, String> {
        let worker = device_worker(executor)?;
        if steps.is_empty() {
            return Err("it has no tasks".to_owned());
        }
        // SAFETY: the instance keeps both, and the bodies.
        let program = unsafe { device_program(executor, worker, arrays, steps, replay) }?;
        let record = Record::new(u32::MAX);
        // SAFETY: nothing else knows the record.
        let desc = unsafe { record.desc_mut() };
        desc.begin(Action::Program(Call::new(name, None)), location);
        desc.set_place(Placement::Worker(worker));
        for (index, (mode, bytes)) in program.bound.iter().zip(bound_bytes).enumerate() {
            desc.push(None, None, *mode, |layout| layout.set_contiguous(&[bytes]));
            desc.add_tag();
            // SAFETY: as above.
            unsafe { record.bind(index, ptr::null()) };
        }
        let mut replay = Replay::new(vec![(record, Vec::new())]);
        replay.set_device_program(Arc::new(program));
        let node = &replay.nodes()[0];
        // SAFETY: as above.
        drop(unsafe { node.record.set_party(Party::Node(node.address())) });
        Ok(Self { worker, replay })
    }

    /// Whether the device is to run the next replay as one graph: it can, has room, and nobody wants to see single tasks.
    pub(super) fn runs(&self, executor: &Executor) -> bool {
        executor.recorder().is_none()
            && !executor.shows_submissions()
            && self.is_possible(executor)
            && self.program().is_some_and(|program| !program.is_paused())
    }

    /// Whether the device is there and has not refused the program.
    pub(super) fn is_possible(&self, executor: &Executor) -> bool {
        executor.is_working_device(self.worker) && self.program().is_some_and(|program| !program.is_refused())
    }

    /// What the device runs.
    pub(super) fn program(&self) -> Option<&Arc<DeviceProgram>> {
        self.replay.nodes()[0].device_program.as_ref()
    }

    /// Begins a replay as one task.
    ///
    /// # Safety
    /// The envelope's accesses are held, to these arrays and to the turn, and the caller keeps the instance until this returns.
    pub(super) unsafe fn begin(
        &self,
        executor: &Executor,
        running: Running,
        bound: impl Iterator<Item = NonNull<ArrayState>>,
    ) {
        let record = &self.replay.nodes()[0].record;
        for (index, state) in bound.enumerate() {
            // SAFETY: the envelope's access keeps the array.
            let id = unsafe { state.as_ref() }.id();
            // SAFETY: no replay runs, so the record is this thread's.
            unsafe { record.bind(index, state.as_ptr()) };
            // SAFETY: as above.
            unsafe { record.desc_mut() }.rebind(index, id, None);
        }
        // SAFETY: as above.
        unsafe { record.desc_mut() }.set_sequence(executor.next_sequences(1));
        // SAFETY: no replay runs, and this thread begins one.
        unsafe { self.replay.begin(running) };
        // SAFETY: the record is prepared, and the caller keeps it.
        unsafe { task::begin_replay(executor, &self.replay) };
    }
}
