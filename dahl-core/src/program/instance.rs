//! [`Instance`]: a program that is ready to run on a runtime. `README.md` says who may touch its parts.
#![allow(unsafe_code, reason = "fills in records and arrays that one replay at a time owns")]

use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::apart::Apart;
use super::array_spec::{ArraySpec, Begins, Place};
use super::bodies::{Instances, fill_flow};
use super::bound::{BoundSpec, bound};
use super::check;
use super::device_plan::PlannedStep;
use super::engine::Engine;
use super::first_value::give_first_value;
use super::on_device::OnDevice;
use super::pending_call::PendingCalls;
use super::scratch::{Scratch, Tenancy};
use super::step_kind::StepKind;
use super::steps::Step;
use super::target::{Target, targets};
use super::target_choice::{Candidate, Moment, TargetChoice};
use super::varying::{CallNumbers, Varying};
use crate::codelet::Codelet;
use crate::description::Placement;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{
    ArrayState, Content, DeviceProgram, Keeps, Origin, Party, Record, Replay, Running, Submitted,
};
use crate::memory::ALIGN_BYTES;
use crate::task;

/// A program that is ready to run.
#[derive(Debug)]
pub struct Instance {
    engine: Engine,
    name: &'static Codelet,
    /// As one task of a device; or why no device runs it so. Dropped before `replay`, to which it refers.
    on_device: std::result::Result<OnDevice, String>,
    replay: Box<Replay>,
    /// Those that are not bound.
    arrays: Vec<Option<NonNull<ArrayState>>>,
    /// Those that have a place in its memory, with that place.
    placed: Vec<(NonNull<ArrayState>, usize)>,
    /// Arrays that get their first value, which is this or zeros, with their place.
    constants: Vec<(NonNull<ArrayState>, Option<Arc<[u8]>>)>,
    /// The bodies of branches and loops, with the places of their memory in its memory.
    bodies: Vec<(Arc<Self>, usize)>,
    /// The bytes of its memory, with that of its bodies.
    bytes: usize,
    /// Its right to use the program's memory; none for a body, which has a place in that of its program.
    tenancy: Option<Tenancy>,
    /// Of each bound array: the accesses to it, by step and number.
    uses: Vec<Vec<(u32, u32)>>,
    /// What each bound array must be.
    bound: Vec<BoundSpec>,
    /// Arrays that begin each replay with their first value, which is this or zeros.
    begins: Vec<(NonNull<ArrayState>, Option<Arc<[u8]>>)>,
    /// The plain arguments that each replay sets, by step.
    varying: Vec<(u32, Varying)>,
    /// The bytes of numbers that a call needs for that.
    numbers: usize,
    /// The number of steps that workers run, and of branches and loops.
    tasks: u64,
    /// Where it runs, if that is measured.
    choice: Option<TargetChoice>,
    /// The steps whose tasks may run on any worker.
    free: Box<[u32]>,
    pending: PendingCalls,
}

