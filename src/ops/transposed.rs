//! [`Transposed`]: the factors of a product that are transposed.

use dahl::Argument;

/// Which factors of a product are transposed first.
///
/// ```
/// use dahl::ops::{Transposed, matmul_init, matmul_transposed_init};
/// use dahl::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let arena = rt.arena();
/// let a = arena.from_slice([2, 3], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// let b = arena.from_slice([3, 2], &[1.0_f32, 0.0, 0.0, 1.0, 1.0, 1.0])?;
/// assert_eq!(matmul_init(&arena, &a, &b)?.to_vec()?, [4.0, 5.0, 10.0, 11.0]);
/// // The product of `a` and its own transpose.
/// let square = matmul_transposed_init(&arena, &a, &a, Transposed::RIGHT)?;
/// assert_eq!(square.to_vec()?, [14.0, 32.0, 32.0, 77.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Argument)]
#[repr(C)]
pub struct Transposed {
    /// Whether the first factor is transposed.
    pub left: bool,
    /// Whether the second factor is transposed.
    pub right: bool,
}

impl Transposed {
    /// Neither factor is transposed.
    pub const NEITHER: Self = Self { left: false, right: false };
    /// The first factor is transposed.
    pub const LEFT: Self = Self { left: true, right: false };
    /// The second factor is transposed.
    pub const RIGHT: Self = Self { left: false, right: true };
    /// Both factors are transposed.
    pub const BOTH: Self = Self { left: true, right: true };
}
