//! Whether this thread is running a kernel.

use std::cell::Cell;

use crate::sync::thread_local;

thread_local! {
    static IN_KERNEL: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is running a kernel: it must not wait then.
pub(crate) fn in_kernel() -> bool {
    IN_KERNEL.with(Cell::get)
}

/// Runs `kernel` as one: calls that could wait are errors in it.
pub(crate) fn as_kernel<R>(kernel: impl FnOnce() -> R) -> R {
    /// Restores the previous state: a kernel's destructors may run other kernels.
    struct Leave(bool);
    impl Drop for Leave {
        fn drop(&mut self) {
            IN_KERNEL.with(|in_kernel| in_kernel.set(self.0));
        }
    }
    let _leave = Leave(IN_KERNEL.with(|in_kernel| in_kernel.replace(true)));
    kernel()
}
