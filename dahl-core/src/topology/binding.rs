//! [`Binding`]: which processor each CPU worker runs on.

use super::{Processor, Topology, list};
use crate::error::{Error, ErrorKind, Result};

/// The processors that CPU workers are bound to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Binding {
    /// The system decides, and may move them. The default, for several runtimes or programs on one machine.
    #[default]
    None,
    /// Each worker has a processor of its own, in [`Topology::binding_order`]: for a program that has the machine to
    /// itself.
    Cores,
    /// Worker `i` has the processor with number `processors[i]`.
    Processors(Vec<usize>),
}

impl Binding {
    /// The binding with this text: `none`, `cores`, or processors as in `0-3,8`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "none" => Some(Self::None),
            "cores" => Some(Self::Cores),
            text => list::parse(text).filter(|numbers| !numbers.is_empty()).map(Self::Processors),
        }
    }

    /// The processor of each of `workers` workers; none for all without binding.
    ///
    /// # Errors
    /// If there are too few processors, or this process may not use one.
    #[track_caller]
    pub(crate) fn processors(&self, setting: &'static str, workers: usize) -> Result<Vec<Option<Processor>>> {
        let topology = || Topology::of_this_machine();
        let (topology, order) = match self {
            Self::None => return Ok(vec![None; workers]),
            Self::Cores => {
                let topology = topology();
                let order = topology.binding_order();
                (topology, order)
            }
            Self::Processors(numbers) => (topology(), numbers.clone()),
        };
        let allowed = || {
            let numbers = topology.processors().iter().map(|processor| processor.number.to_string());
            numbers.collect::<Vec<_>>().join(", ")
        };
        let wrong = |fact: String| {
            let expected = format!("{fact}; this process may use {}", allowed());
            Err(Error::new(ErrorKind::Config { setting, value: self.text(), expected }))
        };
        if let Some(number) = order.iter().find(|&&number| topology.processor(number).is_none()) {
            return wrong(format!("processors that there are, which {number} is not"));
        }
        if order.len() < workers {
            return wrong(format!("a processor for each of the {workers} CPU workers"));
        }
        Ok(order.iter().take(workers).map(|&number| topology.processor(number).copied()).collect())
    }

    fn text(&self) -> String {
        match self {
            Self::None => "none".to_owned(),
            Self::Cores => "cores".to_owned(),
            Self::Processors(numbers) => numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(","),
        }
    }
}

/// The processors that this process may use, if the system reports them.
#[cfg(target_os = "linux")]
pub(super) fn allowed() -> Option<Vec<usize>> {
    use rustix::thread::{CpuSet, sched_getaffinity};
    let set = sched_getaffinity(None).ok()?;
    let numbers: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&number| set.is_set(number)).collect();
    (!numbers.is_empty()).then_some(numbers)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn allowed() -> Option<Vec<usize>> {
    None
}

/// Binds this thread to a processor. If the system does not allow it, a message is printed, and the thread runs
/// unbound.
#[cfg(not(dahl_fuzz))]
pub(crate) fn bind_this_thread(processor: usize) {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CpuSet, sched_setaffinity};
        let mut set = CpuSet::new();
        set.set(processor);
        if let Err(error) = sched_setaffinity(None, &set) {
            eprintln!("dahl: warning: a worker cannot be bound to processor {processor}: {error}");
        }
    }
    #[cfg(not(target_os = "linux"))]
    eprintln!("dahl: warning: workers are not bound here, so not to processor {processor}");
}
