//! [`Statistics`]: the figures of a run.

use serde::Serialize;

/// What a run has done so far. Printed it is a set of tables; as data it can be written in any format of serde's.
///
/// Threads go on while it is made, so unless all tasks have ended, parts of it may be of slightly different moments.
/// In virtual time durations are those of the machine's model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Statistics {
    /// The runtime's name: as the settings say, or `runtime 1`, `runtime 2`, in the order in which they were built.
    pub name: String,
    /// The line that built it.
    pub built_at: String,
    /// The scheduler's name.
    pub scheduler: &'static str,
    /// Whether time is virtual.
    pub is_virtual: bool,
    /// The time since the runtime was built, in microseconds.
    pub time_us: f64,
    /// How many tasks there were, and how they ended.
    pub tasks: TaskCounts,
    /// What each worker has done.
    pub workers: Vec<WorkerStatistics>,
    /// What threads of the host have done that ran tasks while they waited; nothing if none did.
    pub host: Option<HostStatistics>,
    /// What the tasks of each codelet took: the codelet with the longest time first.
    pub codelets: Vec<CodeletStatistics>,
    /// What the graphs of each CUDA device came to; nothing unless the settings allow graphs.
    pub graphs: Vec<GraphStatistics>,
    /// What was copied between memory nodes, pair by pair.
    pub transfers: Vec<TransferStatistics>,
    /// The memory nodes: the main memory, and those of devices.
    pub memory: Vec<MemoryStatistics>,
    /// The arenas, line by line of the program.
    pub arenas: Vec<ArenaStatistics>,
    /// The energy that all workers took, in joules. Nothing unless the machine's model says it of each.
    pub energy_joules: Option<f64>,
}

/// How many tasks there were. What reductions do besides, to fold contributions, counts as tasks; accesses by the host
/// do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TaskCounts {
    /// Tasks submitted: the sum of the others.
    pub submitted: u64,
    /// Tasks that ran to their end.
    pub completed: u64,
    /// Tasks that failed themselves.
    pub failed: u64,
    /// Tasks that did not run, since one that they depend on failed.
    pub cancelled: u64,
    /// Tasks that had not ended.
    pub unfinished: u64,
}

/// What one worker has done.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WorkerStatistics {
    /// Its name: `cpu 0`, or the device's.
    pub name: String,
    /// Its kind: `cpu`, or the device's name.
    pub kind: String,
    /// The memory node that its kernels work in; 0 is the main memory.
    pub node: usize,
    /// The processor that it is bound to, if it is.
    pub processor: Option<usize>,
    /// Tasks that it has ended, in whatever way.
    pub tasks: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those that did not run, since one that they depend on failed.
    pub cancelled: u64,
    /// How long its kernels ran, in microseconds.
    pub busy_us: f64,
    /// The rest of the time, in microseconds.
    pub idle_us: f64,
    /// The part of the time in which its kernels ran, from 0 to 1.
    pub busy_share: f64,
    /// The part of `idle_us` in which it had no task, in microseconds: it looked for one, slept, or helped. Nothing
    /// unless the settings ask for statistics, and in virtual time.
    pub waiting_us: Option<f64>,
    /// The part of `waiting_us` in which it did jobs of other workers' parallel kernels, in microseconds.
    pub helping_us: Option<f64>,
    /// The part of `idle_us` in which it was about a task, but not in its kernel: dependencies, scheduling, copies,
    /// checks; in microseconds.
    pub overhead_us: Option<f64>,
    /// How many kernels and footprints it called for the first time. In virtual time first calls are like all others,
    /// and not counted.
    pub first_calls: u64,
    /// How long these calls took, in microseconds; `busy_us` has it too.
    pub first_calls_us: f64,
    /// The energy that it took, in joules, if the machine's model says it.
    pub energy_joules: Option<f64>,
}

/// What threads of the host have done that ran tasks while they waited.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HostStatistics {
    /// Tasks that they have ended, in whatever way.
    pub tasks: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those that did not run, since one that they depend on failed.
    pub cancelled: u64,
    /// How long the kernels ran, in microseconds.
    pub busy_us: f64,
}

