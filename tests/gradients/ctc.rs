//! The loss by its input, of sequences of other lengths, one with equal neighbours and one without labels.

use dahl::ops::{CtcOptions, ctc_init};

const OPTIONS: CtcOptions = CtcOptions { blank: 1, zero_infinity: true, per_target: false };

/// The loss of four sequences, of which the last is too short for its target.
macro_rules! loss {
    ($tape:ident, $input:ident, $options:expr) => {
        ctc_init(
            $tape,
            $input,
            &$tape.detached().from_slice([4, 3], &[0, 2, 3, 2, 2, 0, 0, 0, 0, 3, 3, 3])?,
            &$tape.detached().from_slice([4], &[6, 5, 4, 4])?,
            &$tape.detached().from_slice([4], &[3, 2, 0, 3])?,
            $options,
        )
    };
}

gradients!(of_sequences: [input: [6, 4, 4] in -3.0..-0.1], |tape| loss!(tape, input, OPTIONS), first only);

gradients!(of_targets: [input: [6, 4, 4] in -3.0..-0.1],
    |tape| loss!(tape, input, CtcOptions { per_target: true, ..OPTIONS }),
    first only
);
