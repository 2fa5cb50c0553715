//! How a replay of an [`Instance`] begins. `program/README.md` says who may touch what.
#![allow(unsafe_code, reason = "fills in records and arrays that one replay at a time owns")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::Arc;

use super::Instance;
use crate::description::Placement;
use crate::graph::{ArrayState, Keeps, Running, Submitted};
use crate::program::target::Target;
use crate::program::target_choice::{Moment, TargetChoice};
use crate::program::varying::CallNumbers;
use crate::task;

impl Keeps for Instance {
    unsafe fn begin_by_task(self: Arc<Self>, task: &Submitted, envelope: NonNull<Submitted>) {
        let states =
            task.accesses().map(|access| NonNull::from(access.state().expect("each is of an array")));
        if let Some(choice) = &self.choice {
            choice.leave();
        }
        // SAFETY: guaranteed by the caller: the turn is still this replay's, whose envelope holds its accesses.
        unsafe { self.begin_tasks(envelope, states, Target::Any) };
    }

    fn has_ended(&self) {
        if let Some(choice) = &self.choice {
            choice.end(|| self.now());
        }
    }
}

impl Instance {
    /// What a replay is measured by.
    fn now(&self) -> Moment {
        let executor = self.engine.executor();
        Moment { time_ns: executor.clock().now_ns(), lost_tasks: executor.counters().lost_tasks() }
    }

    /// Begins a replay.
    ///
    /// # Safety
    /// The envelope has begun, and holds its accesses: to these arrays, and to the turn. For a body of a branch or of a loop:
    /// the envelope is that, no body of it is running, the turn is the one of its program, and the replay of that, which runs,
    /// has placed the body.
    pub(in crate::program) unsafe fn begin(
        self: Arc<Self>,
        envelope: NonNull<Submitted>,
        bound: impl Iterator<Item = NonNull<ArrayState>>,
        numbers: &CallNumbers,
    ) {
        // SAFETY: guaranteed by the caller.
        let moved_to = self.share.as_ref().and_then(|share| unsafe { share.take_over() });
        if let Some(memory) = moved_to {
            // SAFETY: the block has the bytes of the instance's share, and this replay has taken it over.
            unsafe { self.place(memory) };
        }
        for (node, varying) in &self.varying {
            // SAFETY: no replay runs, so the records are this thread's.
            let desc = unsafe { self.replay.nodes()[*node as usize].record.desc_mut() };
            varying.set(desc.arguments_mut(), numbers);
        }
        let running = Running { envelope, keeps: Arc::<Self>::clone(&self) };
        let executor = self.engine.executor();
        let on_device = self.on_device.as_ref().ok();
        let is_possible = |target| match target {
            Target::Graph => on_device.is_some_and(|device| device.is_possible(executor)),
            Target::Kind(worker) => executor.host().works(worker),
            Target::Any => true,
        };
        let mut target =
            self.choice.as_ref().map_or(Target::Graph, |choice| choice.begin(self.now(), is_possible));
        let device = on_device.filter(|device| target == Target::Graph && device.runs(executor));
        if target == Target::Graph && device.is_none() {
            self.choice.iter().for_each(TargetChoice::leave);
            target = Target::Any;
        }
        match device {
            // SAFETY: guaranteed by the caller.
            Some(device) => unsafe { device.begin(executor, running, bound) },
            // SAFETY: as above.
            None => unsafe { self.begin_tasks(envelope, bound, target) },
        }
    }

    /// Places its arrays in memory that begins here, and those of its bodies.
    ///
    /// # Safety
    /// The memory has its bytes, and belongs to the replay that has the turn; none of its tasks has begun.
    unsafe fn place(&self, memory: *mut u8) {
        for (state, offset) in &self.placed {
            // SAFETY: the instance keeps its states.
            let state = unsafe { state.as_ref() };
            // SAFETY: none is used: no task has begun. The memory has the bytes of the array from its offset on.
            unsafe { state.move_to(memory.wrapping_add(*offset)) };
        }
        for constant in &self.constants {
            // SAFETY: as above.
            unsafe { constant.give() };
        }
        for (body, offset) in &self.bodies {
            // SAFETY: guaranteed by the caller: a body runs for a task of the replay.
            unsafe { body.place(memory.wrapping_add(*offset)) };
        }
    }

    /// Begins a replay, task by task.
    ///
    /// # Safety
    /// As [`begin`](Self::begin); the plain arguments are those of the call.
    unsafe fn begin_tasks(
        self: Arc<Self>,
        envelope: NonNull<Submitted>,
        bound: impl Iterator<Item = NonNull<ArrayState>>,
        target: Target,
    ) {
        let executor = self.engine.executor();
        if self.choice.is_some() {
            let place = match target {
                Target::Kind(worker) => Placement::Prefers(worker),
                Target::Graph | Target::Any => Placement::Any,
            };
            for &node in &self.free {
                // SAFETY: no replay runs, so the records are this thread's.
                unsafe { self.replay.nodes()[node as usize].record.desc_mut() }.set_place(place);
            }
        }
        for (uses, state) in self.uses.iter().zip(bound) {
            // SAFETY: the envelope's access keeps the array.
            let id = unsafe { state.as_ref() }.id();
            for &(node, access) in uses {
                let record = &self.replay.nodes()[node as usize].record;
                // SAFETY: no replay runs, so the records are this thread's.
                unsafe { record.bind(access as usize, state.as_ptr()) };
                // SAFETY: as above.
                unsafe { record.desc_mut() }.rebind(access as usize, id, None);
            }
        }
        for array in &self.begins {
            // SAFETY: the instance keeps its states; no replay runs, so they are this thread's.
            unsafe { array.give() };
        }
        let mut sequence = executor.next_sequences(self.tasks);
        for node in self.replay.nodes() {
            // SAFETY: as above.
            let desc = unsafe { node.record.desc_mut() };
            if desc.codelet_if_any().is_none() {
                continue;
            }
            desc.set_sequence(sequence);
            sequence += 1;
        }
        let running = Running { envelope, keeps: Arc::<Self>::clone(&self) };
        if self.replay.nodes().is_empty() {
            return task::end_replay(running);
        }
        // SAFETY: no replay runs, and this thread begins one.
        unsafe { self.replay.begin(running) };
        let shown = executor.shows_submissions();
        for node in self.replay.nodes() {
            // SAFETY: it counts as submitted, and no thread knows it yet.
            let task = unsafe { node.record.submitted() };
            if shown && task.desc().is_kernel() {
                // The replay has begun: it goes on even if an observer panics.
                drop(catch_unwind(AssertUnwindSafe(|| executor.observe(task.desc()))));
            }
        }
        if let Some(recorder) = executor.recorder() {
            let steps = self.replay.nodes().iter().map(|node| {
                // SAFETY: as above.
                let task = unsafe { node.record.submitted() };
                let known_as = task.accesses().map(|access| access.state().map(ArrayState::known_as));
                let is_task = task.desc().codelet_if_any().is_some();
                (is_task.then(|| (task.desc(), known_as)), &node.after[..])
            });
            recorder.replayed(steps);
        }
        // SAFETY: the records are prepared, and `self` keeps them.
        unsafe { task::begin_replay(executor, &self.replay) };
    }
}
