//! [`EncodedArguments`]: the plain arguments of a task, as bytes.

use crate::argument::Argument;

/// The plain arguments of a task, as bytes.
#[derive(Debug)]
pub struct EncodedArguments<'a>(&'a [u8]);

impl<'a> EncodedArguments<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next argument.
    ///
    /// # Panics
    /// If there is none.
    #[allow(clippy::should_implement_trait, reason = "each argument has another type")]
    pub fn next<A: Argument>(&mut self) -> A {
        let (argument, rest) = self.0.split_at(A::SIZE_BYTES);
        self.0 = rest;
        A::decode(argument)
    }
}
