//! From a task to its launches.

use super::super::execute::is_missing;
use super::super::task_error::TaskError;
use super::Worker;
use super::operands::DeviceOperands;
use super::parameters::Parameters;
use super::underway::{Circumstances, FINE, Issued, Underway};
use crate::autotune::{RunTarget, Selection};
use crate::codelet::{CUDA, Codelet, Kernel, Operand};
use crate::cuda::{
    CudaError, CudaInstance, CudaLaunch, CudaLaunches, Event, Function, LaunchConfig, Pinned, Unloaded,
};
use crate::description::{Step as Part, TaskDesc};
use crate::graph::Submitted;
use crate::perf;
use crate::trace::TaskTimes;

/// The data of a task's launch.
struct Launch {
    parameters: Parameters,
    launches: Vec<(Function, LaunchConfig)>,
    /// For a kernel that takes a `Task`: the word in which it reports a failure.
    verdict: Option<Pinned>,
}

/// The launches of a kernel, whose memory of its own its parameters lack.
pub(super) struct KernelLaunches {
    pub(super) parameters: Parameters,
    pub(super) launches: Vec<(Function, LaunchConfig)>,
    /// The bytes of that memory, if the kernel takes a `Scratch` or a `Task`.
    pub(super) scratch_bytes: Option<usize>,
    /// Whether it takes a `Task`.
    pub(super) takes_task: bool,
}

