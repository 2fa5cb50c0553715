//! Seeded random numbers: [`uniform`] and [`normal`], from a place in a sequence ([`Philox`]).
//!
//! Each element is a function of the seed and its index alone (Philox4x32-10; Salmon, Moraes, Dror and Shaw 2011,
//! *Parallel Random Numbers: As Easy as 1, 2, 3*). So the numbers do not depend on how an array is divided or on the
//! number of workers. They do not depend on the device either, except that [`normal`] uses the device's own sine and
//! cosine, which may differ in the last bit of an `f64`. Numbers are computed in `f64` and rounded once: all element
//! types hold the same ones.

use dahl::prelude::*;

use crate::cpu::philox::{Distribution, Fill};

/// Which random numbers: the sequence of a seed, from an offset on.
///
/// ```
/// use dahl::ops::{Philox, uniform};
/// use dahl::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let (mut whole, mut rest) = (rt.zeros::<f32, 1>([10])?, rt.zeros::<f32, 1>([6])?);
/// uniform(&mut whole, -1.0, 1.0, Philox::new(42))?;
/// uniform(&mut rest, -1.0, 1.0, Philox::new(42).skip(4))?;
/// assert_eq!(whole.to_vec()?[4..], rest.to_vec()?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Argument)]
#[repr(C)]
pub struct Philox {
    /// The seed.
    pub seed: u64,
    /// The index of the first number: 0 for a whole array; for a part along the first axis, the number of elements
    /// before it.
    pub offset: u64,
}

impl Philox {
    /// The sequence of `seed`, from its beginning.
    pub const fn new(seed: u64) -> Self {
        Self { seed, offset: 0 }
    }

    /// Skips the next `numbers` numbers.
    pub const fn skip(mut self, numbers: u64) -> Self {
        self.offset = self.offset.wrapping_add(numbers);
        self
    }
}

/// Whether numbers between the bounds can be drawn.
fn is_interval(low: f64, high: f64) -> bool {
    low.is_finite() && high.is_finite() && low <= high
}

/// Whether there is such a deviation.
fn is_deviation(deviation: f64) -> bool {
    deviation.is_finite() && deviation >= 0.0
}

/// Fills `out` with independent numbers, uniform in the half-open interval from `low` to `high`, which it excludes. The
/// bounds count as rounded to the element type; if both are the same number of it then, all are that number, and numbers
/// above its largest become the largest.
#[codelet(W, check(is_interval(low, high)), gradient = none, cuda = crate::kernels::UNIFORM)]
pub fn uniform<T: Real>(out: &mut [T], low: f64, high: f64, numbers: Philox) {
    dahl::simd::dispatch(Fill {
        out,
        distribution: Distribution::Uniform { low, high },
        seed: numbers.seed,
        offset: numbers.offset,
    });
}

/// Fills `out` with independent normal numbers of the given mean and standard deviation (Box and Muller 1958, *A Note
/// on the Generation of Random Normal Deviates*). A deviation of 0 gives the mean.
#[codelet(W, check(mean.is_finite()), check(is_deviation(deviation)), gradient = none, cuda = crate::kernels::NORMAL)]
pub fn normal<T: Real>(out: &mut [T], mean: f64, deviation: f64, numbers: Philox) {
    dahl::simd::dispatch(Fill {
        out,
        distribution: Distribution::Normal { mean, deviation },
        seed: numbers.seed,
        offset: numbers.offset,
    });
}
