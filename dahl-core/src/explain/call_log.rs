//! [`CallLog`]: the last calls of one kernel, for one footprint, on one worker.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
// Counters whose order does not matter: a call that is being written may be read or not.
use std::sync::atomic::{AtomicU64, Ordering};

use crate::codelet::Codelet;
use crate::description::TaskDesc;
use crate::footprint;
use crate::sync::{Mutex, MutexGuard};

/// The most calls in a log, in addition to the first one.
const CALLS: usize = 64;
/// Logs that a worker keeps at least.
const FEWEST: usize = 512;
/// Bits of a duration in nanoseconds: up to 18 minutes.
const TIME_BITS: u32 = 40;
/// The number of bits of the number of other busy workers.
const BUSY_BITS: u32 = 8;
/// Stands for an unknown number.
const UNKNOWN: u64 = (1 << BUSY_BITS) - 1;
const TEAM: u64 = 1 << (TIME_BITS + BUSY_BITS);
const TRANSFERRED: u64 = TEAM << 1;

/// One call of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) time_ns: u64,
    /// How many other workers had a task at its start, if known.
    pub(crate) others_busy: Option<usize>,
    /// Whether it ran with a team.
    pub(crate) team: bool,
    /// Whether data were copied for it from another memory node.
    pub(crate) transferred: bool,
}

/// All call logs of a runtime.
#[derive(Debug, Default)]
pub(crate) struct CallLogs {
    logs: Mutex<Vec<Arc<CallLog>>>,
    /// The full names of the codelets that have run.
    codelets: Mutex<BTreeSet<String>>,
}

/// One worker's call logs, found without a lock.
pub(crate) struct CallLogCache {
    logs: HashMap<u64, Known, footprint::Hashed>,
    /// How many it keeps.
    most: usize,
}

struct Known {
    log: Arc<CallLog>,
    /// The calls that it had when logs were last dropped.
    calls: u64,
}

/// The calls of one kernel, for one footprint, on one worker, the only writer.
#[derive(Debug)]
pub(crate) struct CallLog {
    pub(super) worker: String,
    pub(super) kind: Arc<str>,
    pub(super) codelet: &'static Codelet,
    pub(super) kernel: &'static str,
    pub(super) footprint: Vec<Vec<usize>>,
    /// The number of calls, including the first one.
    count: AtomicU64,
    first: AtomicU64,
    calls: [AtomicU64; CALLS],
}

impl Call {
    fn pack(self) -> u64 {
        let time = self.time_ns.min((1 << TIME_BITS) - 1);
        let busy = self.others_busy.map_or(UNKNOWN, |busy| (busy as u64).min(UNKNOWN - 1));
        let flag = |holds: bool, flag: u64| if holds { flag } else { 0 };
        time | busy << TIME_BITS | flag(self.team, TEAM) | flag(self.transferred, TRANSFERRED)
    }

    fn unpack(bits: u64) -> Self {
        let busy = bits >> TIME_BITS & UNKNOWN;
        Self {
            time_ns: bits & ((1 << TIME_BITS) - 1),
            others_busy: (busy != UNKNOWN).then_some(busy as usize),
            team: bits & TEAM != 0,
            transferred: bits & TRANSFERRED != 0,
        }
    }
}

impl CallLogCache {
    /// That of the host or of one of `workers` workers, which together keep as many as a table does, but each at least a few.
    pub(crate) fn new(workers: usize) -> Self {
        Self { logs: HashMap::default(), most: (footprint::MOST_ROWS / (workers + 1)).max(FEWEST) }
    }

    /// Drops half of the logs: those that have had no call lately, or the fewest.
    #[cold]
    fn drop_logs(&mut self, logs: &CallLogs) {
        let uses = |known: &Known| (known.log.count() > known.calls, known.log.count());
        let keys: Vec<_> = self.logs.keys().copied().collect();
        let stays = footprint::survivors(keys.iter().map(|key| uses(&self.logs[key])));
        let mut gone = HashSet::new();
        for (key, stays) in keys.into_iter().zip(stays) {
            if !stays && let Some(known) = self.logs.remove(&key) {
                gone.insert(Arc::as_ptr(&known.log));
            }
        }
        self.logs.values_mut().for_each(|known| known.calls = known.log.count());
        logs.all().retain(|log| !gone.contains(&Arc::as_ptr(log)));
    }

