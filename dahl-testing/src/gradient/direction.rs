//! Random directions, the same for the same seed.

/// What random numbers are used for.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    /// A direction in which inputs move.
    Direction,
    /// A gradient of the output.
    OutputGradient,
    /// The values of an input.
    Values,
}

/// `len` numbers of random sign with magnitudes from 0.5 to 1: every element counts, and the error of a wrong gradient
/// cancels only by chance.
pub(super) fn draw(seed: u64, purpose: Purpose, number: usize, len: usize) -> Vec<f64> {
    let mut random = fastrand::Rng::with_seed(seed);
    random = fastrand::Rng::with_seed(random.u64(..) ^ (3 * number as u64 + purpose as u64));
    let mut signed = || {
        let magnitude = 0.5 + 0.5 * random.f64();
        if random.bool() { magnitude } else { -magnitude }
    };
    (0..len).map(|_| signed()).collect()
}