impl Worker<'_> {
    /// Puts a task into the device's streams.
    pub(super) fn issue(&mut self, task: &Submitted) -> Result<Underway, TaskError> {
        let codelet = task.desc().codelet();
        let _named = self.names.enter(codelet.name);
        self.context.times = TaskTimes::taken_at(self.shared.clock().now_ns());
        let circumstances = self.circumstances(task);
        let choice = self.choose(codelet, task);
        let issued = self.issue_by(choice.as_ref(), task, codelet);
        // A run that is not measured as the chosen candidate ends the trial that it may have been.
        let chosen = issued.as_ref().ok().map(|(issued, _)| issued.kernel);
        let is_it = |choice: &Selection| Some(choice.kernel.name()) == chosen;
        let (choice, other) = match choice {
            Some(choice) if is_it(&choice) => (Some(choice), None),
            other => (None, other),
        };
        other.into_iter().for_each(|other| other.end(None));
        let (issued, end) = issued?;
        Ok(Underway::new(task, issued, end, choice, self.context.times, circumstances))
    }

    /// The kernel of a task, if none is measured any more to choose one.
    pub(super) fn settled(&mut self, task: &TaskDesc) -> Option<&'static Kernel> {
        let (shared, device) = (self.shared, self.device);
        let target = RunTarget { kind: &self.context.kind, idle: 0, has_team: false, cuda: Some(device) };
        self.context.choices.settled(shared.choices(), target, task.codelet(), task)
    }

    /// The codelet's kernel for the device that runs the task; none if it must run none of them.
    pub(super) fn choose(&mut self, codelet: &'static Codelet, task: &Submitted) -> Option<Selection> {
        let (shared, device) = (self.shared, self.device);
        let target = RunTarget { kind: &self.context.kind, idle: 0, has_team: false, cuda: Some(device) };
        let has_choice = task.desc().is_kernel();
        has_choice.then(|| self.context.choices.select(shared.choices(), target, codelet, task.desc()))
    }

    /// Issues a task with the kernel of `choice`, or with the codelet's own if a library does not support it. Returns
    /// what was issued, and an event after it.
    fn issue_by(
        &mut self,
        choice: Option<&Selection>,
        task: &Submitted,
        codelet: &'static Codelet,
    ) -> Result<(Issued, Event), TaskError> {
        let (mut operands, keep_old) = match task.desc().combination() {
            Some(_) => self.operands_of_reduction(task)?,
            None => (self.operands(task)?, false),
        };
        let mut issued = None;
        let kernel: Option<&'static Kernel> = choice.map(|choice| choice.kernel);
        if let Some(kernel) = kernel.filter(|kernel| kernel.cuda_entry().is_some()) {
            self.note(kernel.name(), codelet, task);
            let may_launch = codelet.cuda.is_some() && task.desc().kernel().is_none();
            issued = match self.call(kernel, &mut operands, task) {
                Err(TaskError::Unable(_)) if may_launch => None,
                // The submitter named this kernel.
                Err(TaskError::Unable(reason)) if task.desc().kernel().is_some() => {
                    return Err(TaskError::Failed(reason));
                }
                Err(TaskError::Unable(reason)) => return Err(TaskError::Unable(reason)),
                called => Some(called),
            };
        }
        let issued = match issued {
            Some(issued) => issued,
            None => {
                let name = launched_name(task);
                self.note(name, codelet, task);
                let launch = self.plan(task, codelet, &mut operands, keep_old)?;
                let launched = self.launch(name, launch);
                self.expect(launched)
            }
        };
        // Whatever is in the stream: later uses wait for it.
        let end = self.device.compute_event();
        if let Ok(end) = &end {
            operands.stamp(end);
        }
        match end {
            Ok(end) => Ok((issued?, end)),
            Err(error) => {
                // Nothing else waits for what is in the stream, which uses memory that is freed with the task.
                self.device.drain();
                self.expect(Err(error))
            }
        }
    }

    /// Records which kernel is about to run.
    fn note(&mut self, kernel: &'static str, codelet: &'static Codelet, task: &Submitted) {
        self.shared.stall().begin(Some(self.number), self.shared.clock().now_ns());
        if self.shared.recorder().is_some() {
            let context = &mut self.context;
            context.times.with(self.shared.models(), &context.kind, codelet, kernel, task.desc());
        }
    }

    fn circumstances(&self, task: &Submitted) -> Circumstances {
        let idle = self.shared.helpers().idle();
        Circumstances {
            others_busy: Some(self.shared.cpu_workers().saturating_sub(idle)),
            transferred: task.operands().any(|access| is_missing(access, self.context.node)),
        }
    }

    /// Converts an error of the driver to a failure of the task; if it means that the device is lost, marks it as lost.
    pub(super) fn expect<R>(&self, result: Result<R, CudaError>) -> Result<R, TaskError> {
        result.map_err(|error| {
            if error.is_loss() {
                self.shared.lose_device(self.device.index());
            }
            TaskError::Failed(error.to_string())
        })
    }

    fn plan(
        &mut self,
        task: &Submitted,
        codelet: &'static Codelet,
        operands: &mut DeviceOperands<'_>,
        keep_old: bool,
    ) -> Result<Launch, TaskError> {
        let KernelLaunches { mut parameters, launches, scratch_bytes, takes_task } =
            self.kernel_launches(task.desc(), codelet, &operands.list, keep_old)?;
        let mut verdict = None;
        if let Some(bytes) = scratch_bytes {
            let memory = match bytes {
                0 => 0,
                bytes => self.own_memory(operands, bytes, task)?.addr() as u64,
            };
            if takes_task {
                verdict = Some(self.expect(self.device.take_word(FINE))?);
            }
            parameters.push_scratch(memory, verdict.as_ref().map(|word| word.pointer().addr() as u64));
        }
        Ok(Launch { parameters, launches, verdict })
    }

    /// The launches of the kernel that a task has in CUDA, on these operands. A total keeps its old value if `keep_old`.
    pub(super) fn kernel_launches(
        &self,
        task: &TaskDesc,
        codelet: &'static Codelet,
        operands: &[Operand],
        keep_old: bool,
    ) -> Result<KernelLaunches, TaskError> {
        let instance = task.cuda_of_reduction().or(codelet.cuda);
        let instance = instance.expect("a worker that can run a task has a kernel of it");
        let shapes: Vec<&[usize]> = operands.iter().map(|operand| operand.layout.extents()).collect();
        let of_finish = [u8::from(keep_old)];
        let arguments = match task.combination().map(|combination| combination.step) {
            Some(Part::Finish(_)) => of_finish.as_slice(),
            _ => task.arguments(),
        };
        let CudaLaunches { scratch_bytes, launches } =
            instance.launches(&shapes, arguments).map_err(TaskError::Failed)?;
        let mut parameters = Parameters::default();
        for (operand, view) in operands.iter().zip(instance.kernel.views) {
            parameters.push_view(operand, view);
        }
        for (argument, bytes) in instance.kernel.arguments.iter().zip(instance.arguments(arguments)) {
            parameters.push_argument(argument.len, bytes);
        }
        let launches =
            launches.into_iter().map(|launch| Ok((self.function(&instance, &launch)?, config(&launch))));
        let launches = launches.collect::<Result<Vec<_>, TaskError>>()?;
        let scratch_bytes = instance.kernel.takes_scratch.then_some(scratch_bytes as usize);
        Ok(KernelLaunches { parameters, launches, scratch_bytes, takes_task: instance.kernel.takes_task })
    }

    fn function(&self, instance: &CudaInstance, launch: &CudaLaunch) -> Result<Function, TaskError> {
        let kernel = instance.kernel;
        match self.device.function(kernel.image, &launch.entry) {
            Ok(function) => Ok(function),
            Err(Unloaded::Failed(error)) => self.expect(Err(error)),
            Err(Unloaded::Refused { reason, is_new }) => {
                let refusal = format!("CUDA kernel `{}` ({}): {reason}", kernel.name, kernel.place);
                if is_new {
                    eprintln!("dahl: {}: `{}` is not used: {refusal}", self.context.name(), launch.entry);
                }
                // The CPU runs the task, if it can and may.
                Err(TaskError::Unable(refusal))
            }
        }
    }

    /// Puts the launches into the compute stream.
    fn launch(&self, kernel: &'static str, launch: Launch) -> Result<Issued, CudaError> {
        let Launch { parameters, launches, verdict } = launch;
        match self.give(&parameters, &launches) {
            Ok(begin) => Ok(Issued { begin, verdict, kernel }),
            Err(error) => {
                verdict.into_iter().for_each(|word| self.device.leave_word(word));
                Err(error)
            }
        }
    }

    /// Puts the launches into the compute stream. Returns an event before them, for their duration.
    fn give(
        &self,
        parameters: &Parameters,
        launches: &[(Function, LaunchConfig)],
    ) -> Result<Event, CudaError> {
        let begin = self.device.begin_event()?;
        for &(function, config) in launches {
            // SAFETY: the parameters are those of the kernel, whose declaration was checked against the codelet's when
            // that was compiled (`CudaKernel::check`), in the layout of `dahl.cuh`. The operands are in memory that was
            // entered when it was fetched, and that is stamped with a later event before any other use: the task holds
            // its accesses until they are released early, which comes later (D2). The word of the verdict is returned
            // when an event after this launch has passed, or never (D4).
            unsafe { self.device.launch(function, config, parameters.all()) }?;
        }
        Ok(begin)
    }
}

/// A launch as the driver takes it.
fn config(launch: &CudaLaunch) -> LaunchConfig {
    let CudaLaunch { grid, block, shared_bytes, .. } = *launch;
    LaunchConfig { grid, block, shared_bytes }
}

/// The name of what is launched: the codelet's kernel in CUDA, or a step of a reduction.
fn launched_name(task: &Submitted) -> &'static str {
    match task.desc().combination() {
        None => CUDA.name(),
        Some(_) => perf::kernel_of(task.desc()).unwrap_or(CUDA.name()),
    }
}
