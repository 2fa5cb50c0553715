//! [`Statistics`]: the figures of a run.

use serde::Serialize;

use super::energy::EnergyStatistics;

/// The statistics of a run so far. `Display` prints tables; serde can serialise it in any format.
///
/// Threads continue while it is collected, so unless all tasks have ended, parts of it may be from slightly different
/// moments. In virtual time durations are those of the machine's model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Statistics {
    /// The runtime's name: from the settings, or `runtime 1`, `runtime 2`, in the order in which they were built.
    pub name: String,
    /// The line that built it.
    pub built_at: String,
    /// The scheduler's name.
    pub scheduler: &'static str,
    /// Whether time is virtual.
    pub is_virtual: bool,
    /// The time since the runtime was built, in microseconds.
    pub time_us: f64,
    /// The number of tasks, by how they ended.
    pub tasks: TaskCounts,
    /// The activity of each worker.
    pub workers: Vec<WorkerStatistics>,
    /// The activity of the host's threads, which run tasks while they wait; none if they ran no task.
    pub host: Option<HostStatistics>,
    /// The times of each codelet's tasks, the longest first.
    pub codelets: Vec<CodeletStatistics>,
    /// The CUDA graphs of each device; empty unless the settings enable graphs.
    pub graphs: Vec<GraphStatistics>,
    /// The transfers, for each pair of memory nodes.
    pub transfers: Vec<TransferStatistics>,
    /// The memory nodes: the main memory, and those of devices.
    pub memory: Vec<MemoryStatistics>,
    /// The arenas, by line of the program.
    pub arenas: Vec<ArenaStatistics>,
    /// The energy of the run: measured, simulated, or unavailable.
    pub energy: EnergyStatistics,
    /// The joules of [`energy.run`](EnergyStatistics::run), if they are known.
    pub energy_joules: Option<f64>,
}

/// The number of tasks. The runtime's own tasks of reductions, which fold contributions, count; accesses by the host do
/// not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TaskCounts {
    /// Tasks submitted: the sum of the others.
    pub submitted: u64,
    /// Tasks that succeeded.
    pub completed: u64,
    /// Tasks that failed themselves.
    pub failed: u64,
    /// Tasks that did not run because a dependency failed.
    pub cancelled: u64,
    /// Tasks that had not ended.
    pub unfinished: u64,
}

/// The activity of one worker.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WorkerStatistics {
    /// Its name: `cpu 0`, or the device's.
    pub name: String,
    /// Its kind: `cpu`, or the device's name.
    pub kind: String,
    /// The memory node that its kernels work in; 0 is the main memory.
    pub node: usize,
    /// The processor that it is bound to, if any.
    pub processor: Option<usize>,
    /// Tasks that it has ended, with or without success.
    pub tasks: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those that did not run because a dependency failed.
    pub cancelled: u64,
    /// The total duration of its kernels, in microseconds.
    pub busy_us: f64,
    /// The rest of the time, in microseconds.
    pub idle_us: f64,
    /// The fraction of the time in which its kernels ran.
    pub busy_share: f64,
    /// The part of `idle_us` in which it had no task, in microseconds: it looked for one, was parked, or helped. None
    /// unless the settings enable statistics, and in virtual time.
    pub waiting_us: Option<f64>,
    /// The part of `waiting_us` in which it ran jobs of other workers' parallel kernels, in microseconds.
    pub helping_us: Option<f64>,
    /// The part of `idle_us` in which it had a task, but was not in its kernel: dependencies, scheduling, copies,
    /// checks; in microseconds.
    pub overhead_us: Option<f64>,
    /// The number of first calls of a kernel with a footprint. In virtual time first calls are like all others, and not
    /// counted.
    pub first_calls: u64,
    /// The total duration of these calls, in microseconds, which `busy_us` includes.
    pub first_calls_us: f64,
    /// Its energy, in joules, if the machine's model has its power.
    pub energy_joules: Option<f64>,
}

