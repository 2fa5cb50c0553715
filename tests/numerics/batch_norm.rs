use super::*;

numerics!(
    batch_norm_inference: ops::codelets::BatchNormInference,
    (
        within(-8.0, 8.0, [31, 67]),
        within(-2.0, 2.0, [31, 67]),
        within(-2.0, 2.0, [31, 67]),
        within(-8.0, 8.0, [31, 67]),
        within(0.25, 8.0, [31, 67]),
        _
    ),
    (T::from_f64(1e-5),)
);

// `tests/ops` compares the results, whose bounds depend on the statistics.
numerics!(
    gradient of batch_norm: ops::codelets::BatchNorm,
    ([5, 3, 4], [3], [3], _, _, _),
    (T::from_f64(1.0 / 1024.0),)
);
numerics!(
    gradient of batch_norm_backward: ops::codelets::BatchNormBackward,
    ([5, 3, 4], [3], [5, 3, 4], _, _, _),
    (T::from_f64(1.0 / 1024.0),)
);
