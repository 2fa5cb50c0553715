//! [`PreparedFlow`]: the nodes of a branch or of a loop, whose bodies are graphs of their own. `README.md` says why this is sound.

use std::sync::Arc;

use super::super::super::task_error::TaskError;
use super::super::Worker;
use super::prepared::Prepared;
use super::update::is_set;
use crate::cuda::{Condition, Function, Handle, ProgramGraph, Repeats, Unloaded};
use crate::graph::{DeviceFlow, DeviceProgram, DeviceStep, Fill, Submitted};

/// The nodes of a branch or of a loop.
pub(super) struct PreparedFlow {
    kernel: Function,
    /// The node that looks at the condition, and what it does.
    decides: (usize, Condition),
    pub(super) bodies: Vec<PreparedBody>,
}

/// The graph of a body.
pub(super) struct PreparedBody {
    pub(super) program: Arc<DeviceProgram>,
    pub(super) prepared: Prepared,
    /// Of a loop: the last node of each round, which looks at the condition.
    decides: Option<(usize, Condition)>,
}

impl PreparedFlow {
    /// Adds the nodes of a branch or of a loop after those of `after`; none if no body has steps. Returns the last node too.
    pub(super) fn add(
        prepared: &mut Prepared,
        worker: &mut Worker<'_>,
        (step, flow): (&DeviceStep, &DeviceFlow),
        failures: &[u64],
        mut after: Vec<usize>,
        task: &Submitted,
    ) -> Result<Option<(Self, usize)>, TaskError> {
        if flow.bodies.iter().all(Option::is_none) {
            return Ok(None);
        }
        let kernel = worker.condition_kernel()?;
        let mut handles: Vec<Option<Handle>> = Vec::with_capacity(flow.bodies.len());
        for body in &flow.bodies {
            let handle = body.is_some().then(|| worker.expect(prepared.graph.add_handle()));
            handles.push(handle.transpose()?);
        }
        let condition = Condition {
            address: prepared.address(step.sources[0]).addr() as u64,
            bytes: flow.element.0,
            bits: flow.element.1,
            failures: prepared.table(worker, failures, task)?,
            then: handles.first().copied().flatten(),
            otherwise: handles.get(1).copied().flatten(),
        };
        // Its bodies may call libraries, which share a workspace.
        after.extend(prepared.last_call.filter(|last| !after.contains(last)));
        // SAFETY: the kernel is that of conditions. The element is a bound array's, which the compute stream enters before each
        // launch of the graph, or in memory of the program, and the table is memory of it: all of it is stamped behind the launch
        // (D2). The words are the program's, which keeps them until no launch is left.
        let added = unsafe { prepared.graph.add_condition(kernel, &condition, &after) };
        let first = worker.expect(added)?;
        let (mut last, mut bodies) = (first, Vec::new());
        let repeats = if flow.repeats { Repeats::Yes } else { Repeats::No };
        for (program, handle) in flow.bodies.iter().zip(handles) {
            let (Some(program), Some(handle)) = (program, handle) else { continue };
            // Both bodies use the same arrays, though one of them runs.
            let (node, graph) = worker.expect(prepared.graph.add_body(handle, repeats, &[last]))?;
            let bound: Vec<_> = step.sources.iter().map(|&source| prepared.address(source)).collect();
            let mut body = Prepared::of_body(worker, program, graph, &bound, task)?;
            let mut decides = None;
            if flow.repeats {
                let again = Condition { failures: body.own_table(worker, task)?, ..condition };
                let ends = body.ends();
                // SAFETY: as above; the words are those of the body.
                let added = unsafe { body.graph.add_condition(kernel, &again, &ends) };
                decides = Some((worker.expect(added)?, again));
            }
            bodies.push(PreparedBody { program: Arc::clone(program), prepared: body, decides });
            last = node;
        }
        prepared.last_call = Some(last);
        Ok(Some((Self { kernel, decides: (first, condition), bodies }, last)))
    }

    /// Lets the nodes use bound arrays where they are now. False if other nodes are needed.
    pub(super) fn update(
        &mut self,
        prepared: &mut Prepared,
        worker: &mut Worker<'_>,
        step: &DeviceStep,
    ) -> Result<bool, TaskError> {
        let address = prepared.address(step.sources[0]).addr() as u64;
        let bound: Vec<_> = step.sources.iter().map(|&source| prepared.address(source)).collect();
        if !move_condition(&mut prepared.graph, worker, self.kernel, &mut self.decides, address)? {
            return Ok(false);
        }
        for PreparedBody { program, prepared: body, decides } in &mut self.bodies {
            if !body.rebind(worker, program, &bound)? {
                return Ok(false);
            }
            if let Some(decides) = decides
                && !move_condition(&mut body.graph, worker, self.kernel, decides, address)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Lets a node look at the condition where it is now.
fn move_condition(
    graph: &mut ProgramGraph,
    worker: &Worker<'_>,
    kernel: Function,
    (node, condition): &mut (usize, Condition),
    address: u64,
) -> Result<bool, TaskError> {
    if condition.address == address {
        return Ok(true);
    }
    condition.address = address;
    // SAFETY: as in `PreparedFlow::add`.
    let set = unsafe { graph.set_condition(*node, kernel, condition) };
    is_set(worker, set)
}

impl Prepared {
    /// A table of the addresses of words, on the device: where it is, and how many there are.
    fn table(
        &mut self,
        worker: &Worker<'_>,
        words: &[u64],
        task: &Submitted,
    ) -> Result<(u64, usize), TaskError> {
        if words.is_empty() {
            return Ok((0, 0));
        }
        let bytes = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let memory = worker.filled(&Fill::Bytes(bytes), task)?;
        let address = memory.pointer().addr() as u64;
        self.own.push(memory);
        Ok((address, words.len()))
    }

    /// The same, of the words in which its own tasks report failures.
    fn own_table(&mut self, worker: &Worker<'_>, task: &Submitted) -> Result<(u64, usize), TaskError> {
        let words: Vec<u64> = self.words().collect();
        self.table(worker, &words, task)
    }
}

impl Worker<'_> {
    /// The kernel that looks at conditions.
    fn condition_kernel(&self) -> Result<Function, TaskError> {
        match self.device.condition_kernel() {
            Ok(function) => Ok(function),
            Err(Unloaded::Failed(error)) => self.expect(Err(error)),
            Err(Unloaded::Refused { reason, .. }) => {
                Err(TaskError::Unable(format!("the kernel that looks at conditions: {reason}")))
            }
        }
    }
}
