//! [`Lanes`]: where threads append events, without locks.

use crossbeam_queue::SegQueue;
use crossbeam_utils::CachePadded;

use super::event::TraceEvent;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::thread_local;

/// Threads that have a lane of their own; further ones share.
const LANES: usize = 64;

/// Threads that have noted something. It orders nothing, so it is no part of a schedule.
static THREADS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

thread_local! {
    static LANE: usize = THREADS.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % LANES;
}

/// Where threads put events: a queue for each.
#[derive(Debug)]
pub(super) struct Lanes {
    queues: Box<[CachePadded<SegQueue<TraceEvent>>]>,
    next: CachePadded<AtomicU64>,
}

impl Lanes {
    pub(super) fn new() -> Self {
        Self { queues: (0..LANES).map(|_| CachePadded::default()).collect(), next: CachePadded::default() }
    }

    /// A number larger than those of all that happened before. The caller notes something under it, at once.
    pub(super) fn next_number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn push(&self, event: TraceEvent) {
        // A thread that is ending has no lane of its own any more.
        let lane = LANE.try_with(|&lane| lane).unwrap_or(0);
        self.queues[lane].push(event);
    }

    /// Takes what was noted so far, each thread's in its order.
    pub(super) fn drain(&self, mut take: impl FnMut(TraceEvent)) {
        for queue in &self.queues {
            for _ in 0..queue.len() {
                let Some(event) = queue.pop() else { break };
                take(event);
            }
        }
    }
}