/// The activity of the host's threads, which run tasks while they wait.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HostStatistics {
    /// Tasks that they have ended, with or without success.
    pub tasks: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those that did not run because a dependency failed.
    pub cancelled: u64,
    /// The total duration of the kernels, in microseconds.
    pub busy_us: f64,
}

/// The times of the tasks of one codelet, for given element types.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CodeletStatistics {
    /// The codelet's name.
    pub codelet: &'static str,
    /// The module that declares it.
    pub module: &'static str,
    /// The element types of its data parameters.
    pub elements: Vec<&'static str>,
    /// Tasks that have ended, with or without success.
    pub count: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those that did not run because a dependency failed.
    pub cancelled: u64,
    /// Those that a CUDA device launched together with others. Their durations are not known, and the fields below
    /// exclude them.
    pub together: u64,
    /// The total duration of its kernels, including calls that failed, in microseconds.
    pub total_us: f64,
    /// The fraction of the time of all kernels.
    pub busy_share: f64,
    /// The kernels with successful calls, the one with the longest time first.
    pub kernels: Vec<KernelStatistics>,
}

/// The times of one kernel on one kind of worker. Mean, median and extremes exclude the first call of each worker for
/// each footprint, unless there was no other.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct KernelStatistics {
    /// The kernel's name; `fold` and `finish` are those of the runtime's own tasks of reductions.
    pub kernel: &'static str,
    /// The kind of worker.
    pub worker_kind: String,
    /// Successful calls.
    pub count: u64,
    /// The number of footprints, which are the extents of all arrays.
    pub footprints: usize,
    /// The total time in microseconds.
    pub total_us: f64,
    /// The mean in microseconds.
    pub mean_us: f64,
    /// The median of the last calls in microseconds; none if there were several footprints.
    pub median_us: Option<f64>,
    /// The shortest in microseconds.
    pub min_us: f64,
    /// The longest in microseconds.
    pub max_us: f64,
    /// First calls, which the fields above exclude.
    pub first_calls: u64,
    /// Their mean in microseconds, if there were any.
    pub first_us: Option<f64>,
}

/// The CUDA graphs of a device: repeated sequences of launches, each given to the driver in one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct GraphStatistics {
    /// The device's name.
    pub device: String,
    /// Graphs that were instantiated.
    pub instantiated: u64,
    /// Those that the driver refused; their kernels were launched one by one.
    pub refused: u64,
    /// The number of graph launches.
    pub launches: u64,
    /// The number of kernels in these launches, without those in the bodies of branches and loops.
    pub kernels: u64,
    /// How many of them had other parameters than in the previous launch.
    pub updated: u64,
    /// Graphs that exist now.
    pub kept: u64,
}

/// The transfers from one memory node to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TransferStatistics {
    /// The number of the source; 0 is the main memory.
    pub from: usize,
    /// The number of the destination.
    pub to: usize,
    /// The name of the source.
    pub from_name: String,
    /// The name of the destination.
    pub to_name: String,
    /// The number of transfers.
    pub count: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// Their total duration, in microseconds.
    pub time_us: f64,
    /// Bytes per nanosecond, including latencies.
    pub gbytes_per_s: f64,
}

/// The memory use of a memory node. See [`Runtime::memory`](crate::Runtime::memory).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MemoryStatistics {
    /// The node: `host`, or the name of a device.
    pub name: String,
    /// Bytes of arrays now.
    pub current_bytes: usize,
    /// Bytes taken from the system now.
    pub reserved_bytes: usize,
    /// The peak of the bytes taken from the system.
    pub peak_bytes: usize,
    /// The limit of these, if there is one.
    pub limit_bytes: Option<usize>,
}

/// The memory use, now and before, of the arenas that one line of the program created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ArenaStatistics {
    /// The line.
    pub made_at: String,
    /// The number of arenas created.
    pub count: u64,
    /// Bytes of arrays now, in all that exist.
    pub current_bytes: usize,
    /// Their reserved bytes now, for arrays and for reuse.
    pub reserved_bytes: usize,
    /// The peak of any of them, including dropped ones.
    pub peak_bytes: usize,
}
