//! [`Buffer`]: what needs memory, from when to when.

/// A buffer that needs `size` bytes at the times `[lower, upper)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Buffer {
    /// The caller's number, which errors name.
    pub id: u64,
    /// The first time at which it lives.
    pub lower: i64,
    /// The first time at which it lives no more.
    pub upper: i64,
    /// Its size in bytes.
    pub size: u64,
}

impl Buffer {
    /// Whether both buffers live at some time.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.lower < other.upper && other.lower < self.upper
    }
}
