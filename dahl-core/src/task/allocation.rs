//! What a submitting thread does when memory runs out: it helps to run tasks, which will free some.

use crate::codelet::in_kernel;
use crate::graph::Engine;
use crate::memory::{Block, Holder, Shortage};
use crate::sleep::Interest;

/// A block for the submitting thread. Waits if tasks in flight can free enough.
pub(crate) fn block_in_submission(
    engine: &dyn Engine,
    bytes: usize,
    holder: Holder,
) -> std::result::Result<Block, Shortage> {
    let node = engine.host().memory();
    wait_for(engine, || Block::zeroed(node, bytes, holder), || node.may_have(bytes))
        .ok_or_else(|| Shortage::new(node, bytes))
}

/// Attempts until it succeeds, as long as tasks in flight `may` free memory; helps to run them meanwhile.
///
/// It terminates: when nothing is in flight, or twice the limit of tasks in flight have ended without freeing enough,
/// the missing memory is held by something else, such as a leaked array.
pub(crate) fn wait_for<T>(
    engine: &dyn Engine,
    attempt: impl Fn() -> Option<T>,
    may: impl Fn() -> bool,
) -> Option<T> {
    let (host, mut patience) = (engine.host(), None);
    loop {
        if let Some(found) = attempt() {
            return Some(found);
        }
        // Read before the attempt, so that memory that is freed in between is found by it.
        let drained = host.is_drained();
        let deaths = host.memory().deaths();
        let hope = may();
        if let Some(found) = attempt() {
            return Some(found);
        }
        if !hope || drained || in_kernel() || host.is_forked() {
            return None;
        }
        let until = match patience {
            Some((seen, until)) if seen == deaths => until,
            _ => host.completed() + 2 * u64::from(host.limit()),
        };
        patience = Some((deaths, until));
        if host.completed() >= until {
            return None;
        }
        if !engine.help() {
            engine.wait_until(&|| {
                host.memory().deaths() != deaths || host.is_drained() || host.completed() >= until
            });
        }
    }
}

/// Waits until `holds`, for memory that tasks free; but no longer than until all tasks in flight have ended, since
/// leaked memory is never freed.
pub(crate) fn wait_for_bytes(engine: &dyn Engine, holds: impl Fn() -> bool) {
    let host = engine.host();
    // When so many tasks have ended, even with another submitting thread, all that are in flight now have ended.
    let until = host.completed() + 2 * u64::from(host.limit());
    // Stored before it waits, as `Monitor::wait_until` requires.
    host.set_bytes_until(until);
    engine.wait_with(Interest::Bytes, &|| holds() || host.is_drained() || host.completed() >= until);
}
