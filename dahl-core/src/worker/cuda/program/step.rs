//! [`PreparedStep`]: the nodes of one task of a program.

use super::super::super::task_error::TaskError;
use super::super::Worker;
use super::super::issue::KernelLaunches;
use super::super::underway::FINE;
use super::flow::{PreparedBody, PreparedFlow};
use super::identities::identities;
use super::prepared::Prepared;
use crate::access::AccessMode;
use crate::codelet::{Kernel, Operand};
use crate::cuda::{Allocation, Pinned};
use crate::description::{self as desc, Action, TaskDesc};
use crate::graph::{DeviceProgram, Fill, Source, Submitted};
use crate::shape::Layout;

/// The nodes of one task, and the memory that it alone uses.
pub(super) struct PreparedStep {
    /// The nodes that what comes after it comes after.
    pub(super) ends: Vec<usize>,
    /// The word in which its kernel reports a failure, if it can.
    pub(super) verdict: Option<Pinned>,
    /// Copies to arrays: what they begin with, before the work, and what the kernel of an update in place has written elsewhere,
    /// after it.
    pub(super) copies: Vec<CopyNode>,
    pub(super) work: Work,
    /// The memory of its kernel, and its arrays that are scratch or written in place.
    own: Own,
    /// What calls of libraries use.
    pub(super) workspaces: Vec<Allocation>,
}

/// A step whose nodes have been added, and the last of these.
pub(super) struct Made {
    pub(super) step: PreparedStep,
    pub(super) nodes: Vec<usize>,
}

/// A copy to an array that may be a bound one.
pub(super) struct CopyNode {
    pub(super) node: usize,
    pub(super) from: u64,
    pub(super) to: Source,
    pub(super) bytes: usize,
}

/// Memory of a task.
#[derive(Default)]
struct Own {
    /// For the kernel's `Scratch` or `Task`: where it is, and its bytes.
    scratch: (u64, usize),
    /// By the number of the access; for the output of an update in place, that of the target.
    arrays: Vec<(usize, *mut u8)>,
}

pub(super) enum Work {
    None,
    /// Launches of a kernel: the nodes, none for an empty grid; and the words of the parameters.
    Launches(Vec<Option<usize>>, Vec<u64>),
    /// A call of a library.
    Call(usize, &'static Kernel),
    /// A branch or a loop.
    Flow(PreparedFlow),
}

impl PreparedStep {
    /// Adds the nodes of task `number`, after those of `before`.
    pub(super) fn add(
        prepared: &mut Prepared,
        worker: &mut Worker<'_>,
        program: &DeviceProgram,
        number: usize,
        before: Vec<usize>,
    ) -> Result<Made, TaskError> {
        let (task, step) = (program.task(number), &program.steps[number]);
        let mut made = Self {
            ends: Vec::new(),
            verdict: None,
            copies: Vec::new(),
            work: Work::None,
            own: Own::default(),
            workspaces: Vec::new(),
        };
        let mut nodes = Vec::new();
        match task.desc().action() {
            Action::Forget => {
                if let Some(bytes) = step.clears {
                    let fill = Fill::zeros(bytes);
                    nodes.extend(made.begin_with(prepared, worker, step.sources[0], &fill, &before, task)?);
                }
                return Ok(Made { step: made, nodes });
            }
            Action::Split | Action::Join => return Ok(Made { step: made, nodes }),
            _ => {}
        }
        if let Some(flow) = &step.flow {
            let failures = prepared.words_before(program, number);
            if let Some((flow, last)) =
                PreparedFlow::add(prepared, worker, (step, flow), &failures, before, task)?
            {
                made.work = Work::Flow(flow);
                nodes.push(last);
            }
            return Ok(Made { step: made, nodes });
        }
        made.allocate_arrays(prepared, worker, program, number)?;
        let mut after = before;
        for (source, fill) in identities(task.desc(), &step.sources)? {
            let added = made.begin_with(prepared, worker, source, &fill, &after, task)?;
            nodes.extend(added);
        }
        after.append(&mut nodes);
        let (list, keep_old) = made.operands(prepared, program, number);
        let last = made.add_work(prepared, worker, task, &list, keep_old, &after)?;
        // An empty grid leaves nothing to come after but what comes before.
        let last = if last.is_empty() { after } else { last };
        let nodes = match made.add_copy_back(prepared, worker, task.desc(), &list, &step.sources, &last)? {
            Some(node) => vec![node],
            None => last,
        };
        Ok(Made { step: made, nodes })
    }

    /// The bodies, if it is a branch or a loop.
    pub(super) fn bodies(&self) -> &[PreparedBody] {
        if let Work::Flow(flow) = &self.work { &flow.bodies } else { &[] }
    }

