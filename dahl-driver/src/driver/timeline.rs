//! [`Timeline`]: when an event passed, by the clock of whoever uses the device.

use std::sync::{Arc, Mutex, PoisonError};

use super::error::CudaError;
use super::event::Event;
use super::stream::Stream;

/// How old an event may be from which times are counted: the driver counts in 32-bit floats, which tell microseconds apart up to 16 s.
const OLDEST_NS: u64 = 5_000_000_000;

/// What time it is, in nanoseconds: never less than it was.
pub type Now = Arc<dyn Fn() -> u64 + Send + Sync>;

/// An event whose time by that clock is known, from which others are counted.
pub(super) struct Timeline {
    now_ns: Now,
    anchor: Mutex<Option<(Event, u64)>>,
}

impl Timeline {
    pub(super) fn new(now_ns: Now) -> Self {
        Self { now_ns, anchor: Mutex::default() }
    }

    /// Counts from now on, if it has counted from an event for long. The stream has nothing to do.
    pub(super) fn renew(&self, stream: &Arc<Stream>) -> Result<(), CudaError> {
        let is_fresh = |&(_, at_ns): &(Event, u64)| (self.now_ns)().saturating_sub(at_ns) < OLDEST_NS;
        if self.anchor.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_some_and(is_fresh) {
            return Ok(());
        }
        let event = stream.record_event()?;
        event.wait()?;
        let at_ns = (self.now_ns)();
        *self.anchor.lock().unwrap_or_else(PoisonError::into_inner) = Some((event, at_ns));
        Ok(())
    }

    /// When an event was passed, which has been.
    pub(super) fn passed_ns(&self, event: &Event) -> u64 {
        let now_ns = (self.now_ns)();
        let anchor = self.anchor.lock().unwrap_or_else(PoisonError::into_inner);
        let since = anchor.as_ref().and_then(|(anchor, at_ns)| Some(at_ns + event.ns_since(anchor)?));
        since.map_or(now_ns, |at_ns| at_ns.min(now_ns))
    }
}
