//! [`ProgramMemory`]: the memory and the turn that the recordings of one program share. `README.md` says who may touch it.
#![allow(unsafe_code, reason = "memory that one replay at a time owns")]

use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::panic::Location;
use std::sync::{Arc, PoisonError};

use super::engine::Engine;
use crate::array::Array;
use crate::error::Result;
use crate::memory::{ALIGN_BYTES, Block, Holder};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Mutex, MutexGuard};
use crate::task::block_in_submission;

/// A block that is so many times larger than what is needed is replaced by a smaller one.
const TOO_LARGE: usize = 2;

/// One block of memory for the arrays of all recordings of a program, and the turn to use it.
#[derive(Debug)]
pub struct ProgramMemory {
    /// Each replay accesses it exclusively.
    turn: Array<'static, u8, 1>,
    reserved: Mutex<Reserved>,
    /// Whether `reserved` has a block that the next replay moves to.
    is_replaced: AtomicBool,
    in_use: UnsafeCell<InUse>,
}

/// What recordings need.
#[derive(Debug, Default)]
struct Reserved {
    /// The bytes of the block that is in use, or of the one that replaces it.
    bytes: usize,
    replacement: Option<Block>,
    /// The bytes that each recording needs that exists, by its number.
    needs: HashMap<u64, usize>,
    last_number: u64,
}

/// What replays use.
#[derive(Debug, Default)]
struct InUse {
    block: Option<Block>,
    /// The recording whose arrays are in the block; 0 for none.
    owner: u64,
}

/// The share that a recording has in the memory of its program. Its replays use it.
#[derive(Debug)]
pub(super) struct Share {
    memory: Arc<ProgramMemory>,
    number: u64,
}

// SAFETY: `in_use` belongs to the replay that has the turn; the rest is shared by an atomic and a lock.
unsafe impl Sync for ProgramMemory {}

impl ProgramMemory {
    /// Without a block.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    pub fn new(engine: &Engine) -> Result<Arc<Self>> {
        Ok(Arc::new(Self {
            turn: engine.output([0])?,
            reserved: Mutex::default(),
            is_replaced: AtomicBool::new(false),
            in_use: UnsafeCell::default(),
        }))
    }

    fn reserved(&self) -> MutexGuard<'_, Reserved> {
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The share of a recording that needs `bytes` bytes; one thread at a time asks for one. The block is replaced if it is too small, or much larger than the
    /// largest recording that exists needs.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    pub(super) fn share(
        self: &Arc<Self>,
        engine: &Engine,
        bytes: usize,
        location: &'static Location<'static>,
    ) -> Result<Share> {
        let bytes = bytes.max(ALIGN_BYTES);
        let share = {
            let mut reserved = self.reserved();
            reserved.last_number += 1;
            let number = reserved.last_number;
            reserved.needs.insert(number, bytes);
            Share { memory: Arc::clone(self), number }
        };
        // No lock is held while the allocation waits for memory: a replay that must end for that takes it.
        let Some(needed) = self.reserved().replacement_bytes() else { return Ok(share) };
        let block = block_in_submission(engine.executor(), needed, Holder::new("program", location));
        let mut reserved = self.reserved();
        match block {
            Ok(block) => {
                (reserved.bytes, reserved.replacement) = (needed, Some(block));
                self.is_replaced.store(true, Ordering::Release);
            }
            Err(shortage) if needed > reserved.bytes => {
                drop(reserved);
                return Err(shortage.at(location));
            }
            // The larger one stays.
            Err(_) => {}
        }
        drop(reserved);
        Ok(share)
    }
}

impl Reserved {
    /// The bytes of the block that should replace the one there is.
    fn replacement_bytes(&self) -> Option<usize> {
        let needed = self.needs.values().copied().max().unwrap_or(0);
        (needed > self.bytes || needed < self.bytes / TOO_LARGE).then_some(needed)
    }
}

impl Share {
    /// The array that each replay accesses exclusively.
    pub(super) fn turn(&self) -> &Array<'static, u8, 1> {
        &self.memory.turn
    }

    /// Takes the block over for a replay. Where it begins, if the recording's arrays are not there: another recording has used
    /// it since, or it was replaced.
    ///
    /// # Safety
    /// A replay of the recording has the turn, and none of its tasks has begun.
    pub(super) unsafe fn take_over(&self) -> Option<*mut u8> {
        let ProgramMemory { is_replaced, in_use, .. } = &*self.memory;
        // SAFETY: guaranteed by the caller: the turn is accessed exclusively, and what the replays before did happened before that.
        let in_use = unsafe { &mut *in_use.get() };
        if is_replaced.load(Ordering::Acquire) {
            let mut reserved = self.memory.reserved();
            is_replaced.store(false, Ordering::Relaxed);
            if let Some(block) = reserved.replacement.take() {
                *in_use = InUse { block: Some(block), owner: 0 };
            }
        }
        if in_use.owner == self.number {
            return None;
        }
        in_use.owner = self.number;
        Some(in_use.block.as_ref().expect("there is a block for each recording").pointer())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.memory.reserved().needs.remove(&self.number);
    }
}