// SAFETY: the states are the instance's own; the records belong to the thread that begins a replay, and one
// replay runs at a time.
unsafe impl Send for Instance {}
// SAFETY: as for `Send`.
unsafe impl Sync for Instance {}

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
    /// A program of `steps` on `arrays`, of which those that are not bound have `bytes` bytes together, in `scratch`; or
    /// without it, a body of a branch or of a loop, which has its memory in that of its program.
    ///
    /// # Errors
    /// If memory cannot be allocated; or if the steps could run in an order in which two of them meet in memory: the
    /// passes and plans above are not trusted.
    pub fn new(
        engine: &Engine,
        name: &'static Codelet,
        arrays: Vec<ArraySpec>,
        bytes: usize,
        steps: Vec<Step>,
        scratch: Option<&Arc<Scratch>>,
        location: &'static Location<'static>,
    ) -> Result<Arc<Self>> {
        check::check(&arrays, bytes, &steps).map_err(|fact| {
            let fact = format!("its plan is wrong, which is an error in dahl: {fact}");
            Error::at(ErrorKind::Program { program: name.name, fact }, location)
        })?;
        let executor = engine.executor();
        let shared = engine.shared();
        // In main memory arrays that may be on a device do not share places: a replica of an earlier one could come home later.
        let placed = |array: &ArraySpec| if matches!(array.place, Place::At(_)) { array.bytes } else { 0 };
        let apart = engine.has_devices().then(|| Apart::of(arrays.iter().map(placed)));
        let host_bytes = apart.as_ref().map_or(bytes, |apart| apart.bytes);
        let mut states = Vec::with_capacity(arrays.len());
        let (mut placed, mut begins, mut constants) = (Vec::new(), Vec::new(), Vec::new());
        let bound = bound(&arrays, &steps);
        let mut bound_by = Vec::with_capacity(arrays.len());
        for (number, array) in arrays.iter().enumerate() {
            let state = match array.place {
                Place::Bound(index) => {
                    bound_by.push(index);
                    states.push(None);
                    continue;
                }
                Place::Part(part) => ArrayState::create_part_of(&shared, array.element, part.layout),
                Place::At(offset) => {
                    let offset = apart.as_ref().map_or(offset, |apart| apart.offsets[number]);
                    assert!(offset + array.bytes <= host_bytes, "an array is outside of its memory");
                    let (element, bytes, nowhere) = (array.element, array.bytes, ptr::null_mut());
                    let (origin, content) = (Origin::None, Content::Unset);
                    let state =
                        ArrayState::create(&shared, element, nowhere, bytes, origin, content, None);
                    placed.push((state, offset));
                    state
                }
            };
            if let Some(initial) = &array.initial {
                assert_eq!(initial.len(), array.bytes, "a value has the bytes of its array");
            }
            match array.begins {
                Begins::Unset => {}
                Begins::EachReplay => begins.push((state, array.initial.clone())),
                Begins::Placed => constants.push((state, array.initial.clone())),
            }
            bound_by.push(0);
            states.push(Some(state));
        }
        let mut uses = vec![Vec::new(); bound.len()];
        let is_task = |step: &&Step| matches!(step.kind, StepKind::Task(_) | StepKind::Flow(_));
        let tasks = steps.iter().filter(is_task).count() as u64;
        let (mut flows, mut bodies) = (Vec::new(), Vec::new());
        let mut bytes_with_bodies = host_bytes.next_multiple_of(ALIGN_BYTES);
        let mut records = Vec::with_capacity(steps.len());
        let mut varying = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            varying.extend(step.varying.iter().map(|bytes| (number as u32, bytes.clone())));
            let record = Record::new(u32::MAX);
            // SAFETY: nothing else knows the record.
            let desc = unsafe { record.desc_mut() };
            if let StepKind::Flow(flow) = step.kind {
                fill_flow(desc, flow, step);
                for body in &step.bodies {
                    bodies.push((Arc::clone(body), bytes_with_bodies));
                    bytes_with_bodies += body.bytes;
                }
                flows.push((number, Instances::new(flow, step.bodies.clone())));
            } else {
                step.kind.describe(desc, step.arrays.len(), step.location);
            }
            for (index, array) in step.arrays.iter().enumerate() {
                let state = match array {
                    None => ptr::null(),
                    Some(array) => match states[*array] {
                        Some(state) => {
                            // SAFETY: the instance keeps its states.
                            desc.rebind(index, unsafe { state.as_ref() }.id(), None);
                            state.as_ptr().cast_const()
                        }
                        None => {
                            uses[bound_by[*array]].push((number as u32, index as u32));
                            ptr::null()
                        }
                    },
                };
                // SAFETY: as above.
                unsafe { record.bind(index, state) };
            }
            records.push((record, step.after.clone()));
        }
        let numbers = varying.iter().map(|(_, varying)| varying.needs()).max().unwrap_or(0);
        let mut replay = Replay::new(records);
        for (node, bodies) in flows {
            replay.set_bodies(node, Box::new(bodies));
        }
        for node in replay.nodes() {
            // SAFETY: as above.
            drop(unsafe { node.record.set_party(Party::Node(node.address())) });
        }
        let planned = |step| {
            let Step { kind, arrays, after, varying, .. }: &Step = step;
            PlannedStep { kind, arrays, after, varies: !varying.is_empty() }
        };
        let planned: Vec<_> = steps.iter().map(planned).collect();
        let bound_bytes = bound.iter().map(BoundSpec::bytes);
        let on_device =
            OnDevice::new(executor, name, (&arrays, bytes), &planned, bound_bytes, &replay, location);
        let graph = on_device.is_ok().then_some(Target::Graph);
        let targets = targets(executor, &arrays, &planned, graph);
        let choice = targets.and_then(TargetChoice::new);
        let is_free = |(number, step): (usize, &Step)| {
            let StepKind::Task(desc) = &step.kind else { return None };
            (desc.place() == Placement::Any).then_some(number as u32)
        };
        let free = steps.iter().enumerate().filter_map(is_free).collect();
        let let_in = |scratch: &Arc<Scratch>| scratch.let_in(engine, bytes_with_bodies, location);
        let tenancy = scratch.map(let_in).transpose()?;
        let engine = engine.clone();
        Ok(Arc::new(Self {
            engine,
            name,
            replay,
            arrays: states,
            placed,
            constants,
            bodies,
            bytes: bytes_with_bodies,
            tenancy,
            uses,
            bound,
            begins,
            varying,
            numbers,
            tasks,
            choice,
            free,
            on_device,
            pending: PendingCalls::default(),
        }))
    }

    /// The number of tasks of a replay, of which each branch and each loop is one.
    pub fn tasks(&self) -> u64 {
        self.tasks
    }

    /// Whether a CUDA device runs it as one graph, or why it does not; nothing if the runtime has no devices.
    pub fn on_device(&self) -> Option<std::result::Result<(), &str>> {
        let result = match &self.on_device {
            Ok(device) if device.program().is_some_and(DeviceProgram::is_refused) => {
                Err("the device refuses it, for a reason that was printed")
            }
            Ok(_) => Ok(()),
            Err(reason) => Err(reason.as_str()),
        };
        self.engine.has_devices().then_some(result)
    }

    /// What the bound arrays must be.
    pub(super) fn bound(&self) -> &[BoundSpec] {
        &self.bound
    }

    /// Whether it changes bound array `index`, or a part of it.
    pub(super) fn changes(&self, index: usize) -> bool {
        self.bound.get(index).is_some_and(BoundSpec::changes)
    }

    /// Whether a call sets plain arguments.
    pub(super) fn varies(&self) -> bool {
        !self.varying.is_empty()
    }

    /// The array that each replay accesses exclusively.
    ///
    /// # Panics
    /// If it is a body, which runs in the turn of its program.
    pub(super) fn turn(&self) -> &ArrayState {
        self.tenancy.as_ref().expect("a body is not submitted by itself").turn().state()
    }

    /// The engine of its runtime.
    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The codelet that a replay is shown as.
    pub(super) fn name(&self) -> &'static Codelet {
        self.name
    }

    /// The bytes of numbers that a call needs for the plain arguments that it sets.
    pub(super) fn numbers(&self) -> usize {
        self.numbers
    }

    /// The calls that are kept for reuse.
    pub(super) fn pending(&self) -> &PendingCalls {
        &self.pending
    }

    /// What a replay is measured by.
    fn now(&self) -> Moment {
        let executor = self.engine.executor();
        Moment { time_ns: executor.clock().now_ns(), lost_tasks: executor.counters().lost_tasks() }
    }

    /// Where it runs now, whether that was chosen for good, and what is known of each target, in lines; nothing if it is not measured.
    pub fn shown_target(&self) -> Option<String> {
        let executor = self.engine.executor();
        let (target, is_settled, candidates) = self.choice.as_ref()?.shown();
        let us = |ns: u64| format!("{:.1} us", ns as f64 / 1e3);
        let line = |candidate: &Candidate| {
            let known = match (candidate.least_ns, candidate.expected_ns) {
                (Some(ns), _) => us(ns),
                (None, Some(ns)) => format!("not tried, expected {}", us(ns)),
                (None, None) => "not tried".to_owned(),
            };
            format!("{}: {known}", candidate.target.name(executor))
        };
        let head = if is_settled { "runs" } else { "is tried" };
        let lines = candidates.iter().map(line).collect::<Vec<_>>().join("; ");
        Some(format!("{head} {} ({lines})", target.name(executor)))
    }

    /// Begins a replay.
    ///
    /// # Safety
    /// The envelope has begun, and holds its accesses: to these arrays, and to the turn. For a body of a branch or of a loop:
    /// the envelope is that, no body of it is running, and the turn is the one of its program.
    pub(super) unsafe fn begin(
        self: Arc<Self>,
        envelope: NonNull<Submitted>,
        bound: impl Iterator<Item = NonNull<ArrayState>>,
        numbers: &CallNumbers,
    ) {
        // SAFETY: guaranteed by the caller.
        let memory = self.tenancy.as_ref().and_then(|tenancy| unsafe { tenancy.enter() });
        if let Some(memory) = memory {
            // SAFETY: the memory has as many bytes as the instance was let in for, and is this replay's.
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
            // SAFETY: the instance keeps its states, of which none is used: no task has begun.
            unsafe { state.as_ref().move_to(memory.wrapping_add(*offset)) };
        }
        for (state, initial) in &self.constants {
            // SAFETY: as above.
            unsafe { give_first_value(state.as_ref(), initial.as_deref()) };
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
        for (state, initial) in &self.begins {
            // SAFETY: the instance keeps its states.
            let state = unsafe { state.as_ref() };
            // SAFETY: no replay runs, so the array is this thread's.
            unsafe { give_first_value(state, initial.as_deref()) };
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

impl Drop for Instance {
    fn drop(&mut self) {
        let executor = self.engine.executor();
        for state in self.arrays.drain(..).flatten() {
            // SAFETY: the instance owns its states, and no replay runs: the running one keeps the instance.
            unsafe { task::release_array(executor, state) };
        }
    }
}
