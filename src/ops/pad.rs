//! Padding along any axes: with a value ([`pad`]), or with copies of the input's elements ([`pad_copies`]).

use dahl::ndarray::{ArrayViewD, ArrayViewMutD, Slice};
use dahl::prelude::*;

use crate::cpu::indexed::{gather, scatter_add};
use crate::cpu::row_major::{elements, row_major, write};

/// The padded shape; saturates where there are no such arrays.
fn padded<const N: usize, const A: usize>(
    shape: [usize; N],
    before: [usize; A],
    after: [usize; A],
) -> [usize; N] {
    let of = |padding: [usize; A], axis: usize| padding.get(axis).copied().unwrap_or(0);
    std::array::from_fn(|axis| shape[axis].saturating_add(of(before, axis)).saturating_add(of(after, axis)))
}

/// `out = input` with `value` around it: `before` and `after` it along each axis.
///
/// # Shapes
/// `before` and `after` have as many numbers as `input` has axes; `out: [before + extent + after, ..]`.
#[codelet(
    R, W,
    cuda = crate::kernels::PAD,
    shape(out = padded(input.shape(), before, after)),
    check(input.shape().len() == before.len()),
    gradient = pad_gradient(),
    reference = crate::reference::padded::pad,
    error = rounded
)]
pub fn pad<T: Element, const A: usize>(
    input: ArrayViewD<T>,
    mut out: ArrayViewMutD<T>,
    before: [usize; A],
    after: [usize; A],
    value: T,
) {
    debug_assert!((0..A).all(|axis| out.shape()[axis] == before[axis] + input.shape()[axis] + after[axis]));
    out.fill(value);
    out.slice_each_axis_mut(|axis| {
        let (axis, start) = (axis.axis.index(), before[axis.axis.index()]);
        Slice::from(start..start + input.shape()[axis])
    })
    .assign(&input);
}

fn pad_gradient<T: Real, const A: usize, const N: usize>(rule: PadGradient<'_, T, A, N>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    let mut inside = None;
    for axis in (0..A).filter(|&axis| rule.before[axis] + rule.after[axis] > 0) {
        let padded = inside.as_ref().unwrap_or(rule.gradient);
        let made = super::slice_init(rule.scope, padded, axis, rule.before[axis], by_input.shape()[axis])?;
        inside = Some(made);
    }
    *by_input = match inside {
        Some(inside) => inside,
        None => rule.scope.same(rule.gradient)?,
    };
    Ok(())
}

/// What is around the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Argument)]
#[repr(u8)]
pub enum PadMode {
    /// The input mirrored at its first and at its last element, which are not repeated: `c b | a b c | b a`.
    Reflect,
    /// The first and the last element: `a a | a b c | c c`.
    Replicate,
    /// The input again: `b c | a b c | a b`.
    Circular,
}

impl PadMode {
    /// Whether an axis of `extent` can be padded so.
    fn takes(self, extent: usize, padding: usize) -> bool {
        match self {
            _ if padding == 0 => true,
            Self::Reflect => padding < extent,
            Self::Replicate => extent > 0,
            Self::Circular => padding <= extent,
        }
    }

    fn takes_all<const N: usize, const A: usize>(
        self,
        input: [usize; N],
        before: [usize; A],
        after: [usize; A],
    ) -> bool {
        N == A
            && (0..A).all(|axis| [before, after].iter().all(|padding| self.takes(input[axis], padding[axis])))
    }

    /// The index of the element that is at `index` of an axis of `extent` that is padded by `before`.
    #[inline(always)]
    fn index(self, extent: usize, before: usize, index: usize) -> usize {
        match (index.checked_sub(before), self) {
            (Some(inside), _) if inside < extent => inside,
            (Some(_), Self::Replicate) => extent - 1,
            (Some(beyond), Self::Reflect) => 2 * (extent - 1) - beyond,
            (Some(beyond), Self::Circular) => beyond - extent,
            (None, Self::Replicate) => 0,
            (None, Self::Reflect) => before - index,
            (None, Self::Circular) => index + extent - before,
        }
    }
}

/// `out = input` with copies of its elements `before` and `after` it along each axis.
///
/// # Shapes
/// As for [`pad`]. The padding of an axis is below its extent if it reflects, and at most its extent if it is circular.
#[codelet(
    R, W,
    cuda = crate::kernels::PAD_COPIES,
    shape(out = padded(input.shape(), before, after)),
    check(mode.takes_all(input.shape(), before, after)),
    gradient = adjoint(pad_copies_backward),
    reference = crate::reference::padded::pad_copies,
    error = rounded
)]
pub fn pad_copies<T: Real, const A: usize>(
    input: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    before: [usize; A],
    after: [usize; A],
    mode: PadMode,
) {
    let (from, to) =
        (input.shape(), padded::<A, A>(std::array::from_fn(|axis| input.shape()[axis]), before, after));
    let elements_of = row_major(&input);
    if A == 0 {
        return write(out, |out| out.copy_from_slice(elements(&elements_of)));
    }
    let index = |axis: usize, index: usize| mode.index(from[axis], before[axis], index);
    write(out, |out| gather(elements(&elements_of), [from, &to], out, index));
}

/// The gradient of [`pad_copies`] by its input: each element gets the sum of the gradients by its copies.
///
/// # Shapes
/// `gradient` as the output of [`pad_copies`], `out` as its input.
#[codelet(
    R, W,
    cuda = crate::kernels::PAD_COPIES_BACKWARD,
    check(mode.takes_all(out.shape(), before, after)),
    check(gradient.shape() == padded(out.shape(), before, after)),
    flops = gradient.len(),
    gradient = adjoint(pad_copies),
    reference = crate::reference::padded::pad_copies_backward,
    error = sum(n = (0..before.len()).map(|axis| before[axis] + after[axis] + 1).product::<usize>())
)]
pub fn pad_copies_backward<T: Real, const A: usize>(
    gradient: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    before: [usize; A],
    after: [usize; A],
    mode: PadMode,
) {
    let from: [usize; A] = std::array::from_fn(|axis| out.shape()[axis]);
    debug_assert_eq!(gradient.shape(), padded(from, before, after));
    let gradient_of = row_major(&gradient);
    if A == 0 {
        return write(out, |out| out.copy_from_slice(elements(&gradient_of)));
    }
    let index = |axis: usize, index: usize| mode.index(from[axis], before[axis], index);
    write(out, |out| scatter_add(elements(&gradient_of), [&from, gradient.shape()], out, index));
}