    /// Notes a call, whose key is that of its performance model.
    pub(crate) fn record(
        &mut self,
        logs: &CallLogs,
        key: u64,
        (worker, kind): (&str, &Arc<str>),
        (codelet, kernel): (&'static Codelet, &'static str),
        task: &TaskDesc,
        call: Call,
    ) {
        if self.logs.len() >= self.most && !self.logs.contains_key(&key) {
            self.drop_logs(logs);
        }
        let known = self.logs.entry(key).or_insert_with(|| {
            let log = Arc::new(CallLog {
                worker: worker.to_owned(),
                kind: Arc::clone(kind),
                codelet,
                kernel,
                footprint: task.extents().map(<[usize]>::to_vec).collect(),
                count: AtomicU64::new(0),
                first: AtomicU64::new(0),
                calls: [const { AtomicU64::new(0) }; CALLS],
            });
            logs.add(&log);
            Known { log, calls: 0 }
        });
        known.log.add(call);
    }
}

impl CallLogs {
    pub(super) fn all(&self) -> MutexGuard<'_, Vec<Arc<CallLog>>> {
        self.logs.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    fn add(&self, log: &Arc<CallLog>) {
        self.all().push(Arc::clone(log));
        let full_name = format!("{}::{}", log.codelet.module, log.codelet.name);
        self.codelets.lock().unwrap_or_else(|poison| poison.into_inner()).insert(full_name);
    }

    /// The full names of the codelets that have run, in order.
    pub(crate) fn codelets(&self) -> Vec<String> {
        self.codelets.lock().unwrap_or_else(|poison| poison.into_inner()).iter().cloned().collect()
    }

    /// The memory that the logs take.
    pub(crate) fn bytes(&self) -> usize {
        let of_log = |log: &Arc<CallLog>| size_of::<CallLog>() + footprint::bytes(&log.footprint);
        self.all().iter().map(of_log).sum()
    }
}

impl CallLog {
    fn add(&self, call: Call) {
        let count = self.count.load(Ordering::Relaxed);
        let place = match count.checked_sub(1) {
            None => &self.first,
            Some(index) => &self.calls[index as usize % CALLS],
        };
        place.store(call.pack(), Ordering::Relaxed);
        self.count.store(count + 1, Ordering::Release);
    }

    /// The number of calls, including the first one.
    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    pub(super) fn first(&self) -> Option<Call> {
        (self.count() > 0).then(|| Call::unpack(self.first.load(Ordering::Relaxed)))
    }

    /// The last calls after the first one, in any order.
    pub(super) fn calls(&self) -> impl Iterator<Item = Call> {
        let kept = self.count().saturating_sub(1).min(CALLS as u64) as usize;
        self.calls[..kept].iter().map(|call| Call::unpack(call.load(Ordering::Relaxed)))
    }

    /// Whether both are of one kernel and footprint on one kind of worker.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let elements = |log: &Self| -> Vec<_> {
            log.codelet.parameters.iter().map(|parameter| parameter.element.name).collect()
        };
        (self.codelet.module, self.codelet.name, self.kernel)
            == (other.codelet.module, other.codelet.name, other.kernel)
            && self.kind == other.kind
            && self.footprint == other.footprint
            && elements(self) == elements(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_what_was_packed() {
        for others_busy in [None, Some(0), Some(254)] {
            for (team, transferred) in [(false, false), (true, false), (false, true), (true, true)] {
                let call = Call { time_ns: (1 << TIME_BITS) - 1, others_busy, team, transferred };
                assert_eq!(Call::unpack(call.pack()), call);
            }
        }
        let long = Call { time_ns: u64::MAX, others_busy: Some(1000), team: false, transferred: false };
        let kept = Call { time_ns: (1 << TIME_BITS) - 1, others_busy: Some(254), ..long };
        assert_eq!(Call::unpack(long.pack()), kept);
    }
}
