//! [`rotary`]: rotary position embeddings, and its gradient.
//!
//! Su, Lu, Pan, Murtadha, Wen and Liu 2021, *RoFormer: Enhanced Transformer with Rotary Position Embedding*, with the pairs
//! of GPT-NeoX: element `i` of a token's first half with element `i` of its second half.

use dahl::ndarray::{ArrayViewD, ArrayViewMutD};
use dahl::prelude::*;

use crate::cpu::rotary::{Rotation, rotate};
use crate::cpu::row_major::{elements, row_major, write};

/// The positions of tokens, and how the angles follow from them.
///
/// ```
/// use dahl::ops::RotaryPositions;
///
/// let positions = RotaryPositions::default().offset(7); // after seven tokens that are cached
/// assert_eq!((positions.base, positions.offset), (10_000.0, 7));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Argument)]
#[repr(C)]
pub struct RotaryPositions {
    /// Pair `i` turns by `base^(-2 i / width)` from one position to the next.
    pub base: f64,
    /// The position of the first token.
    pub offset: usize,
}

/// Positions from 0 on, and a base of 10,000.
impl Default for RotaryPositions {
    fn default() -> Self {
        Self { base: 10_000.0, offset: 0 }
    }
}

impl RotaryPositions {
    /// Sets the base; the default is 10,000.
    pub const fn base(mut self, base: f64) -> Self {
        self.base = base;
        self
    }

    /// Sets the position of the first token; the default is 0.
    pub const fn offset(mut self, offset: usize) -> Self {
        self.offset = offset;
        self
    }
}

/// Whether there are tokens of pairs.
fn has_pairs(shape: &[usize]) -> bool {
    shape.len() >= 2 && shape[shape.len() - 1].is_multiple_of(2)
}

/// The extents of an array of tokens, and the angles from one to the next.
fn rotation(shape: &[usize], positions: RotaryPositions) -> Rotation {
    let [.., tokens, width] = *shape else { unreachable!("the rank is at least 2") };
    Rotation { tokens, width, base: positions.base, offset: positions.offset }
}

/// Turns each pair of elements of each token by an angle that grows with its position. With
/// `angle = position * base^(-2 i / width)` and `half = width / 2`:
/// `out[i] = input[i] cos(angle) - input[half + i] sin(angle)` and
/// `out[half + i] = input[half + i] cos(angle) + input[i] sin(angle)`.
///
/// Angles are computed in f64. Inner products of such vectors depend on their positions by the difference alone.
///
/// ```
/// use dahl::ops::{RotaryPositions, rotary_init};
/// use dahl::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let arena = rt.arena();
/// let tokens = arena.from_slice([2, 2], &[1.0_f32, 0.0, 1.0, 0.0])?;
/// let turned = rotary_init(&arena, &tokens, RotaryPositions::default())?;
/// assert_eq!(turned.to_vec()?, [1.0, 0.0, 0.5403023, 0.84147096]); // the cosine and the sine of 1
/// # Ok(())
/// # }
/// ```
///
/// # Shapes
/// `input` and `out: [.., tokens, width]`, with an even width.
#[codelet(
    R, W,
    shape(out = input),
    check(has_pairs(&input.shape())),
    check(positions.base.is_finite() && positions.base > 0.0),
    flops = 3 * input.len(),
    cuda = crate::kernels::ROTARY,
    gradient = adjoint(rotary_backward),
    reference = crate::reference::rotary::rotary,
    error = sum(
        n = positions.offset + input.shape()[input.shape().len() - 2] + 8,
        terms = crate::reference::rotary::rotary_terms
    )
)]
pub fn rotary<T: Real>(input: ArrayViewD<T>, out: ArrayViewMutD<T>, positions: RotaryPositions) {
    let rotation = rotation(input.shape(), positions);
    let input = row_major(&input);
    write(out, |out| rotate(elements(&input), out, rotation, T::Compute::ONE));
}

/// The gradient of [`rotary`] by its input: turns each pair by the same angle in the other direction.
///
/// # Shapes
/// `gradient` and `out` as the input of [`rotary`].
#[codelet(
    R, W,
    shape(out = gradient),
    check(has_pairs(&gradient.shape())),
    check(positions.base.is_finite() && positions.base > 0.0),
    flops = 3 * gradient.len(),
    cuda = crate::kernels::ROTARY_BACKWARD,
    gradient = adjoint(rotary),
    reference = crate::reference::rotary::rotary_backward,
    error = sum(
        n = positions.offset + gradient.shape()[gradient.shape().len() - 2] + 8,
        terms = crate::reference::rotary::rotary_terms
    )
)]
pub fn rotary_backward<T: Real>(gradient: ArrayViewD<T>, out: ArrayViewMutD<T>, positions: RotaryPositions) {
    let rotation = rotation(gradient.shape(), positions);
    let gradient = row_major(&gradient);
    write(out, |out| rotate(elements(&gradient), out, rotation, -T::Compute::ONE));
}
