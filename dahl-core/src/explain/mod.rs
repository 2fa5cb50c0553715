//! Why the same kernel on the same shapes takes different times: what was so at the start of each call, beside how long
//! it took.
//!
//! Each worker keeps a [`CallLog`] for each codelet, kernel and footprint: its first call, and the last calls with their
//! circumstances, in a ring that nobody else writes. Whoever asks reads them all and sorts the calls by one circumstance
//! after the other ([`Explanation`]).
//!
//! Not here: what durations are expected (`perf`), and which kernel runs (`autotune`).

mod call_log;
mod explanation;

pub(crate) use call_log::{Call, CallLogCache, CallLogs};
pub use explanation::{Explanation, KernelExplanation, Spread, Under};
