use super::*;

numerics!(upsample_nearest: ops::codelets::UpsampleNearest, ([2, 3, 8, 7], _), ([11, 21],));
numerics!(
    upsample_nearest_backward: ops::codelets::UpsampleNearestBackward,
    ([2, 3, 11, 21], output([2, 3, 8, 7])),
    ([11, 21],)
);
numerics!(upsample_linear: ops::codelets::UpsampleLinear, ([2, 3, 8, 7], _), ([11, 21], false));
numerics!(upsample_linear_aligned: ops::codelets::UpsampleLinear, ([2, 3, 8, 7], _), ([11, 21], true));
numerics!(
    upsample_linear_backward: ops::codelets::UpsampleLinearBackward,
    ([2, 3, 11, 21], output([2, 3, 8, 7])),
    ([11, 21], false)
);
