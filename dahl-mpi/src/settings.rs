//! [`Settings`]: what a program may say of its messages.

use std::time::Duration;

use crate::launcher::{Mpi, NotInitialised};

/// How ranks exchange messages. [`init`](crate::init) takes the defaults. All ranks use the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "settings are for `init`"]
pub struct Settings {
    pub(crate) chunk_bytes: usize,
    pub(crate) silence: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { chunk_bytes: 1 << 30, silence: Duration::from_secs(10) }
    }
}

impl Settings {
    /// Sends large messages in chunks of this many bytes, 2^30 by default. MPI counts bytes with 31 bits.
    ///
    /// # Panics
    /// If it is 0, or above 2^31 - 1.
    pub fn chunk_bytes(mut self, bytes: usize) -> Self {
        assert!(bytes > 0 && i32::try_from(bytes).is_ok(), "chunks have 1 to 2^31 - 1 bytes, not {bytes}");
        self.chunk_bytes = bytes;
        self
    }

    /// Ends all ranks when one of them has not answered for so long, 10 s by default. A thread of its own answers, also
    /// while tasks run. After a failure, ranks that have not ended within this time are aborted: choose it longer than the
    /// longest task.
    ///
    /// # Panics
    /// If it is 0.
    pub fn silence(mut self, silence: Duration) -> Self {
        assert!(!silence.is_zero(), "a rank cannot answer at once");
        self.silence = silence;
        self
    }

    /// Makes this process one of the ranks that `mpirun` has started. Every rank calls it.
    ///
    /// # Errors
    /// If the program has initialised MPI without `MPI_THREAD_MULTIPLE`, or MPI has been finalised.
    pub fn init(self) -> Result<Mpi, NotInitialised> {
        Mpi::new(self)
    }
}
