//! [`rotate`]: turns pairs of elements by angles that grow with the position.

use dahl_core::Real;

use super::scratch::with_scratch;

/// Tokens, and by how much they are turned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rotation {
    pub(crate) tokens: usize,
    /// Elements of a token.
    pub(crate) width: usize,
    /// Pair `i` turns by `base^(-2 i / width)` from one token to the next.
    pub(crate) base: f64,
    /// The position of the first token.
    pub(crate) offset: usize,
}

/// Turns the pairs `(i, width / 2 + i)` of all tokens, in the direction of `sign`.
#[inline(always)]
pub(crate) fn rotate<T: Real>(input: &[T], out: &mut [T], rotation: Rotation, sign: T::Compute) {
    let Rotation { tokens, width, base, offset } = rotation;
    let half = width / 2;
    if input.is_empty() {
        return;
    }
    with_scratch([half; 2], |[steps, angles]: [&mut [f64]; 2]| {
        for (i, step) in steps.iter_mut().enumerate() {
            *step = Real::powf(base, -2.0 * i as f64 / width as f64);
        }
        with_scratch([half; 2], |[cosines, sines]: [&mut [T::Compute]; 2]| {
            for token in 0..tokens {
                let position = (offset + token) as f64;
                for (angle, step) in angles.iter_mut().zip(&*steps) {
                    *angle = position * *step;
                }
                for (cosine, angle) in cosines.iter_mut().zip(&*angles) {
                    *cosine = T::Compute::from_f64(Real::cos(*angle));
                }
                for (sine, angle) in sines.iter_mut().zip(&*angles) {
                    *sine = T::Compute::from_f64(Real::sin(*angle)) * sign;
                }
                // The same token of each sequence.
                let rows = input.chunks_exact(width).zip(out.chunks_exact_mut(width));
                for (input, out) in rows.skip(token).step_by(tokens) {
                    turn(input, out, cosines, sines);
                }
            }
        });
    });
}

#[inline(always)]
fn turn<T: Real>(input: &[T], out: &mut [T], cosines: &[T::Compute], sines: &[T::Compute]) {
    let half = cosines.len();
    let ((first, second), (out_first, out_second)) = (input.split_at(half), out.split_at_mut(half));
    let factors = cosines.iter().zip(sines);
    let inputs = first.iter().zip(second);
    for (((out, out_second), (first, second)), (cosine, sine)) in
        out_first.iter_mut().zip(out_second).zip(inputs).zip(factors)
    {
        let (first, second) = (first.widen(), second.widen());
        *out = T::narrow(first * *cosine - second * *sine);
        *out_second = T::narrow(second * *cosine + first * *sine);
    }
}
