//! [`Initializer`]: the first values of a parameter.

use dahl::ops::{self, Philox};
use dahl::prelude::*;

use crate::setting;

/// The first values of a parameter of shape `[outputs, inputs, ..kernel]`. Formulas are PyTorch's (`torch.nn.init`).
///
/// `fan_in` is `inputs * kernel elements`, `fan_out` is `outputs * kernel elements`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Initializer {
    /// All elements have this value.
    Constant(f64),
    /// Uniform in `-bound .. bound`.
    Uniform {
        /// The bound.
        bound: f64,
    },
    /// Normal with mean 0.
    Normal {
        /// The standard deviation.
        deviation: f64,
    },
    /// Uniform with bound `gain * sqrt(3 / fan_in)` (He et al. 2015, section 2.2); the gain is `sqrt(2)` for ReLU.
    KaimingUniform {
        /// The gain of the activation that follows.
        gain: f64,
    },
    /// Normal with deviation `gain / sqrt(fan_in)`.
    KaimingNormal {
        /// The gain of the activation that follows.
        gain: f64,
    },
    /// Uniform with bound `gain * sqrt(6 / (fan_in + fan_out))` (Glorot and Bengio 2010, section 4.2.1).
    XavierUniform {
        /// The gain of the activation that follows: 1 for a linear one.
        gain: f64,
    },
    /// Normal with deviation `gain * sqrt(2 / (fan_in + fan_out))`.
    XavierNormal {
        /// The gain of the activation that follows: 1 for a linear one.
        gain: f64,
    },
    /// Normal with mean 0, restricted to `-bound .. bound`.
    TruncatedNormal {
        /// The standard deviation before the restriction.
        deviation: f64,
        /// The bound.
        bound: f64,
    },
    /// The rows of `[outputs, inputs * kernel]`, or its columns if there are fewer, are orthogonal and of length `gain`
    /// (Saxe, McClelland and Ganguli 2013, section 3).
    Orthogonal {
        /// The length.
        gain: f64,
    },
}

/// Numbers of a normal distribution with mean 0 that is restricted to `-bound .. bound`: the inverse of its distribution
/// function at uniform numbers.
#[track_caller]
pub(super) fn truncated_normal(
    arena: &Arena,
    len: usize,
    deviation: f64,
    bound: f64,
    numbers: Philox,
) -> dahl::Result<Vec<f64>> {
    let is_deviation = deviation > 0.0 && deviation.is_finite();
    setting::require(is_deviation, "Initializer: deviation", deviation, "a finite number above 0")?;
    setting::require(bound > 0.0, "Initializer: bound", bound, "a number above 0")?;
    let arena = arena.sibling();
    let mut uniform: Vector<f64> = arena.zeros([len])?;
    ops::uniform(&mut uniform, 0.0, 1.0, numbers)?;
    // The distribution function at the bounds; symmetric about one half.
    let outside = 0.5 * Real::erfc(bound / deviation / std::f64::consts::SQRT_2);
    let inside = |uniform: &f64| {
        let share = outside + uniform * (1.0 - 2.0 * outside);
        (deviation * quantile(share)).clamp(-bound, bound)
    };
    Ok(uniform.read()?.iter().map(inside).collect())
}

/// The inverse of the standard normal distribution function, by bisection of the error function: to the last digits, and
/// fast enough for the first values of parameters.
fn quantile(share: f64) -> f64 {
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        let below = 0.5 * Real::erfc(-middle / std::f64::consts::SQRT_2);
        if below < share { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// A matrix of `rows` rows and `len` elements whose rows, or columns if there are fewer, are orthogonal and of length
/// `gain`: normal numbers, made orthogonal one after the other (modified Gram-Schmidt, twice, so that rounding does not
/// accumulate; Giraud, Langou and Rozloznik 2005).
#[track_caller]
pub(super) fn orthogonal(
    arena: &Arena,
    rows: usize,
    len: usize,
    gain: f64,
    numbers: Philox,
) -> dahl::Result<Vec<f64>> {
    setting::require(gain.is_finite(), "Initializer: gain", gain, "a finite number")?;
    let columns = len.checked_div(rows).unwrap_or(0);
    let arena = arena.sibling();
    let mut normal: Vector<f64> = arena.zeros([len])?;
    ops::normal(&mut normal, 0.0, 1.0, numbers)?;
    let normal = normal.to_vec()?;
    let (count, extent) = (rows.min(columns), rows.max(columns));
    let mut vectors: Vec<Vec<f64>> = normal.chunks_exact(extent.max(1)).map(<[f64]>::to_vec).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for index in 0..count {
        let (before, rest) = vectors.split_at_mut(index);
        let vector = &mut rest[0];
        for _ in 0..2 {
            for other in &*before {
                let share = dot(vector, other);
                vector.iter_mut().zip(other).for_each(|(element, other)| *element -= share * other);
            }
        }
        let length = dot(vector, vector).sqrt();
        vector.iter_mut().for_each(|element| *element /= length);
    }
    let at = |row: usize, column: usize| {
        if rows <= columns { vectors[row][column] } else { vectors[column][row] }
    };
    Ok((0..len).map(|index| gain * at(index / columns, index % columns)).collect())
}