/// What the tasks of one codelet took, for given element types.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CodeletStatistics {
    /// The codelet's name.
    pub codelet: &'static str,
    /// The module that declares it.
    pub module: &'static str,
    /// The element types of its data parameters.
    pub elements: Vec<&'static str>,
    /// Tasks that have ended, in whatever way.
    pub count: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those that did not run, since one that they depend on failed.
    pub cancelled: u64,
    /// Those that a CUDA device launched together with others. How long each took is not known: what follows leaves them out.
    pub together: u64,
    /// How long its kernels ran, all calls together, in microseconds. Calls that failed are in it.
    pub total_us: f64,
    /// The part of the time in which any kernels ran, from 0 to 1.
    pub busy_share: f64,
    /// The kernels that ran to their end, the one with the longest time first.
    pub kernels: Vec<KernelStatistics>,
}

/// How long one kernel took on one kind of worker. Mean, median and extremes leave out the first call of each worker for
/// each footprint, unless there was no other.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct KernelStatistics {
    /// The kernel's name; `fold` and `finish` are what a reduction does besides.
    pub kernel: &'static str,
    /// The kind of worker.
    pub worker_kind: String,
    /// Calls that ran to their end.
    pub count: u64,
    /// How many footprints, which are the extents of all arrays, there were.
    pub footprints: usize,
    /// All calls together, in microseconds.
    pub total_us: f64,
    /// The mean in microseconds.
    pub mean_us: f64,
    /// The median of the last calls in microseconds; nothing if there were several footprints.
    pub median_us: Option<f64>,
    /// The shortest in microseconds.
    pub min_us: f64,
    /// The longest in microseconds.
    pub max_us: f64,
    /// First calls that are left out above.
    pub first_calls: u64,
    /// Their mean in microseconds, if there were any.
    pub first_us: Option<f64>,
}

/// What the graphs of a CUDA device came to: launches that come again and again, given to the driver in one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GraphStatistics {
    /// The device's name.
    pub device: String,
    /// Graphs that were made executable.
    pub instantiated: u64,
    /// Those that the driver refused; their kernels were launched one by one.
    pub refused: u64,
    /// How often a graph was launched.
    pub launches: u64,
    /// How many kernels these launches had.
    pub kernels: u64,
    /// How many of them had other parameters than the time before.
    pub updated: u64,
    /// Graphs that there are now.
    pub kept: u64,
}

/// What went from one memory node to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TransferStatistics {
    /// The number of the memory node that it came from; 0 is the main memory.
    pub from: usize,
    /// The number of the memory node that it went to.
    pub to: usize,
    /// The name of the memory node that it came from.
    pub from_name: String,
    /// The name of the memory node that it went to.
    pub to_name: String,
    /// How many transfers.
    pub count: u64,
    /// How many bytes.
    pub bytes: u64,
    /// How long they took, all together, in microseconds.
    pub time_us: f64,
    /// Bytes per nanosecond, latencies included.
    pub gbytes_per_s: f64,
}

/// How much of a memory node was in use. See [`Runtime::memory`](crate::Runtime::memory).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MemoryStatistics {
    /// The node: `host`, or the name of a device.
    pub name: String,
    /// Bytes of arrays now.
    pub current_bytes: usize,
    /// Bytes taken from the system now.
    pub reserved_bytes: usize,
    /// The most bytes that were taken from the system at once.
    pub peak_bytes: usize,
    /// The most bytes that may be, if there is a limit.
    pub limit_bytes: Option<usize>,
}

/// What the arenas hold, and held, that one line of the program made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ArenaStatistics {
    /// The line.
    pub made_at: String,
    /// How many it made.
    pub count: u64,
    /// Bytes of arrays now, in all that are there.
    pub current_bytes: usize,
    /// Bytes that they hold now, for arrays and to use anew.
    pub reserved_bytes: usize,
    /// The most bytes that one of them held at once, be it gone.
    pub peak_bytes: usize,
}
