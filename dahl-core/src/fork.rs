//! Whether this process was forked since a runtime was made: a child has the memory of its parent, and none of its threads.
#![allow(unsafe_code, reason = "registers a handler with the system")]

// A number on whose order nothing depends: a fork leaves one thread.
use std::sync::atomic::{AtomicU32, Ordering};

/// How often this process is a child of the one that counts 0.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// The process that something was made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Generation(u32);

impl Generation {
    /// That of this process. Children that are forked later have another one.
    pub(crate) fn new() -> Self {
        #[cfg(unix)]
        {
            extern "C" fn in_child() {
                GENERATION.fetch_add(1, Ordering::Relaxed);
            }
            static REGISTERED: std::sync::Once = std::sync::Once::new();
            REGISTERED.call_once(|| {
                // SAFETY: the handler is a function of this program, and only adds to an atomic, which any thread may do at
                // any time. Should there be no memory for it, forks are not noticed.
                unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
            });
        }
        Self(GENERATION.load(Ordering::Relaxed))
    }

    /// Whether this process is a child of that one.
    #[inline]
    pub(crate) fn is_forked(self) -> bool {
        GENERATION.load(Ordering::Relaxed) != self.0
    }
}
