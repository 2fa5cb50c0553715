//! Why the same kernel on the same shapes takes different times: the circumstances at the start of each call, beside
//! its duration.
//!
//! Each worker keeps a [`CallLog`] for each codelet, kernel and footprint: its first call, and its last calls with
//! their circumstances, in a ring that no other thread writes. [`Explanation`] reads all logs and groups the calls by
//! one circumstance after the other.
//!
//! Not here: expected durations (`perf`), and which kernel runs (`autotune`).

mod call_log;
mod explanation;

pub(crate) use call_log::{Call, CallLogCache, CallLogs};
pub use explanation::{Explanation, KernelExplanation, Spread, Under};
