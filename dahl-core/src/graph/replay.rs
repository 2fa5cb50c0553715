//! [`Replay`]: the tasks of a program that is ready to run, with the order between them. `program/README.md` says who may
//! touch them when.
#![allow(unsafe_code, reason = "one replay at a time owns what is in the cells")]

use std::any::Any;
use std::cell::UnsafeCell;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::device_program::DeviceProgram;
use super::record::{Record, Submitted};
use crate::device::FetchError;
use crate::sync::atomic::{AtomicU32, Ordering};

/// A task of a program: its record, and the tasks after it.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) record: Record,
    /// How many tasks come before it.
    pub(crate) before: u32,
    /// The tasks that come after it.
    pub(crate) after: Box<[u32]>,
    /// For a branch or a loop, which no worker runs.
    pub(crate) bodies: Option<Box<dyn Bodies>>,
    /// For a whole program that a device runs as one graph.
    pub(crate) device_program: Option<Arc<DeviceProgram>>,
    replay: *const Replay,
}

/// The bodies of a branch or of a loop: a task of a program whose work is their replays.
pub(crate) trait Bodies: Send + Sync + std::fmt::Debug {
    /// Begins the replay of a body, whose envelope is the task; false if no body is to run any more. `is_first` says that
    /// none has run for the task yet.
    ///
    /// # Errors
    /// If the condition has no value, or cannot be made available.
    ///
    /// # Safety
    /// The task is this one's, its accesses are held, and no body of it is running. If a body has begun, the caller
    /// touches the task no more: whoever ends it may have done so.
    unsafe fn proceed(&self, task: NonNull<Submitted>, is_first: bool) -> Result<bool, FetchError>;
}

/// The tasks of a program.
#[derive(Debug)]
pub(crate) struct Replay {
    nodes: Box<[Node]>,
    /// The tasks that no other one comes before.
    roots: Box<[u32]>,
    /// The tasks that have not ended.
    left: AtomicU32,
    running: UnsafeCell<Option<Running>>,
}

/// A replay that has begun.
#[derive(Debug)]
pub(crate) struct Running {
    /// The task as which the runtime knows it.
    pub(crate) envelope: NonNull<Submitted>,
    /// What keeps the tasks, and all that they use.
    pub(crate) keeps: Arc<dyn Keeps>,
}

/// What keeps the tasks of a replay.
pub(crate) trait Keeps: Any + Send + Sync + std::fmt::Debug {
    /// Begins the replay of a program task by task, which a device cannot run as one graph now: `task` is what it would have
    /// been.
    ///
    /// # Safety
    /// The task has begun and not ended, and nothing else ends its replay, which was `envelope`'s.
    unsafe fn begin_by_task(self: Arc<Self>, task: &Submitted, envelope: NonNull<Submitted>);

    /// All tasks of the replay have ended, and the envelope has not.
    fn has_ended(&self);
}

// SAFETY: `running` is written by the thread that begins the replay, before it hands a task over, and taken by the thread
// that counts the last one; the rest is atomic or does not change while a replay runs.
unsafe impl Send for Replay {}
// SAFETY: as for `Send`.
unsafe impl Sync for Replay {}

impl Replay {
    /// The tasks, each with those after it and the number of those before it. The result stays where it is.
    pub(crate) fn new(tasks: Vec<(Record, Vec<u32>)>) -> Box<Self> {
        let mut before = vec![0; tasks.len()];
        tasks.iter().flat_map(|(_, after)| after).for_each(|&task| before[task as usize] += 1);
        let roots = (0..tasks.len() as u32).filter(|&task| before[task as usize] == 0).collect();
        let nodes = tasks.into_iter().zip(before).map(|((record, after), before)| Node {
            record,
            before,
            after: after.into_boxed_slice(),
            bodies: None,
            device_program: None,
            replay: ptr::null(),
        });
        let mut replay = Box::new(Self {
            nodes: nodes.collect(),
            roots,
            left: AtomicU32::new(0),
            running: UnsafeCell::new(None),
        });
        let this: *const Self = &raw const *replay;
        replay.nodes.iter_mut().for_each(|node| node.replay = this);
        replay
    }

    /// Makes a branch or a loop of task `node`, before the first replay.
    pub(crate) fn set_bodies(&mut self, node: usize, bodies: Box<dyn Bodies>) {
        self.nodes[node].bodies = Some(bodies);
    }

    /// Makes the only task a whole program that a device runs, before the first replay.
    pub(crate) fn set_device_program(&mut self, program: Arc<DeviceProgram>) {
        self.nodes[0].device_program = Some(program);
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The tasks that no other one comes before.
    pub(crate) fn roots(&self) -> &[u32] {
        &self.roots
    }

    /// Prepares the counts.
    ///
    /// # Safety
    /// No replay is running, and this thread is the one that begins the next one.
    pub(crate) unsafe fn begin(&self, running: Running) {
        self.left.store(self.nodes.len() as u32, Ordering::Relaxed);
        // SAFETY: guaranteed by the caller.
        unsafe { *self.running.get() = Some(running) };
        for node in &self.nodes {
            node.record.arm_for_replay(node.before);
        }
    }

    /// Gives the replay up whose only task this is, and which another one takes over.
    ///
    /// # Safety
    /// The task has begun and not ended, and the caller does not end it.
    pub(crate) unsafe fn give_up(&self) -> Running {
        // SAFETY: guaranteed by the caller: nobody counts the task, so nobody else uses the cell.
        unsafe { (*self.running.get()).take() }.expect("a task that has begun is of a replay")
    }

    /// Counts a task that has ended. For the last one: the replay, which has ended.
    pub(crate) fn count_ended(&self) -> Option<Running> {
        // SAFETY: whoever counts the last task has seen all that others did before they counted theirs, and nobody else
        // uses the cell before the next replay begins, which is after the caller has completed the envelope.
        (self.left.fetch_sub(1, Ordering::AcqRel) == 1)
            .then(|| unsafe { (*self.running.get()).take() })
            .flatten()
    }
}

impl Node {
    /// Where it is, for the party of its record.
    pub(crate) fn address(&self) -> *const () {
        ptr::from_ref(self).cast()
    }

    /// The task of a program at an address.
    ///
    /// # Safety
    /// It is the [`address`](Self::address) of a task that has not been counted as ended in the replay that runs.
    pub(crate) unsafe fn at<'r>(address: *const ()) -> &'r Self {
        // SAFETY: guaranteed by the caller: the program is kept while a replay runs.
        unsafe { &*address.cast::<Self>() }
    }

    /// The program that it is of.
    ///
    /// # Safety
    /// A replay is running in which the node's task has not been counted as ended.
    pub(crate) unsafe fn replay<'r>(&self) -> &'r Replay {
        // SAFETY: `Replay::new` set it, and the program is kept while a replay runs.
        unsafe { &*self.replay }
    }
}
