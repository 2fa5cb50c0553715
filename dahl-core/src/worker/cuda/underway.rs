//! [`Underway`]: a task that is in a device's streams.

use std::ptr::NonNull;

use super::super::task_error::TaskError;
use super::Worker;
use crate::autotune::Selection;
use crate::codelet::Codelet;
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
    report: Report,
    /// The kernel's name.
    kernel: &'static str,
    /// The choice that this is measured for.
    choice: Option<Selection>,
    times: TaskTimes,
    circumstances: Circumstances,
}

/// How what has run reports a failure.
enum Report {
    /// It cannot fail.
    None,
    /// In this word.
    Word(Pinned),
    /// It is a whole program, some of whose tasks have such words if this is true.
    Program(bool),
}

/// The circumstances in which a task was issued, to explain its duration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances {
    /// The number of CPU workers with a task.
    pub(super) others_busy: Option<usize>,
    /// Whether elements were copied to the device for it.
    pub(super) transferred: bool,
}

/// The work that was put into the compute stream.
pub(super) struct Issued {
    pub(super) begin: Event,
    /// The word in which the kernel reports a failure, if it can.
    pub(super) verdict: Option<Pinned>,
    /// The kernel's name.
    pub(super) kernel: &'static str,
}

/// The message of a kernel that has reported a place.
pub(super) fn out_of_range(codelet: &Codelet, place: u64) -> String {
    let name = codelet.cuda.map_or(codelet.name, |instance| instance.kernel.name);
    format!("{name}: the index or label at {place} is out of range")
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
        let report = verdict.map_or(Report::None, Report::Word);
        Self { task: NonNull::from(task), begin, end, report, kernel, choice, times, circumstances }
    }

    /// A whole program that has been issued, from `begin` to `end`. Some of its tasks can fail if `can_fail`.
    pub(super) fn of_program(
        task: &Submitted,
        (begin, end): (Event, Event),
        times: TaskTimes,
        can_fail: bool,
    ) -> Self {
        let circumstances = Circumstances { others_busy: None, transferred: false };
        let (task, report, kernel) = (NonNull::from(task), Report::Program(can_fail), "graph");
        Self { task, begin, end, report, kernel, choice: None, times, circumstances }
    }

    /// The task. Its record exists until the task has been ended.
    pub(super) fn task<'r>(&self) -> &'r Submitted {
        // SAFETY: the record is not free before the task has been completed or ended, which takes this value.
        unsafe { self.task.as_ref() }
    }

    /// Whether it is a task that can only fail by the loss of the device: its successors in the chains of its arrays then
    /// need not wait for its end. A whole program has no successors in its replay, which ends with it.
    pub(super) fn is_released_early(&self) -> bool {
        matches!(self.report, Report::None)
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
        if let Report::Program(can_fail) = self.report {
            return self.measure_program(worker, can_fail);
        }
        let Worker { shared, device, context, ended_ns, .. } = worker;
        let task = self.task().desc();
        let codelet = task.codelet();
        let time_ns = self.end.ns_since(&self.begin).unwrap_or(0);
        // One after the other, even if the clocks differ.
        let begin_ns = device.passed_ns(&self.begin).max(*ended_ns);
        *ended_ns = begin_ns + time_ns;
        context.times = TaskTimes { begin_ns: Some(begin_ns), ..self.times };
        if let Report::Word(verdict) = self.report {
            let place = device.read_word(verdict);
            if place != FINE {
                self.choice.into_iter().for_each(|choice| choice.end(None));
                context.lost_ns = time_ns;
                return Err(TaskError::Failed(out_of_range(codelet, place)));
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

    /// Counts the duration of a whole program, and passes the failures of its tasks on.
    fn measure_program(self, worker: &mut Worker<'_>, can_fail: bool) -> Result<(), TaskError> {
        let task = self.task();
        let time_ns = self.end.ns_since(&self.begin).unwrap_or(0);
        worker.context.times = self.times;
        worker.shared.counters().end_together(worker.context.worker, task.desc().codelet(), time_ns);
        if can_fail {
            worker.report_failures(task);
        }
        Ok(())
    }
}
