//! [`Snapshot`]: the tasks that are submitted and not finished, copied out of the records while other threads continue.

use crate::access::AccessMode;
use crate::array_id::ArrayId;
use crate::description::Action;
use crate::graph::Dispatch;
use crate::task::Pinned;

/// The state of a runtime at a moment. Threads continue meanwhile, so parts of it may be from slightly different
/// moments.
pub(super) struct Snapshot {
    pub(super) submitted: u64,
    pub(super) completed: u64,
    pub(super) now_ns: u64,
    pub(super) scheduler: &'static str,
    /// In the order of submission; waiting threads come last.
    pub(super) tasks: Vec<Unfinished>,
    /// The activity of the workers, and finally of the host.
    pub(super) workers: Vec<Activity>,
    /// The workers' names.
    pub(super) names: Vec<String>,
    pub(super) reserved_bytes: usize,
    /// This rank, and the number of ranks, if it is one of several.
    pub(super) rank: Option<(usize, usize)>,
    /// The messages that it waits for.
    pub(super) messages: Vec<String>,
}

/// A task, or a thread that waits for an array.
pub(super) struct Unfinished {
    pub(super) what: String,
    /// None for a thread.
    pub(super) sequence: Option<u64>,
    pub(super) accesses: Vec<Awaited>,
    pub(super) state: State,
}

/// One of its arrays.
#[derive(Clone, Copy)]
pub(super) struct Awaited {
    pub(super) array: ArrayId,
    /// For a part: its whole array.
    pub(super) whole: Option<ArrayId>,
    pub(super) mode: AccessMode,
    pub(super) is_ready: bool,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum State {
    /// For other tasks.
    Waiting,
    /// For a commute lock, or for the scheduler.
    Ready,
    Running,
}

/// The activity of a thread.
pub(super) enum Activity {
    Runs { sequence: u64, since_ns: u64 },
    Looks,
    Sleeps,
}

impl Snapshot {
    pub(super) fn take(
        dispatch: &dyn Dispatch,
        scheduler: &'static str,
        workers: Vec<Activity>,
        completed: u64,
    ) -> Self {
        let host = dispatch.host();
        let mut tasks: Vec<_> =
            Pinned::all(dispatch).filter_map(|pinned| Unfinished::of(&pinned, &workers)).collect();
        tasks.sort_by_key(|task| task.sequence.unwrap_or(u64::MAX));
        Self {
            submitted: host.submitted(),
            completed,
            now_ns: host.clock().now_ns(),
            scheduler,
            tasks,
            workers,
            names: host.worker_infos().iter().map(|worker| worker.name.clone()).collect(),
            reserved_bytes: host.memory().reserved_bytes(),
            rank: host.ranks().map(|ranks| (ranks.rank(), ranks.len())),
            messages: host.ranks().map(|ranks| ranks.awaited().lines()).unwrap_or_default(),
        }
    }
}

impl Unfinished {
    /// None if the task has run, or is not a task to be reported.
    fn of(pinned: &Pinned<'_>, workers: &[Activity]) -> Option<Self> {
        let task = pinned.task();
        let desc = task.desc();
        let accesses: Vec<_> = task
            .accesses()
            .filter_map(|access| {
                let (array, whole) = (access.array()?, access.whole());
                Some((
                    Awaited { array, whole, mode: access.mode, is_ready: access.is_ready() },
                    access.is_done(),
                ))
            })
            .collect();
        if !accesses.is_empty() && accesses.iter().all(|(_, is_done)| *is_done) {
            return None;
        }
        let sequence = (!matches!(desc.action(), Action::Wait)).then_some(desc.sequence());
        let name = desc.name().map(|name| format!(" `{name}`")).unwrap_or_default();
        let (number, location) = (desc.sequence(), desc.location());
        let what = match (desc.action(), desc.codelet_if_any()) {
            (_, None) => format!("a thread that waits at {location}"),
            (Action::Combine(_), Some(codelet)) => {
                format!("{}#{number} (its reduction){name}, submitted at {location}", codelet.name)
            }
            (_, Some(codelet)) => format!("{}#{number}{name}, submitted at {location}", codelet.name),
        };
        let runs = |activity: &Activity| matches!(activity, Activity::Runs { sequence: own, .. } if Some(*own) == sequence);
        let state = match () {
            () if workers.iter().any(runs) => State::Running,
            () if task.is_pending() => State::Waiting,
            () => State::Ready,
        };
        Some(Self {
            what,
            sequence,
            accesses: accesses.into_iter().map(|(access, _)| access).collect(),
            state,
        })
    }

    /// Whether this one must end before `other` can begin.
    pub(super) fn stands_before(&self, other: &Self) -> bool {
        let is_earlier = match (self.sequence, other.sequence) {
            (Some(own), Some(others)) => own < others,
            (Some(_), None) => true,
            (None, _) => false,
        };
        let conflicts = |own: &Awaited| {
            let mut awaited = other.accesses.iter().filter(|access| !access.is_ready);
            awaited.any(|access| access.meets(own) && !(access.mode.is_shared() && own.mode.is_shared()))
        };
        is_earlier && self.accesses.iter().any(conflicts)
    }
}

impl Awaited {
    /// Whether both are one array, or one is a part of the other.
    fn meets(&self, other: &Self) -> bool {
        self.array == other.array || self.whole == Some(other.array) || other.whole == Some(self.array)
    }
}
