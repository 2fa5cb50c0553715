//! What a submitting thread does when memory runs out: it helps to run tasks, which will free some.

use crate::codelet::in_kernel;
use crate::graph::Engine;
use crate::memory::{Block, Holder, Shortage};
use crate::sleep::Interest;

/// A block for the thread that submits. It waits if tasks in flight can free enough.
pub(crate) fn block_in_submission(
    engine: &dyn Engine,
    bytes: usize,
    holder: Holder,
) -> std::result::Result<Block, Shortage> {
    let node = engine.host().memory();
    wait_for(engine, || Block::zeroed(node, bytes, holder), || node.may_have(bytes))
        .ok_or_else(|| Shortage::new(node, bytes))
}

/// Attempts until it succeeds, as long as tasks in flight `may` bring it about; helps to run them meanwhile.
///
/// It ends: with nothing in flight, or when as many tasks have ended as two times over could be in flight and none of
/// them freed anything, what is missing is held by something else, such as an array that was forgotten.
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
        // These first: what comes free between them and the attempt is found by it.
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

/// Waits until `holds`, which tasks bring about that let go of bytes; but no longer than it takes to run all that is in flight,
/// since what the program has forgotten does not come.
pub(crate) fn wait_for_bytes(engine: &dyn Engine, holds: impl Fn() -> bool) {
    let host = engine.host();
    // When so many tasks have ended, beside another thread that submits, none of those in flight now is left.
    let until = host.completed() + 2 * u64::from(host.limit());
    // Before it waits, as `Monitor::wait_until` asks.
    host.set_bytes_until(until);
    engine.wait_with(Interest::Bytes, &|| holds() || host.is_drained() || host.completed() >= until);
}
