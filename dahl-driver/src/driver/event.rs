//! [`Event`]: a CUDA event that streams and threads can wait for.

use std::fmt;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cudarc::driver::sys::{CUevent, CUevent_flags, CUstream};

use super::calls;
use super::context::{Context, Entered};
use super::error::{CudaError, check};
use super::stream::Stream;

/// How long a thread that waits looks again and again before it sleeps between two looks,
const SPIN: Duration = Duration::from_micros(100);
/// how long it lets the driver be between two of these looks, which hold a lock that the device's worker needs,
const PAUSE: Duration = Duration::from_micros(5);
/// and how long it sleeps.
const PARK_TIMEOUT: Duration = Duration::from_micros(50);

/// A position in a stream: an event that has been recorded there, or will be.
#[derive(Clone)]
pub struct Event(Arc<Point>);

struct Point {
    /// The driver's event once it has been recorded, or why it never will be.
    recorded: OnceLock<Result<CUevent, CudaError>>,
    event_pool: Arc<EventPool>,
    /// The device, and which of its streams.
    stream: (usize, usize),
    /// Of events of one stream, later ones have larger numbers.
    number: u64,
    /// The stream that records it when it issues its batch.
    holder: Option<Arc<Stream>>,
    /// The begin of its stream's batch, whose end it is.
    begin: OnceLock<Event>,
    /// Whether somebody has been told how long that ran.
    is_counted: AtomicBool,
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
    /// `raw` is the event's stream, and its context is current.
    pub(super) unsafe fn record(&self, event: &Event, raw: CUstream) -> Result<(), CudaError> {
        let raw_event = self.take()?;
        // SAFETY: the raw event is this event's alone; the stream is the caller's.
        let recorded = check("cuEventRecord", unsafe { calls::cuEventRecord(raw_event, raw) });
        match recorded {
            Ok(()) => event.resolve(Ok(raw_event)),
            Err(_) => self.give_back(raw_event),
        }
        recorded
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
        if let Some(&Ok(raw)) = self.recorded.get() {
            self.event_pool.give_back(raw);
        }
    }
}

impl Event {
    /// An event that will be recorded: at once, or when `holder` issues its batch. `number` is larger than those of the
    /// events before it.
    pub(super) fn new(
        event_pool: &Arc<EventPool>,
        stream: (usize, usize),
        number: u64,
        holder: Option<&Arc<Stream>>,
    ) -> Self {
        Self(Arc::new(Point {
            recorded: OnceLock::new(),
            event_pool: Arc::clone(event_pool),
            stream,
            number,
            holder: holder.cloned(),
            begin: OnceLock::new(),
            is_counted: AtomicBool::new(false),
            is_passed: AtomicBool::new(false),
        }))
    }

    /// An event to be recorded before the batch whose end this is.
    pub(super) fn begin(&self) -> Self {
        let Point { event_pool, stream, number, .. } = &*self.0;
        self.0.begin.get_or_init(|| Self::new(event_pool, *stream, *number, None)).clone()
    }

    /// How long the batch ran, in nanoseconds, if this is its end and nobody has asked before. It has been passed.
    pub fn take_batch_ns(&self) -> Option<u64> {
        let is_taken = self.0.is_counted.swap(true, Ordering::Relaxed);
        self.0.begin.get().filter(|_| !is_taken).and_then(|begin| self.ns_since(begin))
    }

    /// Notes that it will never be recorded.
    pub(super) fn give_up(&self, error: CudaError) {
        self.resolve(Err(error));
    }

    fn resolve(&self, recorded: Result<CUevent, CudaError>) {
        // Once: by whoever issues the batch, which has this event no more after that.
        let _ = self.0.recorded.set(recorded);
    }

    /// The device, and which of its streams it is in.
    pub(super) fn stream(&self) -> (usize, usize) {
        self.0.stream
    }

    pub(super) fn number(&self) -> u64 {
        self.0.number
    }

    /// The driver's event, which is in the stream, with what is before it.
    pub(super) fn raw(&self) -> Result<CUevent, CudaError> {
        if let Some(recorded) = self.0.recorded.get() {
            return *recorded;
        }
        // If that fails, the event knows it.
        let issued = self.0.holder.as_ref().map_or(Ok(()), |holder| holder.issue());
        match self.0.recorded.get() {
            Some(recorded) => *recorded,
            None => Err(issued.expect_err("what is issued has its event")),
        }
    }

    /// Whether the work before it is still in a batch that has not been issued.
    pub fn is_batched(&self) -> bool {
        self.0.recorded.get().is_none()
    }

    /// Whether both are one: nothing lies between them.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether everything before it has been done. A batch is not issued for that.
    pub fn is_passed(&self) -> Result<bool, CudaError> {
        let raw = match self.0.recorded.get() {
            None => return Ok(false),
            Some(_) if self.0.is_passed.load(Ordering::Acquire) => return Ok(true),
            Some(recorded) => (*recorded)?,
        };
        let _entered = self.enter()?;
        // SAFETY: the driver's event lives as long as this; its context is current.
        let code = unsafe { calls::cuEventQuery(raw) };
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
        self.raw()?; // the batch is issued
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
        let (start, end) = (earlier.raw().ok()?, self.raw().ok()?);
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
