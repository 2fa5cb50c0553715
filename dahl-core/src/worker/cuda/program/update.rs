//! How the nodes of a task change between two replays.

use super::super::super::task_error::TaskError;
use super::super::Worker;
use super::prepared::Prepared;
use super::step::{PreparedStep, Work};
use crate::cuda::{CudaError, Function, LaunchConfig};
use crate::graph::{DeviceProgram, Source};

impl PreparedStep {
    /// Lets its nodes use bound arrays where they are now, and the plain arguments of the call. False if it needs other nodes.
    pub(super) fn update(
        &mut self,
        prepared: &mut Prepared,
        worker: &mut Worker<'_>,
        program: &DeviceProgram,
        number: usize,
    ) -> Result<bool, TaskError> {
        for copy in &self.copies {
            if matches!(copy.to, Source::Bound { .. }) {
                let to = prepared.address(copy.to).addr() as u64;
                // SAFETY: as in `add_copy_back`.
                let set = unsafe { prepared.graph.set_copy(copy.node, to, copy.from, copy.bytes) };
                if !is_set(worker, set)? {
                    return Ok(false);
                }
            }
        }
        let task = program.task(number);
        match &mut self.work {
            Work::None => return Ok(true),
            Work::Flow(flow) => return flow.update(prepared, worker, &program.steps[number]),
            &mut Work::Call(node, kernel) => {
                let (list, _) = self.operands(prepared, program, number);
                let mut workspaces = Vec::new();
                let call = worker.capture(kernel, &list, &mut workspaces, task)?;
                // SAFETY: as in `add_work`.
                let set = unsafe { prepared.graph.set_call(node, &call) };
                self.workspaces = workspaces;
                // The library may compute it by other kernels.
                return is_set(worker, set);
            }
            Work::Launches(..) => {}
        }
        let (list, keep_old) = self.operands(prepared, program, number);
        let launches = worker.kernel_launches(task.desc(), task.desc().codelet(), &list, keep_old)?;
        let launches = self.with_own_memory(prepared, worker, task.desc(), launches)?;
        let (Some(launches), Work::Launches(nodes, words)) = (launches, &mut self.work) else {
            return Ok(false);
        };
        let is_launched = |(_, config): &(Function, LaunchConfig)| !config.grid.contains(&0);
        let is_same = launches.launches.iter().map(is_launched).eq(nodes.iter().map(Option::is_some));
        if !is_same {
            return Ok(false);
        }
        let parameters = launches.parameters.all();
        if parameters.words == *words {
            return Ok(true);
        }
        for (node, &(function, config)) in nodes.iter().zip(&launches.launches) {
            if let Some(node) = *node {
                // SAFETY: as in `add_work`.
                let set = unsafe { prepared.graph.set_launch(node, function, config, parameters) };
                if !is_set(worker, set)? {
                    return Ok(false);
                }
            }
        }
        words.clear();
        words.extend_from_slice(parameters.words);
        Ok(true)
    }
}

/// Whether the driver has taken a change of a graph. If not, another graph is made.
pub(super) fn is_set(worker: &Worker<'_>, set: Result<(), CudaError>) -> Result<bool, TaskError> {
    match set {
        Err(error) if error.is_loss() => worker.expect(Err(error)),
        set => Ok(set.is_ok()),
    }
}
