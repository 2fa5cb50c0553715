//! Padding.

use dahl::ops::{PadMode, pad_copies_init, pad_init};

gradients!(with_a_value: [input: [2, 3, 4]], |tape| pad_init(tape, input, [1, 0, 2], [0, 0, 1], 0.5), with linear());
gradients!(with_nothing: [input: [2, 3]], |tape| pad_init(tape, input, [0, 0], [0, 0], 0.5), with linear());

/// Tests of a mode.
macro_rules! copies {
    ($test:ident: $mode:expr) => {
        gradients!($test: [input: [2, 3, 4]], |tape| pad_copies_init(tape, input, [1, 0, 2], [0, 2, 3], $mode), with linear());
    };
}

copies!(that_reflect: PadMode::Reflect);
copies!(of_edges: PadMode::Replicate);
copies!(in_a_circle: PadMode::Circular);
