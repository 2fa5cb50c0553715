//! The loss by its input.

use dahl::ops::{LossReduction, nll_each_init, nll_init};

const LABELS: [i64; 5] = [2, -100, 0, 2, 1];
const WEIGHTS: [f64; 3] = [0.5, 2.0, 1.25];

gradients!(of_all: [input: [5, 3]],
    |tape| nll_init(
        tape,
        input,
        &tape.detached().from_slice([5], &LABELS)?,
        &tape.detached().from_slice([3], &WEIGHTS)?,
        -100,
        LossReduction::Mean,
        1.5
    ),
    first only
);

gradients!(of_each: [input: [5, 3]],
    |tape| nll_each_init(
        tape,
        input,
        &tape.detached().from_slice([5], &LABELS)?,
        &tape.detached().from_slice([3], &WEIGHTS)?,
        -100
    ),
    first only
);
