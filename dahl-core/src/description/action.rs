//! [`Action`]: what a task does, with the fields of each kind of task.

use crate::codelet::{Accumulator, Codelet, Kernel};
use crate::cuda::CudaInstance;
use crate::element::ElementType;

/// What a task does, and on which thread.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// A worker calls a kernel.
    Kernel(Call),
    /// A worker combines partial results of a reduction, or the total with the array.
    Combine(Combination),
    /// The worker of a device runs a whole program as one graph.
    Program(Call),
    /// No thread of the runtime: the code that is told that the accesses are held reports the end.
    External(Call),
    /// None: the host waits for its access.
    Wait,
    /// The thread that makes it ready: discards an array's value.
    Forget,
    /// The thread that makes it ready: begins a partition, of the first access's array into those of the others.
    Split,
    /// The thread that makes it ready: ends a partition.
    Join,
}

impl Action {
    /// Its name if there is no codelet.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Kernel(call) | Self::Program(call) | Self::External(call) => call.codelet.name,
            Self::Combine(combination) => combination.codelet.name,
            Self::Wait => "wait",
            Self::Forget => "forget",
            Self::Split => "split",
            Self::Join => "join",
        }
    }
}

/// The call of a codelet.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) codelet: &'static Codelet,
    /// The kernel that the submitter named; otherwise the codelet's first one.
    pub(crate) kernel: Option<&'static Kernel>,
    /// The input that it overwrites, if any.
    pub(crate) over: Option<Over>,
    pub(crate) options: Options,
}

impl Call {
    pub(crate) fn new(codelet: &'static Codelet, over: Option<Over>) -> Self {
        Self { codelet, kernel: None, over, options: Options::default() }
    }

    /// The codelet's kernel for overwriting that input, if it has one and the submitter named no other.
    pub(crate) fn in_place_kernel(&self) -> Option<&'static Kernel> {
        let codelet: &'static Codelet = self.codelet;
        let in_place = codelet.in_place.as_ref().filter(|_| self.over.is_some() && self.kernel.is_none())?;
        in_place.kernel.as_ref()
    }
}

/// The options of a task.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    pub(crate) priority: i32,
    pub(crate) name: Option<&'static str>,
    pub(crate) place: Placement,
    /// The worker to whose memory the inputs are copied as soon as the task is ready.
    pub(crate) prefetch: Option<usize>,
}

/// The worker on which the submitter wants a task to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Any worker, chosen by the scheduler.
    #[default]
    Any,
    /// The worker with this number.
    Worker(usize),
    /// A worker of the same kind as this one.
    KindOf(usize),
    /// The same, as long as that can run the task; else any worker.
    Prefers(usize),
}

/// How a task overwrites one of its inputs: it has no access to the output, and the target takes the output's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Over {
    /// The parameter without an access.
    pub(crate) output: usize,
    /// The parameter that is overwritten.
    pub(crate) target: usize,
    /// The access to the target.
    pub(crate) position: usize,
}

impl Over {
    /// That of a codelet, if it can run in place.
    pub(crate) fn of(codelet: &Codelet) -> Option<Self> {
        let target = codelet.in_place.as_ref()?.target;
        let output = codelet.output().expect("a codelet with `_self` has an output");
        Some(Self { output, target, position: target - usize::from(output < target) })
    }

    /// The parameter of access `position`.
    #[inline]
    pub(crate) fn parameter_of(self, position: usize) -> usize {
        position + usize::from(position >= self.output)
    }
}

/// A step of a reduction.
#[derive(Clone, Debug)]
pub(crate) struct Combination {
    /// The codelet of the contributions.
    pub(crate) codelet: &'static Codelet,
    pub(crate) accumulator: &'static Accumulator,
    pub(crate) step: Step,
    pub(crate) place: Placement,
}

/// Which step of a reduction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Combines a partial result, the second access, into an earlier one, the first.
    Fold,
    /// Combines the result, the second access, with the array, the first, whose elements have this type.
    Finish(ElementType),
}

impl Combination {
    /// The element type of access `position`.
    pub(crate) fn element_of(&self, position: usize) -> ElementType {
        match (self.step, position) {
            (Step::Finish(element), 0) => element,
            _ => self.accumulator.element(),
        }
    }

    /// The corresponding kernel in CUDA, if there is one.
    pub(crate) fn cuda(&self) -> Option<CudaInstance> {
        match self.step {
            Step::Fold => self.accumulator.cuda_fold(),
            Step::Finish(element) => self.accumulator.cuda_finish(element),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Over;
    use crate::access::AccessMode;
    use crate::codelet::{Codelet, InPlace, Parameter};
    use crate::element::ElementType;

    const F32: ElementType = ElementType::of::<f32>();
    const R: AccessMode = AccessMode::R;
    const W: AccessMode = AccessMode::W;

    /// Over its input `target`, of three parameters of which `output` is written: the parameters of the accesses.
    fn over(output: usize, target: usize) -> Vec<usize> {
        let parameters: Vec<_> =
            (0..3).map(|index| Parameter::new("p", if index == output { W } else { R }, F32)).collect();
        let codelet =
            Codelet::new("c", "m", 0).parameters(parameters.leak()).in_place(InPlace::rename(target));
        let over = Over::of(&codelet).expect("it has `_self`");
        assert_eq!(over.parameter_of(over.position), target);
        (0..2).map(|position| over.parameter_of(position)).collect()
    }

    #[test]
    fn in_place_the_output_has_no_access() {
        assert_eq!(over(2, 0), [0, 1]);
        assert_eq!(over(2, 1), [0, 1]);
        assert_eq!(over(0, 1), [1, 2]);
        assert_eq!(over(0, 2), [1, 2]);
        assert_eq!(over(1, 0), [0, 2]);
        assert_eq!(over(1, 2), [0, 2]);
    }
}
