//! [`cpu_time_ns`]: how long this process has had processors.

use std::fs;

/// The processor time of all threads of this process that have not ended, in nanoseconds; NaN where Linux's `/proc` is not.
pub(crate) fn cpu_time_ns() -> f64 {
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return f64::NAN };
    let times = threads.filter_map(|thread| {
        let times = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        times.split(' ').next()?.parse::<f64>().ok()
    });
    times.sum()
}
