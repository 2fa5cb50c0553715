//! From a task to its launch.

use super::super::execute::is_missing;
use super::super::obstacle::Obstacle;
use super::Worker;
use super::operands::Operands;
use super::parameters::Parameters;
use super::underway::{Circumstances, Underway};
use crate::codelet::Codelet;
use crate::cuda::{CudaError, CudaInstance, CudaLaunch, CudaLaunches, Function, Mark, Pinned, Unloaded};
use crate::perf;
use crate::task::{Kind, Record};
use crate::trace::Run;

/// Where a `Task`'s failure lies in its memory: behind the scratch, at a multiple of this.
const LINE: usize = 256;

/// What a task is launched with.
struct Plan<'r> {
    operands: Operands<'r>,
    parameters: Parameters,
    launches: Vec<(Function, CudaLaunch)>,
    /// Of a kernel that takes a `Task`: where in the last of the task's own allocations its failure lies.
    failure: Option<usize>,
}

impl Worker<'_> {
    /// Gives a task to the device's streams.
    pub(super) fn issue(&mut self, record: &Record) -> Result<Underway, Obstacle> {
        let codelet = record.body().codelet.expect("a task that workers run has a codelet");
        let _named = self.names.enter(codelet.name);
        self.bench.run = Run::taken_at(self.shared.clock().now_ns());
        if let (Some(_), Some(kernel)) = (self.shared.recorder(), perf::kernel_of(record)) {
            self.bench.run.with(self.shared.models(), &self.bench.kind, codelet, kernel, record);
        }
        let circumstances = self.circumstances(record);
        let plan = self.plan(record, codelet)?;
        self.shared.stall().begin(Some(self.number), self.shared.clock().now_ns());
        let Plan { operands, mut parameters, launches, failure } = plan;
        let launched = self.launch(&operands, &mut parameters, &launches, failure);
        // Whatever is in the stream: what comes after waits for it.
        let end = self.device.compute_mark();
        if let Ok(end) = &end {
            operands.stamp(end);
        }
        let (begin, verdict) = self.expect(launched)?;
        Ok(Underway::new(record, (begin, self.expect(end)?), verdict, self.bench.run, circumstances))
    }

    fn circumstances(&self, record: &Record) -> Circumstances {
        let idle = self.shared.team().idle();
        Circumstances {
            others_busy: Some(self.shared.cpu_workers().saturating_sub(idle)),
            transferred: record.operands().any(|access| is_missing(access, self.bench.node)),
        }
    }

    /// Turns an error of the driver into a failure of the task; if it means that the device is lost, all hear of it.
    fn expect<R>(&self, result: Result<R, CudaError>) -> Result<R, Obstacle> {
        result.map_err(|error| {
            if error.is_loss() {
                self.shared.lose_device(self.device.index());
            }
            Obstacle::Failed(error.to_string())
        })
    }

    fn plan<'r>(&mut self, record: &'r Record, codelet: &'static Codelet) -> Result<Plan<'r>, Obstacle> {
        let instance = record.cuda_of_reduction().or(codelet.cuda);
        let instance = instance.expect("a worker that can run a task has a kernel of it");
        let (mut operands, keep_old) = match record.body().kind {
            Kind::Fold(_) | Kind::Finish(_) => self.operands_of_reduction(record)?,
            _ => (self.operands(record, codelet)?, false),
        };
        let shapes: Vec<&[usize]> = operands.list.iter().map(|operand| operand.layout.extents()).collect();
        let of_finish = [u8::from(keep_old)];
        let arguments = match record.body().kind {
            Kind::Finish(_) => of_finish.as_slice(),
            _ => record.body().arguments.as_slice(),
        };
        let CudaLaunches { scratch_bytes, launches } =
            instance.launches(&shapes, arguments).map_err(Obstacle::Failed)?;
        let mut parameters = Parameters::default();
        for (operand, view) in operands.list.iter().zip(instance.kernel.views) {
            parameters.push_view(operand, view);
        }
        let mut rest = arguments;
        for argument in instance.kernel.arguments {
            let (bytes, others) = rest.split_at(argument.size_bytes(instance.types));
            parameters.push_argument(bytes);
            rest = others;
        }
        let mut failure = None;
        if instance.kernel.takes_task {
            let place = (scratch_bytes as usize).next_multiple_of(LINE);
            let memory = self.own_memory(&mut operands, place + LINE, record)?.addr() as u64;
            parameters.push_task(memory, memory + place as u64);
            failure = Some(place);
        }
        let launches = launches.into_iter().map(|launch| Ok((self.function(&instance, &launch)?, launch)));
        let launches = launches.collect::<Result<Vec<_>, Obstacle>>()?;
        Ok(Plan { operands, parameters, launches, failure })
    }

    fn function(&self, instance: &CudaInstance, launch: &CudaLaunch) -> Result<Function, Obstacle> {
        let kernel = instance.kernel;
        match self.device.function(kernel.image, &launch.entry) {
            Ok(function) => Ok(function),
            Err(Unloaded::Failed(error)) => self.expect(Err(error)),
            Err(Unloaded::Refused(reason)) => {
                Err(Obstacle::Failed(format!("CUDA kernel `{}` ({}): {reason}", kernel.name, kernel.place)))
            }
        }
    }

    /// Gives the launches to the compute stream: the mark before them, and where the kernel's verdict will be.
    fn launch(
        &self,
        operands: &Operands<'_>,
        parameters: &mut Parameters,
        launches: &[(Function, CudaLaunch)],
        failure: Option<usize>,
    ) -> Result<(Mark, Option<Pinned>), CudaError> {
        let memory = failure.and_then(|place| Some((operands.own.last()?, place)));
        if let Some((memory, place)) = memory {
            self.device.set_bytes(memory, place, 0xff, 8)?;
        }
        let begin = self.device.compute_mark()?;
        let mut pointers = parameters.pointers();
        for (function, launch) in launches {
            // SAFETY: the parameters are those of the kernel, whose declaration was checked against the codelet's when that
            // was compiled (`CudaKernel::check`), in the layout of `dahl.cuh`. The operands lead to memory that was
            // entered when it was fetched, and that is stamped with a mark behind this launch before anybody else is let
            // at it: the task holds its accesses until it is let go, which comes after (D2).
            unsafe { self.device.launch(*function, launch, &mut pointers) }?;
        }
        let verdict = memory.map(|(memory, place)| self.device.fetch_word(memory, place)).transpose()?;
        Ok((begin, verdict))
    }
}
