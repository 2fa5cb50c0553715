//! Whether a device can run a program as one graph, and where its arrays are there: [`device_program`].

use std::collections::HashMap;
use std::sync::Arc;

use super::array_spec::{ArraySpec, Begins, Place};
use super::step_kind::StepKind;
use crate::access::AccessMode;
use crate::description::{Placement, Step as Part, TaskDesc};
use crate::executor::Executor;
use crate::graph::{DeviceFlow, DeviceProgram, DeviceStep, Fill, Flow, Replay, Source};
use crate::memory::ALIGN_BYTES;
use crate::observer::Forecast as _;

/// A step of an instance, as a device sees it.
pub(super) struct PlannedStep<'s> {
    pub(super) kind: &'s StepKind,
    /// The arrays, by number.
    pub(super) arrays: &'s [Option<usize>],
    /// The steps that come after it, by number.
    pub(super) after: &'s [u32],
    /// Whether each call sets plain arguments of it.
    pub(super) varies: bool,
    /// Of a branch or of a loop: what a device runs of each body, nothing for one without steps; or why no device does.
    pub(super) bodies: Vec<Result<Option<Arc<DeviceProgram>>, &'s str>>,
    /// Of a branch or of a loop: for each array, whether a body changes it.
    pub(super) body_changes: Vec<bool>,
}

/// The device's worker that runs programs as one graph: that of the first CUDA device.
///
/// # Errors
/// Why there is none.
pub(super) fn device_worker(executor: &Executor) -> Result<usize, String> {
    let worker = (0..executor.workers()).find(|&worker| executor.is_real_device(worker));
    let worker = worker.ok_or("there is no CUDA device")?;
    let device = executor.devices().and_then(|devices| devices.cuda(executor.worker(worker).node));
    match device.is_some_and(|device| device.runs_graphs()) {
        true => Ok(worker),
        false => Err("CUDA graphs are off (`DAHL_CUDA_GRAPHS=0`)".to_owned()),
    }
}

/// The steps as one graph of the device of `worker`, whose arrays are in a block of `block_bytes` bytes at their places.
///
/// # Errors
/// Why the device cannot run it so.
///
/// # Safety
/// `tasks` is kept for as long as the result, and has a task for each step.
#[allow(unsafe_code, reason = "passes its obligation on")]
pub(super) unsafe fn device_program(
    executor: &Executor,
    worker: usize,
    (arrays, block_bytes): (&[ArraySpec], usize),
    steps: &[PlannedStep<'_>],
    tasks: &Replay,
) -> Result<DeviceProgram, String> {
    let places = Places::new(arrays, steps)?;
    let mut before = vec![Vec::new(); steps.len()];
    for (number, step) in steps.iter().enumerate() {
        step.after.iter().for_each(|&after| before[after as usize].push(number as u32));
    }
    let mut device_steps = Vec::with_capacity(steps.len());
    for ((number, step), before) in steps.iter().enumerate().zip(before) {
        let mut flow = None;
        match &step.kind {
            StepKind::Task(desc) => require_device(executor, worker, desc)?,
            StepKind::Flow(of) => flow = Some(device_flow(executor, worker, arrays, step, *of)?),
            StepKind::Split(_) | StepKind::Join(_) | StepKind::Forget => {}
        }
        let sources = step.arrays.iter().enumerate().map(|(index, array)| match array {
            None => Ok(Source::Scratch),
            // They touch no memory here.
            Some(_) if matches!(step.kind, StepKind::Split(_) | StepKind::Join(_)) => Ok(Source::Scratch),
            Some(array) => places.source(*array, step, index),
        });
        let sources = sources.collect::<Result<_, String>>()?;
        let resets = step.arrays.iter().flatten().filter_map(|&array| places.reset_of(array));
        device_steps.push(DeviceStep {
            sources,
            arrays: step.arrays.iter().map(|array| array.map(|array| array as u32)).collect(),
            before: before.into(),
            resets: resets.collect(),
            clears: places.clears(steps, number),
            flow,
        });
    }
    let (bound, bound_arrays) = places.bound(steps);
    // SAFETY: guaranteed by the caller.
    let mut program = unsafe { DeviceProgram::new(tasks, device_steps, bound) };
    program.bound_arrays = bound_arrays;
    program.block_bytes = block_bytes;
    program.constants = places.constants.into();
    program.resets = places.resets.into();
    let varying = steps.iter().enumerate().filter(|(_, step)| step.varies);
    program.varying = varying.map(|(number, _)| number as u32).collect();
    Ok(program)
}

/// A branch or a loop, if the device can decide it and run its bodies.
fn device_flow(
    executor: &Executor,
    worker: usize,
    arrays: &[ArraySpec],
    step: &PlannedStep<'_>,
    flow: Flow,
) -> Result<DeviceFlow, String> {
    let on_host = |reason: &str| format!("`{}` decides on the host: {reason}", flow.name());
    let device = executor.devices().and_then(|devices| devices.cuda(executor.worker(worker).node));
    device.ok_or("there is no CUDA device")?.conditional_nodes().map_err(|reason| on_host(&reason))?;
    let condition = step.arrays.first().copied().flatten().ok_or("a condition is no array")?;
    let element = arrays[condition].element;
    let bits = flow.bits.ok_or_else(|| on_host(&format!("nobody knows which `{}` is zero", element.name)))?;
    let bodies = step.bodies.iter().zip(flow.bodies()).map(|(body, name)| match body {
        Ok(None) if flow.repeats => Err(on_host("its body has no tasks")),
        Ok(body) => Ok(body.clone()),
        Err(reason) => Err(on_host(&format!("no device runs its body `{name}`: {reason}"))),
    });
    let bodies = bodies.collect::<Result<_, String>>()?;
    Ok(DeviceFlow { repeats: flow.repeats, element: (element.size_bytes, bits), bodies })
}

/// Requires that a device can run a task.
fn require_device(executor: &Executor, worker: usize, desc: &TaskDesc) -> Result<(), String> {
    let name = || desc.codelet_if_any().map_or("", |codelet| codelet.name);
    if desc.operand_count() != desc.accesses().len() {
        return Err(format!("`{}` has tags", name()));
    }
    match desc.place() {
        Placement::Any | Placement::Prefers(_) => {}
        Placement::Worker(wanted) if wanted == worker => {}
        Placement::Worker(_) | Placement::KindOf(_) => {
            return Err(format!("`{}` is placed elsewhere", name()));
        }
    }
    match executor.host().can_run(worker, desc) {
        true => Ok(()),
        false => Err(format!("`{}` has no kernel for it", name())),
    }
}

/// Where the arrays of a program are on the device.
struct Places<'a> {
    arrays: &'a [ArraySpec],
    /// The whole array of each part.
    whole_of: HashMap<usize, usize>,
    /// Of each array that is not a part: how it, or parts of it, are used first, and whether they are changed.
    uses: Vec<Option<(AccessMode, bool)>>,
    constants: Vec<Fill>,
    constant_of: HashMap<usize, usize>,
    resets: Vec<(usize, Fill)>,
    reset_of: HashMap<usize, u32>,
}

