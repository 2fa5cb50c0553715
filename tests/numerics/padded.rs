use super::*;

numerics!(pad: ops::codelets::Pad, ([3, 31, 7], _), ([1, 0, 2], [0, 3, 1], T::from_f64(0.75)));
numerics!(pad_reflect: ops::codelets::PadCopies, ([3, 31, 7], _), ([2, 0, 6], [1, 3, 5], ops::PadMode::Reflect));
numerics!(pad_replicate: ops::codelets::PadCopies, ([3, 31, 7], _), ([2, 0, 9], [1, 3, 5], ops::PadMode::Replicate));
numerics!(pad_circular: ops::codelets::PadCopies, ([3, 31, 7], _), ([3, 0, 7], [1, 3, 5], ops::PadMode::Circular));
numerics!(
    pad_reflect_backward: ops::codelets::PadCopiesBackward,
    ([6, 34, 18], output([3, 31, 7])),
    ([2, 0, 6], [1, 3, 5], ops::PadMode::Reflect)
);
numerics!(
    pad_replicate_backward: ops::codelets::PadCopiesBackward,
    ([6, 34, 21], output([3, 31, 7])),
    ([2, 0, 9], [1, 3, 5], ops::PadMode::Replicate)
);
numerics!(permute: ops::codelets::Permute, ([3, 31, 7], _), (ops::AxisOrder::new([2, 0, 1]),));
