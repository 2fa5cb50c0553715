//! [`Lanes`]: where threads append events, without locks.

use crossbeam_queue::SegQueue;
use crossbeam_utils::CachePadded;

use super::event::TraceEvent;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::thread_local;

/// The most threads with a lane of their own; further ones share.
const LANES: usize = 64;

/// The number of threads that have recorded an event. It has no order, so it is not part of a schedule.
static THREADS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

thread_local! {
    static LANE: usize = THREADS.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % LANES;
}

/// The queues of events: one for each thread.
#[derive(Debug)]
pub(super) struct Lanes {
    queues: Box<[CachePadded<SegQueue<TraceEvent>>]>,
    next: CachePadded<AtomicU64>,
}

impl Lanes {
    pub(super) fn new() -> Self {
        Self { queues: (0..LANES).map(|_| CachePadded::default()).collect(), next: CachePadded::default() }
    }

    /// A number larger than those of all earlier events. The caller records an event with it immediately.
    pub(super) fn next_number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn push(&self, event: TraceEvent) {
        // A thread that is ending has no thread-local storage any more.
        let lane = LANE.try_with(|&lane| lane).unwrap_or(0);
        self.queues[lane].push(event);
    }

    /// Takes the events so far, those of each thread in its order.
    pub(super) fn drain(&self, mut take: impl FnMut(TraceEvent)) {
        for queue in &self.queues {
            for _ in 0..queue.len() {
                let Some(event) = queue.pop() else { break };
                take(event);
            }
        }
    }
}
