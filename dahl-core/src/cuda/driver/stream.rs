//! [`Stream`]: work of a device that is done in the order in which it was given.

use std::collections::HashMap;
use std::ptr;
use std::sync::{Arc, PoisonError};

use cudarc::driver::sys::{CUstream, CUstream_flags};

use super::calls;
use super::context::Context;
use super::error::{CudaError, check};
use super::mark::{Events, Mark};
use crate::sync::Mutex;

/// Which of a device's streams.
pub(super) const COMPUTE: usize = 0;
/// Copies from the host, and from other devices.
pub(super) const UP: usize = 1;
/// Copies to the host.
pub(super) const DOWN: usize = 2;
pub(super) const STREAMS: usize = 3;

/// A stream of a device.
///
/// # Invariant
/// S: `raw` is a stream of `context` until this is dropped.
#[derive(Debug)]
pub(super) struct Stream {
    raw: CUstream,
    /// The device, and which of its streams.
    id: (usize, usize),
    context: Arc<Context>,
    events: Arc<Events>,
    order: Mutex<Order>,
}

#[derive(Debug, Default)]
struct Order {
    /// Marks recorded so far.
    recorded: u64,
    /// For each stream that this one has waited for, the number of the last mark.
    seen: HashMap<(usize, usize), u64>,
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events").finish_non_exhaustive()
    }
}

// SAFETY: streams of the driver may be used by any thread.
unsafe impl Send for Stream {}
// SAFETY: as for `Send`.
unsafe impl Sync for Stream {}

impl Stream {
    pub(super) fn new(
        id: (usize, usize),
        context: &Arc<Context>,
        events: &Arc<Events>,
    ) -> Result<Self, CudaError> {
        let _entered = context.enter()?;
        let mut raw = ptr::null_mut();
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: room for a stream; the context is current.
        check("cuStreamCreate", unsafe { calls::cuStreamCreate(&raw mut raw, flags) })?;
        let (context, events) = (Arc::clone(context), Arc::clone(events));
        Ok(Self { raw, id, context, events, order: Mutex::default() })
    }

    pub(super) fn raw(&self) -> CUstream {
        self.raw
    }

    /// Whether it is one of `device`.
    pub(super) fn is_of(&self, device: &super::CudaDevice) -> bool {
        self.id.0 == device.index()
    }

    /// Which of its device's streams.
    pub(super) fn number(&self) -> usize {
        self.id.1
    }

    /// A mark behind everything that was given to it so far.
    pub(super) fn mark(&self) -> Result<Mark, CudaError> {
        let _entered = self.context.enter()?;
        let mut order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        order.recorded += 1;
        // SAFETY: S; the context is current. Numbers grow under the lock, in the order in which marks are recorded.
        unsafe { self.events.record(self.raw, self.id, order.recorded) }
    }

    /// Lets what is given to it from now on wait for a mark.
    pub(super) fn wait(&self, mark: &Mark) -> Result<(), CudaError> {
        if mark.stream() == self.id {
            return Ok(());
        }
        let mut order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = order.seen.entry(mark.stream()).or_default();
        if *seen >= mark.number() {
            return Ok(()); // it waits for a later mark of that stream
        }
        let _entered = self.context.enter()?;
        // SAFETY: S; the event is there as long as the mark, and 0 is the flag of an ordinary wait.
        check("cuStreamWaitEvent", unsafe { calls::cuStreamWaitEvent(self.raw, mark.event(), 0) })?;
        *seen = mark.number();
        Ok(())
    }

    /// Waits until everything that was given to it has been done.
    pub(super) fn synchronize(&self) -> Result<(), CudaError> {
        let _entered = self.context.enter()?;
        // SAFETY: S.
        check("cuStreamSynchronize", unsafe { calls::cuStreamSynchronize(self.raw) })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: S; nobody uses it after this.
        unsafe { calls::cuStreamDestroy_v2(self.raw) };
    }
}
