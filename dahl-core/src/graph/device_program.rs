//! [`DeviceProgram`]: what a device needs to run a whole program as one graph: which array each task uses, and where that is.
//!
//! It refers to the tasks of the ordinary replay for their descriptions. What the worker of the device makes of it is behind
//! `prepared`; nothing here knows devices.
#![allow(unsafe_code, reason = "refers to the records of a replay that is kept beside it")]
#![cfg_attr(any(dahl_fuzz, not(feature = "cuda")), allow(dead_code, reason = "there are no such devices"))]

use std::any::Any;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use super::record::Submitted;
use super::replay::Replay;
use crate::access::AccessMode;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The most replays of a pause.
const MOST_PAUSED: u32 = 64;

/// A program as one graph of a device.
///
/// # Invariant
/// W: `tasks` is kept for as long as this is used, and has a task for each step. (A program whose body this is is used no longer
/// than the instance that keeps the body's.)
pub(crate) struct DeviceProgram {
    /// In an order in which they may run.
    pub(crate) steps: Box<[DeviceStep]>,
    /// The bytes of the block in which arrays of the program are.
    pub(crate) block_bytes: usize,
    /// Arrays that no step changes: their bytes, or how many zeros.
    pub(crate) constants: Box<[Fill]>,
    /// Places in the block that get these bytes before each replay.
    pub(crate) resets: Box<[(usize, Fill)]>,
    /// How the bound arrays are used, in their order.
    pub(crate) bound: Box<[AccessMode]>,
    /// The number of each bound array, by which failures are passed on.
    pub(crate) bound_arrays: Box<[u32]>,
    /// Of each bound array: the steps that use it.
    pub(crate) uses: Box<[Box<[u32]>]>,
    /// The steps whose plain arguments each call sets.
    pub(crate) varying: Box<[u32]>,
    /// What the worker of the device has made of it, who alone uses it while there are replays.
    pub(crate) prepared: Mutex<Option<Box<dyn Any + Send>>>,
    /// Whether the device does not take it as one graph.
    is_refused: AtomicBool,
    /// How many replays do without a graph before the next one tries, since the device had no room; and how many did so last.
    pause: [AtomicU32; 2],
    tasks: NonNull<Replay>,
}

/// A task of such a program.
#[derive(Debug)]
pub(crate) struct DeviceStep {
    /// Where each of its arrays is.
    pub(crate) sources: Box<[Source]>,
    /// The number of each array, by which failures are passed on.
    pub(crate) arrays: Box<[Option<u32>]>,
    /// The steps before it.
    pub(crate) before: Box<[u32]>,
    /// The resets before it.
    pub(crate) resets: Box<[u32]>,
    /// For a step that discards a value, if zeros take its place: how many bytes.
    pub(crate) clears: Option<usize>,
    /// For a branch or a loop, whose first array is the condition.
    pub(crate) flow: Option<DeviceFlow>,
}

/// A branch or a loop that the device decides.
#[derive(Debug)]
pub(crate) struct DeviceFlow {
    /// Whether its only body runs as long as the condition holds.
    pub(crate) repeats: bool,
    /// The bytes of the condition's element, and the bits of which one is set if the condition holds.
    pub(crate) element: (usize, u64),
    /// The bodies, whose bound arrays are those of the step; none for one without steps.
    pub(crate) bodies: Box<[Option<Arc<DeviceProgram>>]>,
}

/// Where an array is on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Memory of the task alone.
    Scratch,
    /// So many bytes into a bound array.
    Bound {
        /// Which one.
        index: usize,
        /// The bytes before it.
        offset: usize,
    },
    /// So many bytes into the block.
    Block(usize),
    /// So many bytes into a constant.
    Constant {
        /// Which one.
        index: usize,
        /// The bytes before it.
        offset: usize,
    },
}

/// What an array begins with.
#[derive(Clone, Debug)]
pub(crate) enum Fill {
    /// This word again and again, in so many bytes.
    Words(u32, usize),
    /// These bytes.
    Bytes(Vec<u8>),
}

// SAFETY: the records are used by the thread that runs the program, as those of a replay.
unsafe impl Send for DeviceProgram {}
// SAFETY: as for `Send`.
unsafe impl Sync for DeviceProgram {}

impl DeviceProgram {
    /// A program whose steps have the descriptions of the tasks of `tasks`.
    ///
    /// # Safety
    /// W.
    pub(crate) unsafe fn new(tasks: &Replay, steps: Vec<DeviceStep>, bound: Box<[AccessMode]>) -> Self {
        let mut uses = vec![Vec::new(); bound.len()];
        for (number, step) in steps.iter().enumerate() {
            for source in &step.sources {
                if let Source::Bound { index, .. } = *source
                    && uses[index].last() != Some(&(number as u32))
                {
                    uses[index].push(number as u32);
                }
            }
        }
        Self {
            steps: steps.into(),
            block_bytes: 0,
            constants: Box::default(),
            resets: Box::default(),
            bound,
            bound_arrays: Box::default(),
            uses: uses.into_iter().map(Vec::into_boxed_slice).collect(),
            varying: Box::default(),
            prepared: Mutex::new(None),
            is_refused: AtomicBool::new(false),
            pause: Default::default(),
            tasks: NonNull::from(tasks),
        }
    }

    /// Lets its tasks run one by one from now on.
    pub(crate) fn refuse(&self) {
        self.is_refused.store(true, Ordering::Relaxed);
    }

    /// Whether it was [refused](Self::refuse).
    pub(crate) fn is_refused(&self) -> bool {
        self.is_refused.load(Ordering::Relaxed)
    }

    /// Lets the next replays do without a graph, twice as many as the last time: the device has no room for it.
    pub(crate) fn pause(&self) {
        let [left, last] = &self.pause;
        let next = (2 * last.load(Ordering::Relaxed)).clamp(1, MOST_PAUSED);
        last.store(next, Ordering::Relaxed);
        left.store(next, Ordering::Relaxed);
    }

    /// Whether the next replay does without a graph, because of a [`pause`](Self::pause), which is one replay shorter then.
    pub(crate) fn is_paused(&self) -> bool {
        let left = &self.pause[0];
        let is_paused = left.load(Ordering::Relaxed) > 0;
        if is_paused {
            left.fetch_sub(1, Ordering::Relaxed);
        }
        is_paused
    }

    /// The task of a step, whose description says what it does.
    pub(crate) fn task(&self, step: usize) -> &Submitted {
        // SAFETY: W.
        let tasks = unsafe { self.tasks.as_ref() };
        // SAFETY: the record was filled in with the program, and the thread that begins a replay alone changes it, before it
        // hands the program over.
        unsafe { tasks.nodes()[step].record.submitted() }
    }
}

impl Fill {
    /// So many zeros.
    pub(crate) fn zeros(bytes: usize) -> Self {
        Self::Words(0, bytes)
    }

    /// How many bytes there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Words(_, bytes) => *bytes,
            Self::Bytes(bytes) => bytes.len(),
        }
    }
}

impl fmt::Debug for DeviceProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceProgram").field("steps", &self.steps.len()).finish_non_exhaustive()
    }
}
