//! [`Instance`]: a program that is ready to run on a runtime. `README.md` says who may touch its parts.
#![allow(unsafe_code, reason = "fills in records and arrays that one replay at a time owns")]

use std::panic::Location;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::apart::Apart;
use super::array_spec::{ArraySpec, Begins, Place};
use super::bodies::{Instances, fill_flow};
use super::bound::{BoundSpec, bound};
use super::check;
use super::device_plan::PlannedStep;
use super::engine::Engine;
use super::first_value::FirstValue;
use super::on_device::OnDevice;
use super::program_memory::{ProgramMemory, Share};
use super::step_kind::StepKind;
use super::steps::Step;
use super::target::{Target, targets};
use super::target_choice::{Candidate, TargetChoice};
use super::varying::Varying;
use crate::codelet::Codelet;
use crate::description::Placement;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{ArrayState, Content, DeviceProgram, Origin, Party, Record, Replay};
use crate::memory::ALIGN_BYTES;
use crate::task;

mod begin;
mod pending_call;
mod submission;

use pending_call::PendingCalls;

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
    /// What arrays get when they are placed.
    constants: Vec<FirstValue>,
    /// The bodies of branches and loops, with the places of their memory in its memory.
    bodies: Vec<(Arc<Self>, usize)>,
    /// The bytes of its memory, with that of its bodies.
    bytes: usize,
    /// Of the program's memory; none for a body, whose memory is a part of its program's.
    share: Option<Share>,
    /// Of each bound array: the accesses to it, by step and number.
    uses: Vec<Vec<(u32, u32)>>,
    /// What each bound array must be.
    bound: Vec<BoundSpec>,
    /// What arrays begin each replay with.
    begins: Vec<FirstValue>,
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

impl Instance {
    /// A program of `steps` on `arrays`, of which those that are not bound have `bytes` bytes together, in `memory`; or
    /// without it, a body of a branch or of a loop, whose memory is a part of its program's.
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
        memory: Option<&Arc<ProgramMemory>>,
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
        let mut all_bytes = host_bytes.next_multiple_of(ALIGN_BYTES);
        let place = |body: &Arc<Self>| {
            let offset = all_bytes;
            all_bytes += body.bytes;
            (Arc::clone(body), offset)
        };
        let bodies = steps.iter().flat_map(|step| &step.bodies).map(place).collect();
        let share = memory.map(|memory| memory.share(engine, all_bytes, location)).transpose()?;
        // Nothing fails from here on: the states that are made are those of the result.
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
                    let state = ArrayState::create(&shared, element, nowhere, bytes, origin, content, None);
                    placed.push((state, offset));
                    state
                }
            };
            let first_value = || FirstValue::new(state, array.initial.as_ref(), array.bytes);
            match array.begins {
                Begins::Unset => {}
                Begins::EachReplay => begins.push(first_value()),
                Begins::Placed => constants.push(first_value()),
            }
            bound_by.push(0);
            states.push(Some(state));
        }
        let mut uses = vec![Vec::new(); bound.len()];
        let is_task = |step: &&Step| matches!(step.kind, StepKind::Task(_) | StepKind::Flow(_));
        let tasks = steps.iter().filter(is_task).count() as u64;
        let mut flows = Vec::new();
        let mut records = Vec::with_capacity(steps.len());
        let mut varying = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            varying.extend(step.varying.iter().map(|bytes| (number as u32, bytes.clone())));
            let record = Record::new(u32::MAX);
            // SAFETY: nothing else knows the record.
            let desc = unsafe { record.desc_mut() };
            if let StepKind::Flow(flow) = step.kind {
                fill_flow(desc, flow, step);
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
            let Step { kind, arrays, after, varying, bodies, .. }: &Step = step;
            let changes = |index| bodies.iter().any(|body| body.changes(index));
            PlannedStep {
                kind,
                arrays,
                after,
                varies: !varying.is_empty(),
                bodies: bodies.iter().map(|body| body.body_on_device()).collect(),
                body_changes: (0..arrays.len()).map(changes).collect(),
            }
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
        let engine = engine.clone();
        Ok(Arc::new(Self {
            engine,
            name,
            replay,
            arrays: states,
            placed,
            constants,
            bodies,
            bytes: all_bytes,
            share,
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
            Ok(device) if device.program().is_some_and(|program| program.is_refused()) => {
                Err("the device refuses it, for a reason that was printed")
            }
            Ok(_) => Ok(()),
            Err(reason) => Err(reason.as_str()),
        };
        self.engine.has_devices().then_some(result)
    }

    /// What a device runs of it, as a body of a program that the device runs; nothing if it has no steps.
    ///
    /// # Errors
    /// Why no device does.
    pub(super) fn body_on_device(&self) -> std::result::Result<Option<Arc<DeviceProgram>>, &str> {
        if self.replay.nodes().is_empty() {
            return Ok(None);
        }
        Ok(self.on_device.as_ref().map_err(String::as_str)?.program().cloned())
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
