//! [`Underway`]: a task that is in a device's streams.

use std::ptr::NonNull;

use super::super::task_error::TaskError;
use super::Worker;
use crate::autotune::Selection;
use crate::cuda::{CudaError, Event, Pinned};
use crate::explain::Call;
use crate::graph::Submitted;
use crate::perf::Measurement;
use crate::trace::TaskTimes;

/// A task that has been issued and not ended.
pub(super) struct Underway {
    task: NonNull<Submitted>,
    begin: Event,
    end: Event,
    /// The word in which its kernel reports a failure, if it can.
    verdict: Option<Pinned>,
    /// The kernel's name.
    kernel: &'static str,
    /// The choice that this is measured for.
    choice: Option<Selection>,
    times: TaskTimes,
    circumstances: Circumstances,
}

/// The circumstances in which a task was issued, to explain its duration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances {
    /// The number of CPU workers with a task.
    pub(super) others_busy: Option<usize>,
    /// Whether elements were copied to the device for it.
    pub(super) transferred: bool,
    /// Whether its launches were batched with others, so that its own duration is not known.
    pub(super) batched: bool,
}

/// The work that was put into the compute stream.
pub(super) struct Issued {
    pub(super) begin: Event,
    /// The word in which the kernel reports a failure, if it can.
    pub(super) verdict: Option<Pinned>,
    /// The kernel's name.
    pub(super) kernel: &'static str,
}

/// The word of a kernel that did not fail.
pub(super) const FINE: u64 = u64::MAX;

impl Underway {
    /// A task that has been issued, up to `end`.
    pub(super) fn new(
        task: &Submitted,
        issued: Issued,
        end: Event,
        choice: Option<Selection>,
        times: TaskTimes,
        circumstances: Circumstances,
    ) -> Self {
        let Issued { begin, verdict, kernel } = issued;
        Self { task: NonNull::from(task), begin, end, verdict, kernel, choice, times, circumstances }
    }

    /// The task. Its record exists until the task has been ended.
    pub(super) fn task<'r>(&self) -> &'r Submitted {
        // SAFETY: the record is not free before the task has been completed or ended, which takes this value.
        unsafe { self.task.as_ref() }
    }

    /// Whether it can only fail by the loss of the device: its successors in the chains of its arrays then need not
    /// wait for its end.
    pub(super) fn is_released_early(&self) -> bool {
        self.verdict.is_none()
    }

    /// Whether it ends with the same event as `other`.
    pub(super) fn ends_with(&self, other: &Self) -> bool {
        self.end.is_same(&other.end)
    }

    /// Whether it has not been given to the driver yet.
    pub(super) fn is_batched(&self) -> bool {
        self.end.is_batched()
    }

    pub(super) fn has_run(&self) -> Result<bool, CudaError> {
        self.end.is_passed()
    }

    /// Its times for a trace.
    pub(super) fn times(&self) -> TaskTimes {
        self.times
    }

    /// Records the duration of a task that has run, and returns its result.
    pub(super) fn measure(self, worker: &mut Worker<'_>) -> Result<(), TaskError> {
        let Worker { shared, device, context, ended_ns, .. } = worker;
        let task = self.task().desc();
        let codelet = task.codelet();
        if self.circumstances.batched {
            // Batched tasks end together: the first one counts the time of all.
            let all_ns = self.end.take_batch_ns().unwrap_or(0);
            context.times = self.times;
            shared.counters().end_together(context.worker, codelet, all_ns);
            return Ok(());
        }
        let time_ns = self.end.ns_since(&self.begin).unwrap_or(0);
        // One after the other, even if the clocks differ.
        let begin_ns = device.passed_ns(&self.begin).max(*ended_ns);
        *ended_ns = begin_ns + time_ns;
        context.times = TaskTimes { begin_ns: Some(begin_ns), ..self.times };
        if let Some(verdict) = self.verdict {
            let place = device.read_word(verdict);
            if place != FINE {
                self.choice.into_iter().for_each(|choice| choice.end(None));
                context.lost_ns = time_ns;
                let name = codelet.cuda.map_or(codelet.name, |instance| instance.kernel.name);
                return Err(TaskError::Failed(format!(
                    "{name}: the index or label at {place} is out of range"
                )));
            }
        }
        context.times.kernel_ns = Some(time_ns);
        self.choice.into_iter().for_each(|choice| choice.end(Some(time_ns)));
        let measurement = Measurement { time_ns, ..Measurement::default() };
        let kernel = self.kernel;
        let key = context.models.record(shared.models(), &context.kind, codelet, kernel, task, measurement);
        let Circumstances { others_busy, transferred, .. } = self.circumstances;
        let call = Call { time_ns, others_busy, team: false, transferred };
        let of = (codelet, kernel);
        context.call_logs.record(shared.call_logs(), key, (&context.name, &context.kind), of, task, call);
        Ok(())
    }
}
