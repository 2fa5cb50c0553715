//! [`Prepared`]: the graph of a program, with all memory that it uses beside the bound arrays.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::super::super::task_error::TaskError;
use super::super::Worker;
use super::super::underway::FINE;
use super::failures::{reads, writes};
use super::flow::PreparedBody;
use super::step::{Made, PreparedStep};
use crate::cuda::{Allocation, Captured, CudaDevice, CudaError, Event, Pinned, ProgramGraph};
use crate::graph::{DeviceProgram, Fill, Source, Submitted};

/// The graph of a program, or of a body in it.
pub(super) struct Prepared {
    pub(super) graph: ProgramGraph,
    /// The arrays of the program, at their places.
    block: Option<Allocation>,
    constants: Vec<Allocation>,
    /// What tasks use for themselves.
    pub(super) own: Vec<Allocation>,
    /// Each is empty only while it is changed.
    pub(super) steps: Vec<Option<PreparedStep>>,
    /// The node of the last call of a library.
    pub(super) last_call: Option<usize>,
    /// Where the bound arrays were at the last launch.
    pub(super) bound: Vec<*mut u8>,
    /// Of each array: the steps whose failure would leave it without a value, while the graph is made.
    depends_on: HashMap<u32, BTreeSet<usize>>,
    is_body: bool,
    device: Arc<CudaDevice>,
}

// SAFETY: the addresses are the device's, which the host does not use.
unsafe impl Send for Prepared {}

impl Prepared {
    /// The graph of a program whose bound arrays are at these addresses.
    pub(super) fn new(
        worker: &mut Worker<'_>,
        program: &DeviceProgram,
        bound: &[*mut u8],
        task: &Submitted,
    ) -> Result<Self, TaskError> {
        let graph = worker.expect(ProgramGraph::new(worker.device))?;
        let mut this = Self::with_nodes(worker, program, (graph, false), bound, task)?;
        worker.expect(this.graph.instantiate())?;
        Ok(this)
    }

    /// The graph of a body, which is `graph` so far.
    pub(super) fn of_body(
        worker: &mut Worker<'_>,
        program: &DeviceProgram,
        graph: ProgramGraph,
        bound: &[*mut u8],
        task: &Submitted,
    ) -> Result<Self, TaskError> {
        Self::with_nodes(worker, program, (graph, true), bound, task)
    }

    /// Adds the nodes of a program to a graph.
    fn with_nodes(
        worker: &mut Worker<'_>,
        program: &DeviceProgram,
        (graph, is_body): (ProgramGraph, bool),
        bound: &[*mut u8],
        task: &Submitted,
    ) -> Result<Self, TaskError> {
        let location = task.desc().location();
        let block = match program.block_bytes {
            0 => None,
            bytes => Some(worker.allocate(bytes, "program", location)?),
        };
        let constants = program.constants.iter().map(|fill| worker.filled(fill, task));
        let constants = constants.collect::<Result<_, TaskError>>()?;
        let mut this = Self {
            graph,
            block,
            constants,
            own: Vec::new(),
            steps: Vec::new(),
            last_call: None,
            bound: bound.to_vec(),
            depends_on: HashMap::new(),
            is_body,
            device: Arc::clone(worker.device),
        };
        let mut resets = Vec::with_capacity(program.resets.len());
        for (offset, fill) in &program.resets {
            resets.push(this.add_reset(worker, *offset, fill, task)?);
        }
        for number in 0..program.steps.len() {
            let made = this.make_step(worker, program, number, &resets)?;
            this.steps.push(Some(made));
            this.note_dependence(program, number);
        }
        Ok(this)
    }

