use dahl::testing::{Describes, Input, holding};

use super::*;

/// Integers, whose type the codelet does not fix.
fn integers<const N: usize>(shape: [usize; N], values: &[f64]) -> Input<u32, N> {
    Describes::<u32>::describe(holding(shape, values))
}

// `tests/ops` compares the losses with the sums over all paths. The last sequence is too short for its target.
numerics!(
    gradient of ctc: ops::codelets::Ctc,
    (
        within(-3.0, -0.1, [6, 4, 4]),
        integers([4, 3], &[0.0, 2.0, 3.0, 2.0, 2.0, 0.0, 0.0, 0.0, 0.0, 3.0, 3.0, 3.0]),
        integers([4], &[6.0, 5.0, 4.0, 4.0]),
        integers([4], &[3.0, 2.0, 0.0, 3.0]),
        _
    ),
    (ops::CtcOptions { blank: 1, zero_infinity: true, per_target: true },)
);
