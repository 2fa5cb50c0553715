use super::*;

numerics!(tile_backward: ops::codelets::TileBackward, ([3, 93, 7], _), (1, 3));
numerics!(
    gather_backward: ops::codelets::GatherBackward,
    ([3, 67, 5], below(31, [3, 67, 5]), output([3, 31, 7])),
    (1,)
);
numerics!(
    index_select_backward: ops::codelets::IndexSelectBackward,
    ([3, 67, 7], below(31, [67]), output([3, 31, 7])),
    (1,)
);
