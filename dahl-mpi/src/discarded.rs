//! [`Discarded`]: a message that nobody needs, and that is received so that its sender can end.

use dahl_core::ranks::Destination;

/// Memory for it.
#[derive(Default)]
pub(crate) struct Discarded(Vec<u8>);

impl Destination for Discarded {
    fn memory(&mut self, len: usize) -> Result<&mut [u8], String> {
        self.0.resize(len, 0);
        Ok(&mut self.0)
    }

    fn arrived(self: Box<Self>, _: Result<(), String>) {}
}
