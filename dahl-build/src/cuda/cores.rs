//! [`on_all_cores`]: runs a compiler several times in parallel.

use std::sync::Mutex;
use std::thread;

use crate::error::Error;

/// Calls `work` for each item, in parallel on all cores. Returns the first error, after all calls.
pub(super) fn on_all_cores<T: Send>(
    items: Vec<T>,
    work: impl Fn(T) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let (left, mistakes) = (Mutex::new(items.into_iter()), Mutex::new(Vec::new()));
    let next = || left.lock().ok()?.next();
    let work = || {
        while let Some(item) = next() {
            if let Err(error) = work(item)
                && let Ok(mut mistakes) = mistakes.lock()
            {
                mistakes.push(error);
            }
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(work))));
    mistakes.into_inner().unwrap_or_default().into_iter().next().map_or(Ok(()), Err)
}