    /// The nodes that come before a step.
    pub(super) fn nodes_before(
        &self,
        program: &DeviceProgram,
        number: usize,
        resets: &[Option<usize>],
    ) -> Vec<usize> {
        let step = &program.steps[number];
        let ends =
            |&before: &u32| self.steps[before as usize].iter().flat_map(|step| step.ends.iter().copied());
        let resets = step.resets.iter().filter_map(|&reset| resets[reset as usize]);
        let mut nodes: Vec<usize> = step.before.iter().flat_map(ends).chain(resets).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// Adds a node that gives a place in the block its first value.
    fn add_reset(
        &mut self,
        worker: &Worker<'_>,
        offset: usize,
        fill: &Fill,
        task: &Submitted,
    ) -> Result<Option<usize>, TaskError> {
        if fill.len() == 0 {
            return Ok(None);
        }
        let to = self.address(Source::Block(offset)).addr() as u64;
        let added = match fill {
            // SAFETY: the block is entered before each launch, and stamped behind it (D2); nothing else uses this place before.
            Fill::Words(word, bytes) => unsafe { self.graph.add_set(to, *bytes, *word, &[]) },
            Fill::Bytes(bytes) => {
                let from = worker.filled(fill, task)?;
                let address = from.pointer().addr() as u64;
                self.own.push(from);
                // SAFETY: as above, of both.
                unsafe { self.graph.add_copy(to, address, bytes.len(), &[]) }
            }
        };
        worker.expect(added).map(Some)
    }

    /// Where an array is that is no scratch.
    pub(super) fn address(&self, source: Source) -> *mut u8 {
        match source {
            Source::Bound { index, offset } => self.bound[index].wrapping_add(offset),
            Source::Block(offset) => {
                let block = self.block.as_ref().map_or(std::ptr::null_mut(), Allocation::pointer);
                block.wrapping_add(offset)
            }
            Source::Constant { index, offset } => self.constants[index].pointer().wrapping_add(offset),
            Source::Scratch => std::ptr::null_mut(),
        }
    }

    /// The same for a launch that comes next: no task has failed in it.
    pub(super) fn update(
        &mut self,
        worker: &mut Worker<'_>,
        program: &DeviceProgram,
        bound: &[*mut u8],
    ) -> Result<bool, TaskError> {
        let is_same = self.rebind(worker, program, bound)?;
        let device = Arc::clone(&self.device);
        self.each_verdict_mut(&mut |word| device.set_word(word, FINE));
        Ok(is_same)
    }

    /// Lets the graph use bound arrays at these addresses, and the plain arguments of the call. False if another graph is needed.
    pub(super) fn rebind(
        &mut self,
        worker: &mut Worker<'_>,
        program: &DeviceProgram,
        bound: &[*mut u8],
    ) -> Result<bool, TaskError> {
        let mut changed: Vec<u32> = program.varying.to_vec();
        for ((uses, old), new) in program.uses.iter().zip(&self.bound).zip(bound) {
            if old != new {
                changed.extend(uses);
            }
        }
        self.bound.clear();
        self.bound.extend(bound);
        changed.sort_unstable();
        changed.dedup();
        for &number in &changed {
            let mut step = self.steps[number as usize].take().expect("it is not being changed");
            let is_same = step.update(self, worker, program, number as usize);
            self.steps[number as usize] = Some(step);
            if !is_same? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Puts the graph into the compute stream.
    pub(super) fn launch(&mut self) -> Result<(), CudaError> {
        // SAFETY: what its nodes use: the bound arrays, which the compute stream has entered and the caller stamps; and memory of
        // its own, which only its launches use, one after the other in that stream, and which is stamped behind each (D2).
        unsafe { self.graph.launch() }
    }

    /// Records that the compute stream uses all memory of the program up to `event`.
    pub(super) fn stamp(&mut self, event: &Event) {
        let workspaces = self.steps.iter_mut().flatten().flat_map(|step| &mut step.workspaces);
        for memory in self.block.iter_mut().chain(&mut self.own).chain(workspaces) {
            memory.leave_compute(event, true);
        }
        for memory in &mut self.constants {
            memory.leave_compute(event, false);
        }
        for step in self.steps.iter_mut().flatten() {
            step.bodies_mut().iter_mut().for_each(|body| body.prepared.stamp(event));
        }
    }

    /// Whether some tasks can report that they have failed.
    pub(super) fn can_fail(&self) -> bool {
        self.words().next().is_some()
    }

    /// What task `number` has reported, after the last launch has run.
    pub(super) fn verdict(&self, number: usize) -> u64 {
        let word = self.steps[number].as_ref().and_then(|step| step.verdict.as_ref());
        word.map_or(FINE, |word| self.device.peek_word(word))
    }

    /// Whether any task has reported a failure.
    pub(super) fn has_failure(&self) -> bool {
        let has = |number: usize| {
            self.verdict(number) != FINE || self.bodies(number).iter().any(|body| body.prepared.has_failure())
        };
        (0..self.steps.len()).any(has)
    }

    /// The bodies of a step.
    pub(super) fn bodies(&self, number: usize) -> &[PreparedBody] {
        self.steps[number].as_ref().map_or(&[], PreparedStep::bodies)
    }

    /// The addresses of the words in which tasks report failures, those of bodies included.
    pub(super) fn words(&self) -> Box<dyn Iterator<Item = u64> + '_> {
        Box::new(self.steps.iter().flatten().flat_map(PreparedStep::words))
    }

    fn each_verdict_mut(&mut self, see: &mut dyn FnMut(&mut Pinned)) {
        for step in self.steps.iter_mut().flatten() {
            step.verdict.iter_mut().for_each(&mut *see);
            step.bodies_mut().iter_mut().for_each(|body| body.prepared.each_verdict_mut(see));
        }
    }

    /// The words of earlier steps whose failure would leave something without a value that a step reads.
    pub(super) fn words_before(&self, program: &DeviceProgram, number: usize) -> Vec<u64> {
        let steps = self.causes(program, number);
        steps.into_iter().filter_map(|step| self.steps[step].as_ref()).flat_map(PreparedStep::words).collect()
    }

    /// Earlier steps whose failure would leave something without a value that a step reads.
    fn causes(&self, program: &DeviceProgram, number: usize) -> BTreeSet<usize> {
        let desc = program.task(number).desc();
        let arrays = program.steps[number].arrays.iter().enumerate();
        let read = arrays.filter(|(index, _)| reads(desc, *index)).filter_map(|(_, array)| *array);
        read.filter_map(|array| self.depends_on.get(&array)).flatten().copied().collect()
    }

    /// Notes what the arrays that a step writes depend on from then on.
    fn note_dependence(&mut self, program: &DeviceProgram, number: usize) {
        let mut causes = self.causes(program, number);
        let can_fail = self.steps[number].as_ref().is_some_and(|step| step.words().next().is_some());
        causes.extend(can_fail.then_some(number));
        let desc = program.task(number).desc();
        let arrays = program.steps[number].arrays.iter().enumerate();
        for array in arrays.filter(|(index, _)| writes(desc, *index)).filter_map(|(_, array)| *array) {
            self.depends_on.insert(array, causes.clone());
        }
    }

    /// The nodes at which its steps end: those after which nothing is left to run.
    pub(super) fn ends(&self) -> Vec<usize> {
        let mut ends: Vec<usize> =
            self.steps.iter().flatten().flat_map(|step| step.ends.iter().copied()).collect();
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    /// What a call of a library needs that it cannot have, since this is a body.
    pub(super) fn unfit(
        &self,
        worker: &Worker<'_>,
        call: &Captured,
    ) -> Result<Option<&'static str>, TaskError> {
        if self.is_body { worker.expect(call.unfit_for_body()) } else { Ok(None) }
    }

    /// Adds the nodes of a step.
    fn make_step(
        &mut self,
        worker: &mut Worker<'_>,
        program: &DeviceProgram,
        number: usize,
        resets: &[Option<usize>],
    ) -> Result<PreparedStep, TaskError> {
        let before = self.nodes_before(program, number, resets);
        let Made { mut step, nodes } = PreparedStep::add(self, worker, program, number, before.clone())?;
        step.ends = if nodes.is_empty() { before } else { nodes };
        Ok(step)
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        for step in self.steps.drain(..).flatten() {
            step.verdict.into_iter().for_each(|word| self.device.leave_word(word));
        }
    }
}

impl Worker<'_> {
    /// Memory of the device with these bytes.
    pub(super) fn filled(&self, fill: &Fill, task: &Submitted) -> Result<Allocation, TaskError> {
        let bytes = fill.len().max(1);
        let mut memory = self.allocate(bytes, "constant", task.desc().location())?;
        let filled = match fill {
            Fill::Words(word, bytes) => memory.set(*bytes, *word),
            Fill::Bytes(from) => memory.fill(from.len(), |to| to[..from.len()].copy_from_slice(from)),
        };
        self.expect(filled)?;
        self.expect(memory.enter_compute(false))?;
        Ok(memory)
    }
}
