//! [`AccessMode`]: how a codelet accesses each of its arrays.

use std::fmt;

/// How partial results of a `REDUX` parameter are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// `a + b`, from zero.
    Sum,
    /// `max(a, b)`, from minus infinity; NaN propagates.
    Max,
    /// `min(a, b)`, from plus infinity; NaN propagates.
    Min,
    /// By a codelet of the user's, from an identity of the user's.
    Custom,
}

/// What a codelet does with one of its arrays. Dependencies between tasks follow from it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccessMode {
    /// Read. Tasks that read the same array may run in parallel.
    R,
    /// Write every element; the old content is lost.
    W,
    /// Read and write.
    RW,
    /// Combine into the array, in a private buffer that starts from the identity.
    REDUX(Reduction),
    /// Read and write, one task at a time, in any order.
    COMMUTE,
    /// A temporary buffer of the executing node; not a parameter of the wrapper.
    SCRATCH,
}

impl AccessMode {
    /// The mode as a declaration writes it: `REDUX(max)`.
    #[inline]
    pub const fn name(self) -> &'static str {
        match self {
            Self::R => "R",
            Self::W => "W",
            Self::RW => "RW",
            Self::REDUX(Reduction::Sum) => "REDUX",
            Self::REDUX(Reduction::Max) => "REDUX(max)",
            Self::REDUX(Reduction::Min) => "REDUX(min)",
            Self::REDUX(Reduction::Custom) => "REDUX(..)",
            Self::COMMUTE => "COMMUTE",
            Self::SCRATCH => "SCRATCH",
        }
    }

    /// Whether tasks with this access to one array may run in parallel.
    #[inline]
    pub const fn is_shared(self) -> bool {
        matches!(self, Self::R)
    }

    /// Whether the kernel, or the reduction it belongs to, depends on the old content.
    #[inline]
    pub const fn reads(self) -> bool {
        !matches!(self, Self::W | Self::SCRATCH)
    }

    /// Whether the array is changed.
    #[inline]
    pub const fn writes(self) -> bool {
        !matches!(self, Self::R | Self::SCRATCH)
    }
}

impl fmt::Debug for AccessMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
