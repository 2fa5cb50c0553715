use super::*;

const POSITIONS: ops::RotaryPositions = ops::RotaryPositions { base: 100.0, offset: 5 };

// Where the range is limited, an infinite weight would be multiplied by what rounding decides: a small number or zero.
on_cpu!(
    layer_norm: layer_norm of ops::codelets::LayerNorm,
    ([13, 67], within(-1000.0, 1000.0, [67]), [67], _),
    (1e-5,)
);
// A block for each row; and rows of which threads cannot keep all elements.
on_cpu!(
    layer_norm_by_blocks: layer_norm of ops::codelets::LayerNorm,
    ([2, 1030], within(-1000.0, 1000.0, [1030]), [1030], _),
    (1e-5,)
);
on_cpu!(
    layer_norm_of_long_rows: layer_norm of ops::codelets::LayerNorm,
    ([2, 8500], within(-1000.0, 1000.0, [8500]), [8500], _),
    (1e-5,)
);
on_cpu!(
    layer_norm_backward_input: layer_norm_backward_input of ops::codelets::LayerNormBackwardInput,
    (within(-100.0, 100.0, [13, 67]), within(-100.0, 100.0, [67]), within(-100.0, 100.0, [13, 67]), _),
    (1e-5,)
);
on_cpu!(
    layer_norm_backward_input_by_blocks: layer_norm_backward_input of ops::codelets::LayerNormBackwardInput,
    (within(-100.0, 100.0, [2, 1030]), within(-100.0, 100.0, [1030]), within(-100.0, 100.0, [2, 1030]), _),
    (1e-5,)
);
// In parts of the rows; and with more columns than a block has.
on_cpu!(
    layer_norm_backward_weight: layer_norm_backward_weight of ops::codelets::LayerNormBackwardWeight,
    (within(-100.0, 100.0, [131, 13]), within(-100.0, 100.0, [131, 13]), _),
    (1e-5,)
);
on_cpu!(
    layer_norm_backward_weight_of_columns: layer_norm_backward_weight of ops::codelets::LayerNormBackwardWeight,
    (within(-100.0, 100.0, [5, 2, 67]), within(-100.0, 100.0, [5, 2, 67]), _),
    (1e-5,)
);
on_cpu!(rms_norm: rms_norm of ops::codelets::RmsNorm, ([13, 67], within(-1000.0, 1000.0, [67]), _), (1e-5,));
on_cpu!(
    rms_norm_backward_input: rms_norm_backward_input of ops::codelets::RmsNormBackwardInput,
    (within(-100.0, 100.0, [13, 67]), within(-100.0, 100.0, [67]), within(-100.0, 100.0, [13, 67]), _),
    (1e-5,)
);
on_cpu!(
    rms_norm_backward_weight: rms_norm_backward_weight of ops::codelets::RmsNormBackwardWeight,
    (within(-100.0, 100.0, [131, 13]), within(-100.0, 100.0, [131, 13]), _),
    (1e-5,)
);

// An infinity times a sine that is nearly 0 is infinite, but one times 0 is NaN.
on_cpu!(rotary: rotary of ops::codelets::Rotary, (within(-1e4, 1e4, [9, 31, 14]), _), (POSITIONS,));
on_cpu!(rotary_backward: rotary_backward of ops::codelets::RotaryBackward, (within(-1e4, 1e4, [3, 31, 14]), _), (POSITIONS,));
on_cpu!(dropout: dropout of ops::codelets::Dropout, ([31, 67], _), (0.25, ops::Philox::new(7)));
// From the second number of a pair on.
on_cpu!(dropout_of_a_part: dropout of ops::codelets::Dropout, ([31, 66], _), (0.75, ops::Philox { seed: 7, offset: 5 }));
