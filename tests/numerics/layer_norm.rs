use super::*;

// Where the range is limited, an infinite weight would be multiplied by what rounding decides: a small number or zero.
numerics!(
    layer_norm: ops::codelets::LayerNorm,
    ([7, 67], within(-1000.0, 1000.0, [67]), [67], _),
    (1e-5,)
);
numerics!(
    layer_norm_backward_input: ops::codelets::LayerNormBackwardInput,
    (within(-100.0, 100.0, [7, 67]), within(-100.0, 100.0, [67]), within(-100.0, 100.0, [7, 67]), _),
    (1e-5,)
);
numerics!(
    layer_norm_backward_weight: ops::codelets::LayerNormBackwardWeight,
    (within(-100.0, 100.0, [131, 13]), within(-100.0, 100.0, [131, 13]), _),
    (1e-5,)
);
numerics!(rms_norm: ops::codelets::RmsNorm, ([7, 67], within(-1000.0, 1000.0, [67]), _), (1e-5,));
numerics!(
    rms_norm_backward_input: ops::codelets::RmsNormBackwardInput,
    (within(-100.0, 100.0, [7, 67]), within(-100.0, 100.0, [67]), within(-100.0, 100.0, [7, 67]), _),
    (1e-5,)
);
numerics!(
    rms_norm_backward_weight: ops::codelets::RmsNormBackwardWeight,
    (within(-100.0, 100.0, [131, 13]), within(-100.0, 100.0, [131, 13]), _),
    (1e-5,)
);
