//! How long this process has had processors.

use std::fs;
use std::path::Path;

/// The processor time of all threads of this process that have not ended, in nanoseconds; NaN where Linux's `/proc` is not.
pub(crate) fn process_time_ns() -> f64 {
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return f64::NAN };
    threads.filter_map(|thread| time_ns(&thread.ok()?.path())).sum()
}

/// The processor time of this thread, in nanoseconds; NaN where Linux's `/proc` is not.
pub(crate) fn thread_time_ns() -> f64 {
    time_ns(Path::new("/proc/thread-self")).unwrap_or(f64::NAN)
}

fn time_ns(thread: &Path) -> Option<f64> {
    let times = fs::read_to_string(thread.join("schedstat")).ok()?;
    times.split(' ').next()?.parse().ok()
}
