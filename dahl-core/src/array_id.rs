//! [`ArrayId`]: identifies an array; never reused.

use std::fmt;
use std::num::NonZeroU64;

/// The id of an array of a runtime. No other array of the runtime, earlier or later, has the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArrayId(NonZeroU64);

impl ArrayId {
    /// The id of number `number`, from 1.
    pub(crate) fn new(number: u64) -> Self {
        Self(NonZeroU64::new(number).expect("arrays are numbered from 1"))
    }

    /// The id with a number [from an id](Self::number), or none for 0.
    pub(crate) fn from_number(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(Self)
    }

    /// The number, from 1, in the order in which arrays were created.
    pub fn number(self) -> u64 {
        self.0.get()
    }
}

impl fmt::Display for ArrayId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for ArrayId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}
