//! [`Staging`]: page-locked host memory, through which all copies go.

use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::sys;

use super::calls;
use super::context::Context;
use super::error::{CudaError, check};
use super::event::Event;

/// The smallest buffer.
const SMALLEST: usize = 4 << 10;
/// Above this, buffers that could be used again are waited for before new ones are made.
const ENOUGH: usize = 256 << 20;

/// A buffer of page-locked memory.
///
/// # Invariant
/// P: `pointer` leads to `bytes` initialised bytes until this is dropped, and nobody else has it.
#[derive(Debug)]
pub struct Pinned {
    pointer: NonNull<u8>,
    bytes: usize,
    context: Arc<Context>,
}

// SAFETY: plain memory that the buffer owns.
unsafe impl Send for Pinned {}
// SAFETY: as for `Send`; its methods only hand out the address.
unsafe impl Sync for Pinned {}

/// The buffers of a device, used again and again.
#[derive(Debug)]
pub(super) struct Staging {
    context: Arc<Context>,
    buffers: Mutex<Buffers>,
}

#[derive(Debug, Default)]
struct Buffers {
    free: Vec<Pinned>,
    /// In the order in which they were given back.
    busy: Vec<Busy>,
    bytes: usize,
}

/// A buffer that streams still use.
#[derive(Debug)]
struct Busy {
    buffer: Pinned,
    /// The last work of the buffers' own device with it.
    event: Event,
    /// Later reads of it by streams, also of other devices.
    reads: Vec<Event>,
}

impl Busy {
    /// Whether nothing uses it any more. After an error on its own device it is not used again.
    fn is_free(&self) -> bool {
        // Another device that is lost reads no more.
        let is_over = |read: &Event| read.is_passed().unwrap_or(true);
        self.event.is_passed().unwrap_or(false) && self.reads.iter().all(is_over)
    }

    /// Waits until nothing uses it any more.
    fn wait(&self) -> Result<(), CudaError> {
        self.event.wait()?;
        self.wait_for_reads();
        Ok(())
    }

    /// Waits until no stream reads it any more: an error of another device, as above, ends the wait for it.
    fn wait_for_reads(&self) {
        for read in &self.reads {
            let _ = read.wait();
        }
    }
}

impl Pinned {
    fn new(context: &Arc<Context>, bytes: usize) -> Result<Self, CudaError> {
        let _entered = context.enter()?;
        let mut pointer = std::ptr::null_mut();
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE;
        // SAFETY: room for a pointer; the context is current.
        check("cuMemHostAlloc", unsafe { calls::cuMemHostAlloc(&raw mut pointer, bytes, flags) })?;
        let pointer = NonNull::new(pointer.cast::<u8>()).expect("the driver gave memory");
        // SAFETY: `bytes` bytes were just allocated.
        unsafe { pointer.write_bytes(0, bytes) };
        Ok(Self { pointer, bytes, context: Arc::clone(context) })
    }

    /// Where it is, for the host and for kernels alike.
    pub fn pointer(&self) -> *mut u8 {
        self.pointer.as_ptr()
    }

    /// The first `bytes` bytes.
    ///
    /// # Safety
    /// There are as many, and no device writes them as long as this is borrowed.
    pub(super) unsafe fn bytes(&self, bytes: usize) -> &[u8] {
        // SAFETY: P; the rest is the caller's.
        unsafe { std::slice::from_raw_parts(self.pointer(), bytes) }
    }

    /// The first `bytes` bytes, to be changed.
    ///
    /// # Safety
    /// There are as many, and no device uses them as long as this is borrowed.
    pub(super) unsafe fn bytes_mut(&mut self, bytes: usize) -> &mut [u8] {
        // SAFETY: P; the rest is the caller's.
        unsafe { std::slice::from_raw_parts_mut(self.pointer(), bytes) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: P; D4: it is dropped when its device's streams are idle, or the device is lost.
            unsafe { calls::cuMemFreeHost(self.pointer.as_ptr().cast()) };
        }
    }
}

impl Buffers {
    /// Frees those with which nothing is left to be done.
    fn reap(&mut self) {
        let mut place = 0;
        while place < self.busy.len() {
            if self.busy[place].is_free() {
                self.free.push(self.busy.swap_remove(place).buffer);
            } else {
                place += 1;
            }
        }
    }

    fn take(&mut self, bytes: usize) -> Option<Pinned> {
        let place = self.free.iter().position(|buffer| buffer.bytes == bytes)?;
        Some(self.free.swap_remove(place))
    }
}

impl Staging {
    pub(super) fn new(context: &Arc<Context>) -> Self {
        Self { context: Arc::clone(context), buffers: Mutex::default() }
    }

    fn buffers(&self) -> MutexGuard<'_, Buffers> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A buffer of at least `bytes` bytes.
    pub(super) fn take(&self, bytes: usize) -> Result<Pinned, CudaError> {
        let bytes = bytes.max(SMALLEST).next_power_of_two();
        let mut buffers = self.buffers();
        loop {
            if let Some(buffer) = buffers.take(bytes) {
                return Ok(buffer);
            }
            buffers.reap();
            if let Some(buffer) = buffers.take(bytes) {
                return Ok(buffer);
            }
            if buffers.bytes + bytes <= ENOUGH {
                break;
            }
            // Of another size: they make room.
            if let Some(buffer) = buffers.free.pop() {
                buffers.bytes -= buffer.bytes;
                continue;
            }
            let Some(first) = buffers.busy.first() else { break };
            first.wait()?;
        }
        buffers.bytes += bytes;
        drop(buffers);
        Pinned::new(&self.context, bytes).inspect_err(|_| self.buffers().bytes -= bytes)
    }

    /// Takes a buffer back that is used until `event`.
    pub(super) fn give_back(&self, buffer: Pinned, event: Event) {
        self.give_back_read(buffer, event, Vec::new());
    }

    /// The same, of one that streams read besides.
    pub(super) fn give_back_read(&self, buffer: Pinned, event: Event, reads: Vec<Event>) {
        self.buffers().busy.push(Busy { buffer, event, reads });
    }

    /// Takes a buffer back with which nothing is left to be done.
    pub(super) fn give_back_free(&self, buffer: Pinned) {
        self.buffers().free.push(buffer);
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // D6: the streams of its own device are idle, but those of others may read its buffers.
        let buffers = self.buffers.get_mut().unwrap_or_else(PoisonError::into_inner);
        buffers.busy.iter().for_each(Busy::wait_for_reads);
    }
}
