//! The loss by its logits.

use dahl::ops::{LossReduction, cross_entropy_each_init, cross_entropy_weighted_init};

const LABELS: [i64; 5] = [2, -100, 0, 2, 1];
const WEIGHTS: [f64; 3] = [0.5, 2.0, 1.25];

/// The loss of some samples, of which one does not count.
macro_rules! loss {
    ($tape:ident, $logits:ident, smoothing $smoothing:expr, $reduction:expr) => {
        cross_entropy_weighted_init(
            $tape,
            $logits,
            &$tape.detached().from_slice([5], &LABELS)?,
            &$tape.detached().from_slice([3], &WEIGHTS)?,
            $smoothing,
            -100,
            $reduction,
            1.5,
        )
    };
}

gradients!(of_weights: [logits: [5, 3]], |tape| loss!(tape, logits, smoothing 0.0, LossReduction::Sum));
gradients!(of_smoothing: [logits: [5, 3]], |tape| loss!(tape, logits, smoothing 0.3, LossReduction::Mean));

gradients!(of_each: [logits: [5, 3]],
    |tape| cross_entropy_each_init(
        tape,
        logits,
        &tape.detached().from_slice([5], &LABELS)?,
        &tape.detached().from_slice([1], &[0.75])?,
        0.1,
        -100
    )
);
