//! [`WorkerContext`]: what a worker keeps from one task to the next.
#![allow(unsafe_code, reason = "keeps operands, and the arrays whose replicas are used")]

use std::ptr::NonNull;
use std::sync::Arc;

use crate::autotune::ChoiceCache;
use crate::check::Inspection;
use crate::codelet::{Operand, Packs};
use crate::engine::Shared;
use crate::explain::CallLogCache;
use crate::graph::ArrayState;
use crate::machine::CPU;
use crate::memory::HOME;
use crate::memory::{Buffer, MemoryNode};
use crate::perf::ModelCache;
use crate::task::{LifoSlot, Recycler};
use crate::trace::TaskTimes;

/// The state that a thread keeps from one task to the next.
pub(crate) struct WorkerContext {
    /// None for the host, when it helps.
    pub(super) worker: Option<usize>,
    pub(super) name: String,
    pub(super) operands: Vec<Operand>,
    pub(super) packs: Packs,
    pub(super) scratch: Vec<Buffer>,
    pub(super) inspection: Inspection,
    pub(super) models: ModelCache,
    pub(super) choices: ChoiceCache,
    pub(super) call_logs: CallLogCache,
    pub(crate) recycler: Recycler,
    /// The task that it runs next, for a worker.
    pub(super) lifo_slot: LifoSlot,
    /// The memory node of its kernels.
    pub(super) node: usize,
    pub(super) memory: Arc<MemoryNode>,
    /// The kind of the worker.
    pub(super) kind: Arc<str>,
    /// Replicas that the running task uses in a device's memory.
    pub(super) pinned: Vec<Pin>,
    /// When the memory of the running task's buffers becomes free, on a device.
    pub(super) room_ns: u64,
    /// Whether the thread is one of the runtime's pool.
    pub(super) is_in_pool: bool,
    /// Whether data were copied for the running task from another memory node.
    pub(super) transferred: bool,
    /// The duration of the running task's kernel, if it failed.
    pub(super) lost_ns: u64,
    /// The times of the running task for a trace, if there is one.
    pub(super) times: TaskTimes,
}

// SAFETY: the operands' pointers are leftovers of tasks that have ended: `call::prepare` has overwritten them, and
// truncated the rest, before a kernel gets them.
unsafe impl Send for WorkerContext {}

impl WorkerContext {
    /// That of a worker, or of the host, of a runtime with `workers` workers.
    pub(crate) fn new(worker: Option<usize>, workers: usize, name: String, memory: &Arc<MemoryNode>) -> Self {
        Self {
            worker,
            name,
            operands: Vec::new(),
            packs: Packs::new(Some(Arc::clone(memory))),
            scratch: Vec::new(),
            inspection: Inspection::default(),
            models: ModelCache::new(worker),
            choices: ChoiceCache::default(),
            call_logs: CallLogCache::new(workers),
            recycler: Recycler::default(),
            lifo_slot: LifoSlot::default(),
            node: HOME,
            memory: Arc::clone(memory),
            kind: Arc::from(CPU),
            pinned: Vec::new(),
            room_ns: 0,
            is_in_pool: false,
            transferred: false,
            lost_ns: 0,
            times: TaskTimes::default(),
        }
    }

    /// The context of a worker's thread, which runs tasks from its LIFO slot first.
    pub(super) fn with_lifo_slot(mut self, shared: &Shared) -> Self {
        if let Some(worker) = self.worker.filter(|_| shared.lets_workers_go_on()) {
            self.lifo_slot = LifoSlot::of(worker);
        }
        self
    }

    /// The context of a thread of the runtime's pool.
    pub(super) fn in_pool(mut self) -> Self {
        self.is_in_pool = !cfg!(dahl_fuzz);
        self
    }

    /// The context of a device of the kind `kind`, whose memory has the number `node`.
    pub(crate) fn at_node(mut self, node: usize, kind: &str) -> Self {
        (self.node, self.kind) = (node, Arc::from(kind));
        self
    }

    /// Frees the buffers that it keeps from task to task.
    pub(crate) fn free_buffers(&mut self) {
        self.scratch.clear();
    }

    /// The name of the worker.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// A replica in a device's memory that a task uses.
#[derive(Debug)]
pub(crate) struct Pin {
    pub(super) array: NonNull<ArrayState>,
    pub(super) node: usize,
}

// SAFETY: the array exists until the task that uses it has been completed.
unsafe impl Send for Pin {}

impl Pin {
    pub(super) fn let_go(self) {
        // SAFETY: as above.
        unsafe { self.array.as_ref() }.unpin(self.node);
    }
}