impl<'a> Places<'a> {
    fn new(arrays: &'a [ArraySpec], steps: &[PlannedStep<'_>]) -> Result<Self, String> {
        let mut whole_of = HashMap::new();
        for step in steps {
            if let (StepKind::Split(_), [Some(whole), parts @ ..]) = (&step.kind, step.arrays) {
                whole_of.extend(parts.iter().flatten().map(|&part| (part, *whole)));
            }
        }
        let mut this = Self {
            arrays,
            whole_of,
            uses: vec![None; arrays.len()],
            constants: Vec::new(),
            constant_of: HashMap::new(),
            resets: Vec::new(),
            reset_of: HashMap::new(),
        };
        for step in steps {
            for (index, array) in step.arrays.iter().enumerate() {
                let Some(array) = *array else { continue };
                let Some((mode, changes)) = this.first_use(step, index, array) else { continue };
                let root = this.root(array);
                let uses = this.uses[root].get_or_insert((mode, false));
                uses.1 |= changes;
            }
        }
        for (array, spec) in arrays.iter().enumerate() {
            let Place::At(offset) = spec.place else { continue };
            let fill = || match &spec.initial {
                Some(bytes) => Fill::Bytes(bytes.to_vec()),
                None => Fill::zeros(spec.bytes),
            };
            match this.uses[array] {
                Some((_, false)) => {
                    this.constant_of.insert(array, this.constants.len());
                    this.constants.push(fill());
                }
                Some(_) if spec.begins == Begins::EachReplay => {
                    this.reset_of.insert(array, this.resets.len() as u32);
                    this.resets.push((offset, fill()));
                }
                _ => {}
            }
        }
        Ok(this)
    }

    /// How a step uses an array, if that was the first use of all, and whether it changes it. None if it touches no element.
    fn first_use(&self, step: &PlannedStep<'_>, index: usize, array: usize) -> Option<(AccessMode, bool)> {
        let desc = match &step.kind {
            StepKind::Task(desc) => desc,
            StepKind::Flow(_) => {
                let changes = step.body_changes[index];
                return Some((if changes { AccessMode::RW } else { AccessMode::R }, changes));
            }
            StepKind::Forget if self.whole_of.contains_key(&array) => return Some((AccessMode::RW, true)),
            StepKind::Forget => return Some((AccessMode::W, true)),
            StepKind::Split(_) | StepKind::Join(_) => return None,
        };
        let changes = !desc.access(index).mode.is_shared();
        let mode = match overwrites(desc, index) && !self.whole_of.contains_key(&array) {
            true => AccessMode::W,
            false if changes => AccessMode::RW,
            false => AccessMode::R,
        };
        Some((mode, changes))
    }

    /// The array that is no part of another one of the program.
    fn root(&self, array: usize) -> usize {
        let mut root = array;
        while let Some(&whole) = self.whole_of.get(&root) {
            root = whole;
        }
        root
    }

    fn source(&self, array: usize, step: &PlannedStep<'_>, index: usize) -> Result<Source, String> {
        let (root, spec) = (self.root(array), &self.arrays[array]);
        let mut offset = 0;
        if let Place::Part(part) = spec.place {
            offset = part.layout.offset * spec.element.size_bytes;
            // As arrays are in the block: kernels and libraries choose by alignment.
            if !part.layout.is_contiguous() || offset % ALIGN_BYTES != 0 {
                return Err("a part of an array is strided, or is not aligned".to_owned());
            }
            if self.arrays[root].part.is_some() {
                return Err("an argument is a part of an array, and is cut into parts".to_owned());
            }
        }
        if let StepKind::Task(desc) = &step.kind {
            let is_buffer = matches!(desc.access(index).mode, AccessMode::REDUX(_)) || desc.is_combination();
            let bytes = desc.access(index).layout.len() * spec.element.size_bytes;
            if bytes != spec.bytes && !is_buffer {
                return Err("a task uses a piece of an array".to_owned());
            }
        }
        Ok(match (self.constant_of.get(&root), self.arrays[root].place) {
            (Some(&index), _) => Source::Constant { index, offset },
            (None, Place::Bound(index)) => Source::Bound { index, offset },
            (None, Place::At(place)) => Source::Block(place + offset),
            (None, Place::Part(_)) => return Err("a part of an array has no whole array".to_owned()),
        })
    }

    fn reset_of(&self, array: usize) -> Option<u32> {
        self.reset_of.get(&self.root(array)).copied()
    }

    /// For a step that discards an array's value, if what reads it next must find zeros: how many bytes.
    fn clears(&self, steps: &[PlannedStep<'_>], number: usize) -> Option<usize> {
        let StepKind::Forget = &steps[number].kind else { return None };
        let array = steps[number].arrays[0]?;
        let next = steps[number + 1..].iter().find_map(|step| {
            let index = step.arrays.iter().position(|other| *other == Some(array))?;
            let StepKind::Task(desc) = &step.kind else { return Some(false) };
            Some(overwrites(desc, index))
        });
        let is_read = match next {
            Some(overwrites) => !overwrites,
            None => matches!(self.arrays[self.root(array)].place, Place::Bound(_)),
        };
        is_read.then_some(self.arrays[array].bytes)
    }

    /// How each bound array is used, in their order, and its number.
    fn bound(&self, steps: &[PlannedStep<'_>]) -> (Box<[AccessMode]>, Box<[u32]>) {
        let mut bound: Vec<(usize, AccessMode, u32)> = Vec::new();
        for (array, spec) in self.arrays.iter().enumerate() {
            let Place::Bound(index) = spec.place else { continue };
            let is_first_whole = steps
                .iter()
                .find_map(|step| {
                    let index = step.arrays.iter().position(|other| *other == Some(array))?;
                    let StepKind::Task(desc) = &step.kind else {
                        return Some(matches!(step.kind, StepKind::Forget));
                    };
                    let bytes = desc.access(index).layout.len() * spec.element.size_bytes;
                    Some(overwrites(desc, index) && bytes == spec.bytes)
                })
                .unwrap_or(false);
            let mode = match self.uses[array] {
                Some((AccessMode::W, _)) if is_first_whole => AccessMode::W,
                Some((_, true)) => AccessMode::RW,
                _ => AccessMode::R,
            };
            bound.push((index, mode, array as u32));
        }
        bound.sort_unstable_by_key(|(index, ..)| *index);
        (bound.iter().map(|(_, mode, _)| *mode).collect(), bound.iter().map(|(.., array)| *array).collect())
    }
}

/// Whether a task writes all of an array without reading it.
fn overwrites(desc: &TaskDesc, index: usize) -> bool {
    let access = desc.access(index);
    let is_total = || {
        let is_finish = desc.combination().is_some_and(|what| matches!(what.step, Part::Finish(_)));
        is_finish && index == 0 && access.begins
    };
    access.mode == AccessMode::W || is_total()
}
