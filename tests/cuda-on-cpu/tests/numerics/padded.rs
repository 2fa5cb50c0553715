use dahl::ops::PadMode;

use super::*;

on_cpu!(pad: pad of ops::codelets::Pad, ([3, 31, 7], _), ([1, 0, 2], [0, 3, 1], T::from_f64(0.75)));
on_cpu!(pad_reflect: pad_copies of ops::codelets::PadCopies, ([3, 31, 7], _), ([2, 0, 6], [1, 3, 5], PadMode::Reflect));
on_cpu!(pad_replicate: pad_copies of ops::codelets::PadCopies, ([3, 31, 7], _), ([2, 0, 9], [1, 3, 5], PadMode::Replicate));
on_cpu!(pad_circular: pad_copies of ops::codelets::PadCopies, ([3, 31, 7], _), ([3, 0, 7], [1, 3, 5], PadMode::Circular));
on_cpu!(
    pad_reflect_backward: pad_copies_backward of ops::codelets::PadCopiesBackward,
    ([6, 34, 18], output([3, 31, 7])),
    ([2, 0, 6], [1, 3, 5], PadMode::Reflect)
);
on_cpu!(
    pad_replicate_backward: pad_copies_backward of ops::codelets::PadCopiesBackward,
    ([6, 34, 21], output([3, 31, 7])),
    ([2, 0, 9], [1, 3, 5], PadMode::Replicate)
);
on_cpu!(
    pad_circular_backward: pad_copies_backward of ops::codelets::PadCopiesBackward,
    ([7, 34, 19], output([3, 31, 7])),
    ([3, 0, 7], [1, 3, 5], PadMode::Circular)
);
on_cpu!(upsample_nearest: upsample_nearest of ops::codelets::UpsampleNearest, ([2, 3, 8, 7], _), ([11, 21],));
on_cpu!(
    upsample_nearest_backward: upsample_nearest_backward of ops::codelets::UpsampleNearestBackward,
    ([2, 3, 11, 21], output([2, 3, 8, 7])),
    ([11, 21],)
);
// Fewer points than elements: some elements have no copy.
on_cpu!(
    downsample_nearest_backward: upsample_nearest_backward of ops::codelets::UpsampleNearestBackward,
    ([2, 3, 5, 7], output([2, 3, 8, 20])),
    ([5, 7],)
);
on_cpu!(upsample_linear: upsample_linear of ops::codelets::UpsampleLinear, ([2, 3, 8, 7], _), ([11, 21], false));
on_cpu!(upsample_linear_aligned: upsample_linear of ops::codelets::UpsampleLinear, ([2, 3, 8, 7], _), ([11, 21], true));
on_cpu!(upsample_linear_of_volumes: upsample_linear of ops::codelets::UpsampleLinear, ([2, 2, 3, 4, 5], _), ([5, 3, 9], false));
on_cpu!(
    upsample_linear_backward: upsample_linear_backward of ops::codelets::UpsampleLinearBackward,
    ([2, 3, 11, 21], output([2, 3, 8, 7])),
    ([11, 21], false)
);
on_cpu!(
    upsample_linear_backward_aligned: upsample_linear_backward of ops::codelets::UpsampleLinearBackward,
    ([2, 3, 11, 21], output([2, 3, 8, 7])),
    ([11, 21], true)
);
on_cpu!(
    downsample_linear_backward: upsample_linear_backward of ops::codelets::UpsampleLinearBackward,
    ([2, 3, 4, 1, 3], output([2, 3, 9, 2, 8])),
    ([4, 1, 3], false)
);
