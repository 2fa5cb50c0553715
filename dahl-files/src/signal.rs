//! [`without_size_signal`]: writing beyond a limit on the size of files is an error, not the end of the process.
#![allow(unsafe_code, reason = "blocks a signal of this thread")]

/// Calls `write` with SIGXFSZ blocked on this thread. A write beyond the limit on file sizes (`ulimit -f`,
/// RLIMIT_FSIZE) then returns the error "File too large"; the signal would end the process.
///
/// Other threads and the program's handler of the signal are not affected: the kernel sends the signal to the writing
/// thread, where it stays pending, and is consumed before it is unblocked.
#[cfg(unix)]
pub fn without_size_signal<R>(write: impl FnOnce() -> R) -> R {
    struct Unblock(Option<libc::sigset_t>);
    impl Drop for Unblock {
        fn drop(&mut self) {
            if let Some(old) = &self.0 {
                consume_pending();
                // SAFETY: `old` is a set that `pthread_sigmask` wrote; the other pointer may be null.
                unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, old, std::ptr::null_mut()) };
            }
        }
    }
    let _unblock = Unblock(block());
    write()
}

/// Writes on a system without that signal.
#[cfg(not(unix))]
pub fn without_size_signal<R>(write: impl FnOnce() -> R) -> R {
    write()
}

/// SIGXFSZ alone.
#[cfg(unix)]
fn size_signal() -> libc::sigset_t {
    let mut set = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: `set` has the size of a set, which the call initializes.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: it was initialized above; the number is that of a signal.
    unsafe { libc::sigaddset(set.as_mut_ptr(), libc::SIGXFSZ) };
    // SAFETY: as above.
    unsafe { set.assume_init() }
}

/// Blocks the signal on this thread. Returns the previous mask; none if this signal was blocked already, so that it is
/// left blocked.
#[cfg(unix)]
fn block() -> Option<libc::sigset_t> {
    let mut old = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: both point to sets, the first of which is initialized.
    let failed = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &size_signal(), old.as_mut_ptr()) };
    if failed != 0 {
        return None;
    }
    // SAFETY: the call has written it.
    let old = unsafe { old.assume_init() };
    // SAFETY: `old` is initialized; the number is that of a signal.
    let was_blocked = unsafe { libc::sigismember(&old, libc::SIGXFSZ) } == 1;
    (!was_blocked).then_some(old)
}

/// Consumes the signal if it is pending for this thread. None was pending before it was blocked.
#[cfg(unix)]
fn consume_pending() {
    #[cfg(not(any(target_os = "macos", target_os = "ios")))]
    {
        let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the set and the time are initialized, and the information about the signal is not requested.
        unsafe { libc::sigtimedwait(&size_signal(), std::ptr::null_mut(), &at_once) };
    }
    #[cfg(any(target_os = "macos", target_os = "ios"))]
    {
        let mut pending = size_signal();
        // SAFETY: it is a set to write to.
        unsafe { libc::sigpending(&mut pending) };
        // SAFETY: the set is initialized; the number is that of a signal.
        if unsafe { libc::sigismember(&pending, libc::SIGXFSZ) } == 1 {
            let mut taken = 0;
            // SAFETY: the set is initialized, and `taken` is writable; the signal is pending, so the call does not
            // wait.
            unsafe { libc::sigwait(&size_signal(), &mut taken) };
        }
    }
}
