//! What a submitting thread does when memory runs out: it helps to run tasks, which will free some.

use std::panic::Location;

use super::shared::Shared;
use crate::array::{Array, byte_len};
use crate::codelet::in_kernel;
use crate::element::Element;
use crate::error::Result;
use crate::memory::{Block, Holder, Shortage};

impl<T: Element, const N: usize> Array<'_, T, N> {
    /// An array of zeros of the same shape and runtime, in memory of its own.
    ///
    /// # Errors
    /// If the memory cannot be had.
    #[track_caller]
    pub fn zeros_like(&self) -> Result<Array<'static, T, N>> {
        let runtime = self.state().shared();
        Ok(Array::from_block(runtime, self.shape(), block_for::<T>(runtime, &self.shape())?))
    }
}

/// Bytes of an array of `shape` and a new block for them.
#[track_caller]
pub(crate) fn block_for<T: Element>(runtime: &Shared, shape: &[usize]) -> Result<Block> {
    let bytes = byte_len::<T>(shape)?;
    let location = Location::caller();
    block_in_submission(runtime, bytes, Holder::new("array", location))
        .map_err(|shortage| shortage.at(location))
}

/// A block for the thread that submits. It waits if tasks in flight can free enough.
pub(crate) fn block_in_submission(
    shared: &Shared,
    bytes: usize,
    holder: Holder,
) -> std::result::Result<Block, Shortage> {
    let node = shared.memory();
    wait_for(shared, || Block::zeroed(node, bytes, holder), || node.may_have(bytes))
        .ok_or_else(|| Shortage::new(node, bytes))
}

/// Attempts until it succeeds, as long as tasks in flight `may` bring it about; helps to run them meanwhile.
///
/// It ends: with nothing in flight, or when as many tasks have ended as two times over could be in flight and none of
/// them freed anything, what is missing is held by something else, such as an array that was forgotten.
pub(crate) fn wait_for<T>(
    shared: &Shared,
    attempt: impl Fn() -> Option<T>,
    may: impl Fn() -> bool,
) -> Option<T> {
    let mut patience = None;
    loop {
        if let Some(found) = attempt() {
            return Some(found);
        }
        // These first: what comes free between them and the attempt is found by it.
        let drained = shared.is_drained();
        let deaths = shared.memory().deaths();
        let hope = may();
        if let Some(found) = attempt() {
            return Some(found);
        }
        if !hope || drained || in_kernel() {
            return None;
        }
        let until = match patience {
            Some((seen, until)) if seen == deaths => until,
            _ => shared.completed() + 2 * u64::from(shared.limit()),
        };
        patience = Some((deaths, until));
        if shared.completed() >= until {
            return None;
        }
        if !shared.help() {
            shared.wait_until(|| {
                shared.memory().deaths() != deaths || shared.is_drained() || shared.completed() >= until
            });
        }
    }
}
