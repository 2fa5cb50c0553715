//! [`Scratch`]: the memory and the turn that the recordings of one program share. `README.md` says who may touch it.
#![allow(unsafe_code, reason = "memory that one replay at a time owns")]

use std::cell::UnsafeCell;
use std::panic::Location;
use std::sync::{Arc, PoisonError};

use super::engine::Engine;
use crate::array::Array;
use crate::error::Result;
use crate::memory::{ALIGN_BYTES, Block, Holder};
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::task::block_in_submission;

/// One block of memory for the arrays of all recordings of a program, as large as the largest needs it, and the turn to use it.
#[derive(Debug)]
pub struct Scratch {
    /// Each replay accesses it exclusively.
    turn: Array<'static, u8, 1>,
    reserved: Mutex<Reserved>,
    /// Whether `reserved` has a block that is not in use yet.
    has_grown: AtomicBool,
    tenants: AtomicU64,
    in_use: UnsafeCell<InUse>,
}

/// What recordings need.
#[derive(Debug, Default)]
struct Reserved {
    bytes: usize,
    /// A block for the next replay to move to.
    larger: Option<Block>,
}

/// What replays use.
#[derive(Debug, Default)]
struct InUse {
    block: Option<Block>,
    /// The recording whose arrays are in the block.
    tenant: u64,
}

/// A recording's right to use the memory, while its replay has the turn.
#[derive(Debug)]
pub(super) struct Tenancy {
    scratch: Arc<Scratch>,
    number: u64,
}

// SAFETY: `in_use` belongs to the replay that has the turn; the rest is shared by atomics and a lock.
unsafe impl Send for Scratch {}
// SAFETY: as for `Send`.
unsafe impl Sync for Scratch {}

impl Scratch {
    /// Without memory.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    pub fn new(engine: &Engine) -> Result<Arc<Self>> {
        Ok(Arc::new(Self {
            turn: engine.output([0])?,
            reserved: Mutex::default(),
            has_grown: AtomicBool::new(false),
            tenants: AtomicU64::new(0),
            in_use: UnsafeCell::default(),
        }))
    }

    /// Lets a recording use it that needs `bytes` bytes.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    pub(super) fn let_in(
        self: &Arc<Self>,
        engine: &Engine,
        bytes: usize,
        location: &'static Location<'static>,
    ) -> Result<Tenancy> {
        let mut reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = bytes.max(ALIGN_BYTES);
        if bytes > reserved.bytes {
            let block = block_in_submission(engine.executor(), bytes, Holder::new("program", location))
                .map_err(|shortage| shortage.at(location))?;
            *reserved = Reserved { bytes, larger: Some(block) };
            self.has_grown.store(true, Ordering::Release);
        }
        // No recording has number 0.
        let number = self.tenants.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(Tenancy { scratch: Arc::clone(self), number })
    }
}

impl Tenancy {
    /// The array that each replay accesses exclusively.
    pub(super) fn turn(&self) -> &Array<'static, u8, 1> {
        &self.scratch.turn
    }

    /// Takes the memory over. Where it begins, if the recording's arrays are not there any more: another recording has used it, or
    /// it has moved.
    ///
    /// # Safety
    /// A replay of the recording has the turn, and none of its tasks has begun.
    pub(super) unsafe fn enter(&self) -> Option<*mut u8> {
        let Scratch { reserved, has_grown, in_use, .. } = &*self.scratch;
        // SAFETY: guaranteed by the caller: the turn is accessed exclusively, and what the replays before did happened before that.
        let in_use = unsafe { &mut *in_use.get() };
        if has_grown.load(Ordering::Acquire) {
            let mut reserved = reserved.lock().unwrap_or_else(PoisonError::into_inner);
            has_grown.store(false, Ordering::Relaxed);
            if let Some(larger) = reserved.larger.take() {
                *in_use = InUse { block: Some(larger), tenant: 0 };
            }
        }
        if in_use.tenant == self.number {
            return None;
        }
        in_use.tenant = self.number;
        Some(in_use.block.as_ref().expect("a recording that was let in has memory").pointer())
    }
}