    pub(super) fn bodies_mut(&mut self) -> &mut [PreparedBody] {
        if let Work::Flow(flow) = &mut self.work { &mut flow.bodies } else { &mut [] }
    }

    /// The addresses of the words in which its kernel, or tasks of its bodies, report failures.
    pub(super) fn words(&self) -> impl Iterator<Item = u64> {
        let own = self.verdict.iter().map(|word| word.pointer().addr() as u64);
        own.chain(self.bodies().iter().flat_map(|body| body.prepared.words()))
    }

    /// Adds a node that gives an array its first value.
    fn begin_with(
        &mut self,
        prepared: &mut Prepared,
        worker: &Worker<'_>,
        to: Source,
        fill: &Fill,
        after: &[usize],
        task: &Submitted,
    ) -> Result<Option<usize>, TaskError> {
        if fill.len() == 0 {
            return Ok(None);
        }
        let address = prepared.address(to).addr() as u64;
        if let (Source::Block(_), &Fill::Words(word, bytes)) = (to, fill) {
            // SAFETY: the block is entered before each launch and stamped behind it (D2).
            let added = unsafe { prepared.graph.add_set(address, bytes, word, after) };
            return worker.expect(added).map(Some);
        }
        let memory = worker.filled(fill, task)?;
        let from = memory.pointer().addr() as u64;
        prepared.own.push(memory);
        // SAFETY: the target is in the block or bound, the source is memory of the program: both are entered before each launch, and
        // stamped behind it (D2).
        let added = unsafe { prepared.graph.add_copy(address, from, fill.len(), after) };
        let node = worker.expect(added)?;
        self.copies.push(CopyNode { node, from, to, bytes: fill.len() });
        Ok(Some(node))
    }

    /// Memory for its arrays that are scratch, and for what it writes in place.
    fn allocate_arrays(
        &mut self,
        prepared: &mut Prepared,
        worker: &Worker<'_>,
        program: &DeviceProgram,
        number: usize,
    ) -> Result<(), TaskError> {
        let desc = program.task(number).desc();
        let mut allocate = |position: usize, bytes: usize| {
            let memory = worker.allocate(bytes.max(1), "scratch", desc.location())?;
            self.own.arrays.push((position, memory.pointer()));
            prepared.own.push(memory);
            Ok::<_, TaskError>(())
        };
        for desc::Operand { position, parameter, access } in desc.operands() {
            if program.steps[number].sources[position] == Source::Scratch {
                allocate(position, access.layout.len() * parameter.element.size_bytes)?;
            }
        }
        if let Some(over) = desc.over() {
            let element = desc.codelet().parameters[over.output].element;
            allocate(over.position, desc.access(over.position).layout.len() * element.size_bytes)?;
        }
        Ok(())
    }

    /// The operands of its kernel, and whether a total keeps its old value.
    pub(super) fn operands(
        &self,
        prepared: &Prepared,
        program: &DeviceProgram,
        number: usize,
    ) -> (Vec<Operand>, bool) {
        let (desc, sources) = (program.task(number).desc(), &program.steps[number].sources);
        let contiguous = |extents: &[usize]| {
            let mut layout = Layout::EMPTY;
            layout.set_contiguous(extents);
            layout
        };
        let own = |position: usize| {
            let own = self.own.arrays.iter().find(|(other, _)| *other == position);
            own.map_or(std::ptr::null_mut(), |(_, pointer)| *pointer)
        };
        if let Some(combination) = desc.combination() {
            let operand = |(index, access): (usize, &desc::AccessDesc)| Operand {
                pointer: prepared.address(sources[index]),
                layout: contiguous(access.layout.extents()),
                element: combination.element_of(index),
                writes: index == 0,
                reads: true,
            };
            let begins = matches!(combination.step, desc::Step::Finish(_)) && desc.access(0).begins;
            return (desc.accesses().enumerate().map(operand).collect(), !begins);
        }
        let operand = |desc::Operand { position, parameter, access }: desc::Operand<'_>| Operand {
            pointer: match sources[position] {
                Source::Scratch => own(position),
                source => prepared.address(source),
            },
            layout: contiguous(access.layout.extents()),
            element: parameter.kernel_element(),
            writes: !access.mode.is_shared(),
            reads: access.mode != AccessMode::W,
        };
        let mut list: Vec<Operand> = desc.operands().map(operand).collect();
        if let Some(over) = desc.over() {
            let target = &list[over.position];
            let element = desc.codelet().parameters[over.output].element;
            let pointer = own(over.position);
            let written = Operand { pointer, layout: target.layout, element, writes: true, reads: false };
            list.insert(over.output, written);
        }
        (list, false)
    }

