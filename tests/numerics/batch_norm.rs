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
