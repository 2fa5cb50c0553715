use super::*;

// `tests/ops` compares the results, whose bounds depend on the statistics.
numerics!(
    gradient of group_norm: ops::codelets::GroupNorm,
    ([3, 6, 5], [6], [6], _),
    (2, T::from_f64(1.0 / 1024.0))
);
numerics!(
    gradient of group_norm_backward: ops::codelets::GroupNormBackward,
    ([3, 6, 5], [6], [3, 6, 5], _, _, _),
    (2, T::from_f64(1.0 / 1024.0))
);