    /// Adds the nodes of the kernel; the last ones.
    fn add_work(
        &mut self,
        prepared: &mut Prepared,
        worker: &mut Worker<'_>,
        task: &Submitted,
        list: &[Operand],
        keep_old: bool,
        after: &[usize],
    ) -> Result<Vec<usize>, TaskError> {
        let desc = task.desc();
        let kernel = if desc.is_kernel() { worker.settled(desc) } else { None };
        if desc.is_kernel() && kernel.is_none() {
            let name = desc.codelet().name;
            return Err(TaskError::Unable(format!(
                "`{name}` has no kernel that is chosen for good any more"
            )));
        }
        if let Some(kernel) = kernel.filter(|kernel| kernel.cuda_entry().is_some()) {
            match worker.capture(kernel, list, &mut self.workspaces, task) {
                Ok(call) => {
                    if let Some(kind) = prepared.unfit(worker, &call)? {
                        let name = desc.codelet().name;
                        return Err(TaskError::Unable(format!(
                            "`{name}` is in a body, and calls a library that needs {kind}"
                        )));
                    }
                    // Calls of one library share a workspace: they follow each other.
                    let mut after = after.to_vec();
                    after.extend(prepared.last_call.filter(|last| !after.contains(last)));
                    // SAFETY: as in `launches_of`; the workspaces are stamped with the rest.
                    let node = worker.expect(unsafe { prepared.graph.add_call(&call, &after) })?;
                    prepared.last_call = Some(node);
                    self.work = Work::Call(node, kernel);
                    return Ok(vec![node]);
                }
                // The library does not have it, and the codelet has a kernel.
                Err(TaskError::Unable(_)) if desc.codelet().cuda.is_some() && desc.kernel().is_none() => {}
                Err(error) => return Err(error),
            }
        }
        let launches = worker.kernel_launches(desc, desc.codelet(), list, keep_old)?;
        let launches = self.with_own_memory(prepared, worker, desc, launches)?;
        let launches = launches.expect("a step that is new has as much memory as its kernel asks for");
        let (mut nodes, mut last) = (Vec::new(), after.to_vec());
        for &(function, config) in &launches.launches {
            if config.grid.contains(&0) {
                nodes.push(None);
                continue;
            }
            let parameters = launches.parameters.all();
            // SAFETY: the parameters are those of the kernel (`Worker::give`). The operands are bound arrays, which the compute
            // stream enters before each launch of the graph, or memory of the program; all of it is stamped behind the launch (D2).
            let added = unsafe { prepared.graph.add_launch(function, config, parameters, &last) };
            let node = worker.expect(added)?;
            nodes.push(Some(node));
            last = vec![node];
        }
        let is_empty = nodes.iter().all(Option::is_none);
        self.work = Work::Launches(nodes, launches.parameters.all().words.to_vec());
        Ok(if is_empty { Vec::new() } else { last })
    }

    /// Adds the kernel's own memory to its parameters; allocates it the first time. None if the kernel wants more than then.
    pub(super) fn with_own_memory(
        &mut self,
        prepared: &mut Prepared,
        worker: &Worker<'_>,
        desc: &TaskDesc,
        mut launches: KernelLaunches,
    ) -> Result<Option<KernelLaunches>, TaskError> {
        let Some(bytes) = launches.scratch_bytes else { return Ok(Some(launches)) };
        if bytes > 0 && self.own.scratch.1 == 0 {
            let memory = worker.allocate(bytes, "scratch", desc.location())?;
            self.own.scratch = (memory.pointer().addr() as u64, bytes);
            prepared.own.push(memory);
        }
        if bytes > self.own.scratch.1 {
            return Ok(None);
        }
        if launches.takes_task && self.verdict.is_none() {
            self.verdict = Some(worker.expect(worker.device.take_word(FINE))?);
        }
        let verdict = self.verdict.as_ref().map(|word| word.pointer().addr() as u64);
        launches.parameters.push_scratch(self.own.scratch.0, verdict);
        Ok(Some(launches))
    }

    /// Adds a copy of what an update in place has written to its target.
    fn add_copy_back(
        &mut self,
        prepared: &mut Prepared,
        worker: &Worker<'_>,
        desc: &TaskDesc,
        list: &[Operand],
        sources: &[Source],
        after: &[usize],
    ) -> Result<Option<usize>, TaskError> {
        let Some(over) = desc.over() else { return Ok(None) };
        let written = &list[over.output];
        let bytes = written.layout.len() * written.element.size_bytes;
        if bytes == 0 {
            return Ok(None);
        }
        let (from, to) = (written.pointer.addr() as u64, sources[over.position]);
        // SAFETY: as in `add_work`.
        let added =
            unsafe { prepared.graph.add_copy(prepared.address(to).addr() as u64, from, bytes, after) };
        let node = worker.expect(added)?;
        self.copies.push(CopyNode { node, from, to, bytes });
        Ok(Some(node))
    }
}
