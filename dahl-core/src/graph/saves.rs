//! [`Saves`]: what a tape knows of an array that it has saved: whether its value changed since.
//!
//! A tape reads a saved array later, through an owner of its own, so no borrow keeps writers away. This keeps them
//! away:
//!
//! * Whoever changes an array [notes](Saves::note_write) it before the change is submitted, or before the host's access
//!   begins. If the array is saved, the count of writes grows.
//! * Whoever reads a saved value [pins](Saves::pin) the array first, compares the count, submits the tasks that read, and
//!   unpins. A writer that finds a pin waits until it is gone.
//!
//! All four are sequentially consistent. So of a reader and a writer at the same time one sees the other: the reader
//! finds another count, which is an error, or the writer finds the pin, and its access comes after the reader's tasks.
//! An array is saved through `&Array` and changed through `&mut Array`, so the flag that it is saved never races.
#![allow(unsafe_code, reason = "keeps a reference in an atomic")]

use std::cell::Cell;
use std::panic::Location;
use std::ptr;

use crate::access::{AccessMode, Reduction};
use crate::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

/// In place of a tape's number: a rule has given two handles of the array out, so nobody writes it.
const SHARED: u64 = u64::MAX;

/// In place of a tape's number: a rule contributes to the array, and nothing else may change it meanwhile.
const REDUCING: u64 = u64::MAX - 1;

/// The writes of an array that were submitted since a tape saved it for the first time.
#[derive(Debug)]
pub(crate) struct Saves {
    /// Whether a tape has saved it.
    is_saved: AtomicBool,
    /// The number of the tape under which it was made; 0 for none.
    tape: AtomicU64,
    writes: AtomicU64,
    /// Writers that have counted, and wait for pins.
    waiting: AtomicU64,
    pins: AtomicU64,
    /// The line of the last write.
    written_at: AtomicPtr<Location<'static>>,
}

std::thread_local! {
    /// The pins of this thread, on whatever arrays: it is in a reverse pass while there are some.
    static PINNED: Cell<usize> = const { Cell::new(0) };
}

impl Saves {
    pub(crate) fn new() -> Self {
        Self {
            is_saved: AtomicBool::new(false),
            tape: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            waiting: AtomicU64::new(0),
            pins: AtomicU64::new(0),
            written_at: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// For another array in the same state.
    pub(super) fn restart(&self) {
        self.is_saved.store(false, Ordering::Relaxed);
        self.tape.store(0, Ordering::Relaxed);
    }

    /// A tape saves the array: the writes before the value that it has now. Under a pin, a writer may have counted that
    /// still waits: the value is that before its write.
    pub(crate) fn begin(&self) -> u64 {
        self.is_saved.store(true, Ordering::Relaxed);
        let writes = self.writes.load(Ordering::SeqCst);
        writes.wrapping_sub(self.waiting.load(Ordering::SeqCst))
    }

    /// The array was made under the tape of this number.
    pub(crate) fn set_of_tape(&self, tape: u64) {
        self.tape.store(tape, Ordering::Relaxed);
    }

    /// Two handles of the array are given out, and neither may write it.
    pub(crate) fn set_shared(&self) {
        self.tape.store(SHARED, Ordering::Relaxed);
    }

    /// A rule begins to contribute to the array, or ends. It is not one that was made under a tape.
    pub(crate) fn set_reducing(&self, reducing: bool) {
        self.tape.store(if reducing { REDUCING } else { 0 }, Ordering::Relaxed);
    }

    /// Whether a task with this mode may not change the array.
    #[inline]
    pub(crate) fn forbids(&self, mode: AccessMode) -> bool {
        match self.tape.load(Ordering::Relaxed) {
            0 => false,
            REDUCING => mode != AccessMode::REDUX(Reduction::Sum) && !mode.is_shared(),
            _ => !mode.is_shared(),
        }
    }

    /// Whether nobody may change it: it was made under a tape.
    #[inline]
    pub(crate) fn is_of_tape(&self) -> bool {
        self.tape.load(Ordering::Relaxed) != 0
    }

    /// The number of the tape under which it was made.
    pub(crate) fn tape(&self) -> Option<u64> {
        Some(self.tape.load(Ordering::Relaxed))
            .filter(|&tape| tape != 0 && tape != SHARED && tape != REDUCING)
    }

    /// The line of the last write that was counted.
    pub(crate) fn written_at(&self) -> Option<&'static Location<'static>> {
        // SAFETY: it is null or was made from a reference that is valid forever, and it is only read.
        unsafe { self.written_at.load(Ordering::Relaxed).as_ref() }
    }

    /// Notes that a change will be submitted at `location`.
    #[inline]
    pub(crate) fn note_write(&self, location: &'static Location<'static>) {
        if self.is_saved.load(Ordering::Relaxed) {
            self.count_write(location);
        }
    }

    #[cold]
    fn count_write(&self, location: &'static Location<'static>) {
        self.written_at.store(ptr::from_ref(location).cast_mut(), Ordering::Relaxed);
        // In this order: who sees the count sees that the writer waits.
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.writes.fetch_add(1, Ordering::SeqCst);
        while self.pins.load(Ordering::SeqCst) != 0 {
            // It could be this thread that has pinned the array, or a pass that waits for this one.
            assert!(PINNED.get() == 0, "a gradient's rule changes an array while a reverse pass reads it");
            std::thread::yield_now();
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    /// Keeps writers waiting until [`unpin`](Self::unpin).
    ///
    /// # Errors
    /// The line of the last write, if there was one since `writes` were counted; the array is not pinned then.
    pub(crate) fn pin(&self, writes: u64) -> Result<(), &'static Location<'static>> {
        self.pins.fetch_add(1, Ordering::SeqCst);
        PINNED.set(PINNED.get() + 1);
        if self.writes.load(Ordering::SeqCst) == writes {
            return Ok(());
        }
        self.unpin();
        Err(self.written_at().expect("the write that was counted noted its line"))
    }

    pub(crate) fn unpin(&self) {
        PINNED.set(PINNED.get() - 1);
        self.pins.fetch_sub(1, Ordering::SeqCst);
    }
}
