//! [`Mark`]: a place in a stream, to be waited for.

use std::fmt;
use std::ptr;
use std::sync::{Arc, PoisonError};

use cudarc::driver::sys::{CUevent, CUevent_flags, CUstream};

use super::calls;
use super::context::Context;
use super::error::{CudaError, check};
use crate::sync::Mutex;

/// A place in a stream: an event that has been recorded there.
#[derive(Clone)]
pub(crate) struct Mark(Arc<Point>);

struct Point {
    event: CUevent,
    events: Arc<Events>,
    /// The device, and which of its streams.
    stream: (usize, usize),
    /// Of marks of one stream, later ones have larger numbers.
    number: u64,
}

// SAFETY: events of the driver may be used by any thread.
unsafe impl Send for Point {}
// SAFETY: as for `Send`.
unsafe impl Sync for Point {}

/// The events of a device, used again and again.
pub(super) struct Events {
    context: Arc<Context>,
    free: Mutex<Vec<Free>>,
}

/// An event that no mark has.
struct Free(CUevent);

// SAFETY: as for `Point`.
unsafe impl Send for Free {}

impl Events {
    pub(super) fn new(context: &Arc<Context>) -> Arc<Self> {
        Arc::new(Self { context: Arc::clone(context), free: Mutex::default() })
    }

    /// An event that nobody else has.
    fn take(&self) -> Result<CUevent, CudaError> {
        if let Some(Free(event)) = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop() {
            return Ok(event);
        }
        let _entered = self.context.enter()?;
        let mut event = ptr::null_mut();
        // Threads that wait for it sleep.
        let flags = CUevent_flags::CU_EVENT_BLOCKING_SYNC as u32;
        // SAFETY: room for an event; the context is current.
        check("cuEventCreate", unsafe { calls::cuEventCreate(&raw mut event, flags) })?;
        Ok(event)
    }

    /// A mark at the end of a stream. `number` is larger than those of the marks before it.
    ///
    /// # Safety
    /// `raw` is a stream of the context, which is current.
    pub(super) unsafe fn record(
        self: &Arc<Self>,
        raw: CUstream,
        stream: (usize, usize),
        number: u64,
    ) -> Result<Mark, CudaError> {
        let event = self.take()?;
        let mark = Mark(Arc::new(Point { event, events: Arc::clone(self), stream, number }));
        // SAFETY: the event is the mark's alone; the stream is the caller's.
        check("cuEventRecord", unsafe { calls::cuEventRecord(event, raw) })?;
        Ok(mark)
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        for Free(event) in self.free.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // SAFETY: no mark has it. Streams that wait for it took note of what was recorded when they were told to.
            unsafe { calls::cuEventDestroy_v2(event) };
        }
    }
}

impl Drop for Point {
    fn drop(&mut self) {
        self.events.free.lock().unwrap_or_else(PoisonError::into_inner).push(Free(self.event));
    }
}

impl Mark {
    /// The device, and which of its streams it is in.
    pub(super) fn stream(&self) -> (usize, usize) {
        self.0.stream
    }

    pub(super) fn number(&self) -> u64 {
        self.0.number
    }

    pub(super) fn event(&self) -> CUevent {
        self.0.event
    }

    /// Whether everything before it has been done.
    pub(crate) fn is_passed(&self) -> Result<bool, CudaError> {
        // SAFETY: the event is there as long as the mark.
        let code = unsafe { calls::cuEventQuery(self.0.event) };
        match check("cuEventQuery", code) {
            Ok(()) => Ok(true),
            Err(error) if error.is_not_ready() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Waits until everything before it has been done. Needs nothing of other threads.
    pub(crate) fn wait(&self) -> Result<(), CudaError> {
        // SAFETY: the event is there as long as the mark.
        check("cuEventSynchronize", unsafe { calls::cuEventSynchronize(self.0.event) })
    }

    /// How long after `earlier` it was passed, in nanoseconds. Both have been.
    pub(crate) fn ns_since(&self, earlier: &Self) -> Option<u64> {
        let mut milliseconds = 0.0_f32;
        // SAFETY: both events are there as long as the marks, and there is room for a number.
        let code =
            unsafe { calls::cuEventElapsedTime_v2(&raw mut milliseconds, earlier.0.event, self.0.event) };
        check("cuEventElapsedTime", code).ok()?;
        Some((f64::from(milliseconds.max(0.0)) * 1e6).round() as u64)
    }
}

impl fmt::Debug for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mark({}.{}:{})", self.0.stream.0, self.0.stream.1, self.0.number)
    }
}
