//! [`Content`]: what an array holds, as one atomic byte of its state says.

/// What an array holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Content {
    /// Its elements.
    Ready,
    /// Zeros, which nobody has written yet.
    Zero,
    /// Nothing yet: the first task must write it, or reduce into it.
    Unset,
    /// Nothing: a task that should have written it failed.
    Poisoned,
    /// A reader is turning one of the above into `Ready`.
    Busy,
}

impl Content {
    pub(super) fn from_u8(value: u8) -> Self {
        const ALL: [Content; 5] =
            [Content::Ready, Content::Zero, Content::Unset, Content::Poisoned, Content::Busy];
        ALL[usize::from(value)]
    }
}
