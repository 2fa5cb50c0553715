//! [`Moved`]: where a kernel that only moves elements takes them from.

/// Each element of the output is one of the input: that at `offset` plus the sum of its indices times the `strides`, counted
/// in row-major order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// For each axis of the output, how many elements the next index is away.
    pub strides: Vec<usize>,
    /// The first element of the output.
    pub offset: usize,
}

impl Moved {
    /// From strides and an offset.
    pub fn new<S: AsRef<[usize]>>((strides, offset): (S, usize)) -> Self {
        Self { strides: strides.as_ref().to_vec(), offset }
    }
}
