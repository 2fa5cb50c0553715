//! [`Event`]: a CUDA event that streams and threads can wait for.

use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cudarc::driver::sys::{CUevent, CUevent_flags, CUstream};

use super::calls;
use super::context::{Context, Entered};
use super::error::{CudaError, check};

/// How long a thread that waits looks again and again before it sleeps between two looks,
const SPIN: Duration = Duration::from_micros(100);
/// how long it lets the driver be between two of these looks, which hold a lock that the device's worker needs,
const PAUSE: Duration = Duration::from_micros(5);
/// and how long it sleeps.
const PARK_TIMEOUT: Duration = Duration::from_micros(50);

/// A position in a stream: an event that has been recorded there.
#[derive(Clone)]
pub struct Event(Arc<Point>);

/// # Invariant
/// E: `raw` is the driver's, and this one's alone until it is dropped.
struct Point {
    raw: CUevent,
    event_pool: Arc<EventPool>,
    /// The device, and which of its streams.
    stream: (usize, usize),
    /// Of events of one stream, later ones have larger numbers.
    number: u64,
    /// Whether it is known that it has been passed.
    is_passed: AtomicBool,
}

// SAFETY: events of the driver may be used by any thread.
unsafe impl Send for Point {}
// SAFETY: as for `Send`.
unsafe impl Sync for Point {}

/// The events of a device, used again and again.
pub(super) struct EventPool {
    context: Arc<Context>,
    free: Mutex<Vec<Free>>,
}

/// A driver's event that no [`Event`] uses.
struct Free(CUevent);

// SAFETY: as for `Point`.
unsafe impl Send for Free {}

impl EventPool {
    pub(super) fn new(context: &Arc<Context>) -> Arc<Self> {
        Arc::new(Self { context: Arc::clone(context), free: Mutex::default() })
    }

    /// A driver's event that nobody else has.
    fn take(&self) -> Result<CUevent, CudaError> {
        if let Some(Free(raw)) = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop() {
            return Ok(raw);
        }
        let _entered = self.context.enter()?;
        let mut raw = ptr::null_mut();
        // Nobody waits for it in the driver: an event that wakes threads interrupts the host whenever it is recorded.
        let flags = CUevent_flags::CU_EVENT_DEFAULT as u32;
        // SAFETY: room for an event; the context is current.
        check("cuEventCreate", unsafe { calls::cuEventCreate(&raw mut raw, flags) })?;
        Ok(raw)
    }

    /// Records an event at the end of a stream.
    ///
    /// # Safety
    /// `raw` is the stream, and its context is current.
    unsafe fn record(&self, raw: CUstream) -> Result<CUevent, CudaError> {
        let event = self.take()?;
        // SAFETY: nobody else has the event; the stream is the caller's.
        let recorded = check("cuEventRecord", unsafe { calls::cuEventRecord(event, raw) });
        match recorded {
            Ok(()) => Ok(event),
            Err(error) => {
                self.give_back(event);
                Err(error)
            }
        }
    }

    fn give_back(&self, raw: CUevent) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(Free(raw));
    }
}

impl Drop for EventPool {
    fn drop(&mut self) {
        for Free(raw) in self.free.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // SAFETY: no event has it. Streams that wait for it took note of what was recorded when they were told to.
            unsafe { calls::cuEventDestroy_v2(raw) };
        }
    }
}

impl Drop for Point {
    fn drop(&mut self) {
        self.event_pool.give_back(self.raw);
    }
}

impl Event {
    /// An event that is recorded at the end of a stream, as number `number` there.
    ///
    /// # Safety
    /// `raw` is the stream of this number, and its context is current.
    pub(super) unsafe fn record(
        event_pool: &Arc<EventPool>,
        raw: CUstream,
        stream: (usize, usize),
        number: u64,
    ) -> Result<Self, CudaError> {
        // SAFETY: guaranteed by the caller.
        let raw = unsafe { event_pool.record(raw) }?;
        let (event_pool, is_passed) = (Arc::clone(event_pool), AtomicBool::new(false));
        Ok(Self(Arc::new(Point { raw, event_pool, stream, number, is_passed })))
    }

    /// The device, and which of its streams it is in.
    pub(super) fn stream(&self) -> (usize, usize) {
        self.0.stream
    }

    pub(super) fn number(&self) -> u64 {
        self.0.number
    }

    /// The driver's event.
    pub(super) fn raw(&self) -> CUevent {
        self.0.raw
    }

    /// Whether everything before it has been done.
    pub fn is_passed(&self) -> Result<bool, CudaError> {
        if self.0.is_passed.load(Ordering::Acquire) {
            return Ok(true);
        }
        let _entered = self.enter()?;
        // SAFETY: the driver's event lives as long as this; its context is current.
        let code = unsafe { calls::cuEventQuery(self.raw()) };
        match check("cuEventQuery", code) {
            Ok(()) => {
                self.0.is_passed.store(true, Ordering::Release);
                Ok(true)
            }
            Err(error) if error.is_not_ready() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Waits until everything before it has been done. Needs nothing of other threads.
    pub fn wait(&self) -> Result<(), CudaError> {
        let begin = Instant::now();
        while !self.is_passed()? {
            let looked = Instant::now();
            if looked - begin >= SPIN {
                thread::sleep(PARK_TIMEOUT);
                continue;
            }
            while looked.elapsed() < PAUSE {
                thread::yield_now();
            }
        }
        Ok(())
    }

    /// Makes the context of its device current: whoever waits may be any thread.
    fn enter(&self) -> Result<Entered, CudaError> {
        self.0.event_pool.context.enter()
    }

    /// How long after `earlier` it was passed, in nanoseconds. Both have been.
    pub fn ns_since(&self, earlier: &Self) -> Option<u64> {
        let mut milliseconds = 0.0_f32;
        let (start, end) = (earlier.raw(), self.raw());
        let _entered = self.enter().ok()?;
        // SAFETY: both events live as long as their handles, and there is room for a number.
        let code = unsafe { calls::cuEventElapsedTime_v2(&raw mut milliseconds, start, end) };
        check("cuEventElapsedTime", code).ok()?;
        Some((f64::from(milliseconds.max(0.0)) * 1e6).round() as u64)
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event({}.{}:{})", self.0.stream.0, self.0.stream.1, self.0.number)
    }
}
