//! [`Pins`]: values that a reverse pass reads, kept from being changed meanwhile.

use super::gradient::has;
use super::pass::Pass;
use super::record::{Node, Operand, Record};
use crate::array::Shared;
use crate::error::{Error, ErrorKind, Result};

/// Keeps values that a node saved from being changed until it is dropped.
pub(super) struct Pins<'a> {
    record: &'a Record,
    operands: &'a [Operand],
    /// Which of them are pinned, of the first `end`.
    bits: u64,
    end: usize,
}

impl<'a> Pins<'a> {
    /// Pins those of the values that `node` saved that are named by `bits`.
    ///
    /// # Errors
    /// If one of the values was overwritten.
    pub(super) fn new(record: &'a Record, node: &Node, bits: u64) -> Result<Self> {
        let mut pins = Self { record, operands: record.operands(node), bits, end: 0 };
        for (index, operand) in pins.operands.iter().enumerate() {
            if let Some(saved) = pins.pinned(index, operand)
                && let Err(written_at) = saved.state().saves().pin(operand.writes)
            {
                let (codelet, parameter) = (node.codelet.name, node.name_of(index));
                let kind = ErrorKind::Overwritten { codelet, parameter, written_at };
                return Err(Error::at(kind, node.location));
            }
            pins.end = index + 1;
        }
        Ok(pins)
    }

    /// The array of an operand that is pinned. What was made under a tape nobody can change.
    fn pinned(&self, index: usize, operand: &Operand) -> Option<&'a Shared> {
        if operand.is_constant || !has(self.bits, index) {
            return None;
        }
        self.record.saved(operand)
    }
}

impl Drop for Pins<'_> {
    fn drop(&mut self) {
        for (index, operand) in self.operands[..self.end].iter().enumerate() {
            if let Some(saved) = self.pinned(index, operand) {
                saved.state().saves().unpin();
            }
        }
    }
}

impl Pass<'_> {
    /// Calls `f` while those of the values that `node` saved that are named by `bits` cannot change.
    ///
    /// # Errors
    /// If one of the values was overwritten, and those of `f`.
    pub(super) fn while_pinned<R>(
        &self,
        record: &Record,
        node: &Node,
        bits: u64,
        f: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        let pins = Pins::new(record, node, bits)?;
        let result = f();
        drop(pins);
        result
    }
}
