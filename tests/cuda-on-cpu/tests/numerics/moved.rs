use super::*;

on_cpu!(copy: copy of ops::codelets::Copy, ([31, 67], _), ());
on_cpu!(fill: fill of ops::codelets::Fill, (output([31, 67])), (T::from_f64(0.75),));
on_cpu!(transpose: transpose of ops::codelets::Transpose, ([31, 67], _), ());
on_cpu!(rotate_180: rotate_180 of ops::codelets::Rotate180, ([3, 31, 7], _), ());
on_cpu!(diag: diag of ops::codelets::Diag, ([31], _), ());
on_cpu!(diagonal: diagonal of ops::codelets::Diagonal, ([31, 7], _), ());
on_cpu!(diagonal_backward: diagonal_backward of ops::codelets::DiagonalBackward, ([7], output([31, 7])), ());
on_cpu!(slice: slice of ops::codelets::Slice, ([3, 31, 7], _), (1, 5, 13));
on_cpu!(slice_backward: slice_backward of ops::codelets::SliceBackward, ([3, 13, 7], output([3, 31, 7])), (1, 5));
on_cpu!(tile: tile of ops::codelets::Tile, ([3, 31, 7], _), (1, 3));
on_cpu!(tile_backward: tile_backward of ops::codelets::TileBackward, ([3, 93, 7], _), (1, 3));
on_cpu!(permute: permute of ops::codelets::Permute, ([3, 31, 7], _), (ops::AxisOrder::new([2, 0, 1]),));
// Tiles of two axes, of which neither is the first, and more than one of each; and runs along the last axis.
on_cpu!(permute_in_tiles: permute of ops::codelets::Permute, ([2, 40, 3, 67], _), (ops::AxisOrder::new([2, 3, 0, 1]),));
on_cpu!(permute_in_runs: permute of ops::codelets::Permute, ([5, 3, 31], _), (ops::AxisOrder::new([1, 0, 2]),));
on_cpu!(split_heads: split_heads of ops::codelets::SplitHeads, ([2, 7, 30], _, _, _), (ops::Heads::new(4).shared_keys(1),));
on_cpu!(join_heads: join_heads of ops::codelets::JoinHeads, ([2, 4, 7, 5], [2, 1, 7, 5], [2, 1, 7, 5], _), ());
on_cpu!(merge_heads: merge_heads of ops::codelets::MergeHeads, ([2, 3, 7, 5], _), ());
on_cpu!(divide_heads: divide_heads of ops::codelets::DivideHeads, ([2, 7, 15], output([2, 3, 7, 5])), ());
on_cpu!(gather: gather of ops::codelets::Gather, ([3, 31, 7], below(31, [3, 67, 5]), _), (1,));
on_cpu!(gather_rows: gather_rows of ops::codelets::GatherRows, ([31, 7], below(31, [67]), _), ());
on_cpu!(index_select: index_select of ops::codelets::IndexSelect, ([3, 31, 7], below(31, [67]), _), (1,));
on_cpu!(
    gather_backward: gather_backward of ops::codelets::GatherBackward,
    ([3, 67, 5], below(31, [3, 67, 5]), output([3, 31, 7])),
    (1,)
);
on_cpu!(
    index_select_backward: index_select_backward of ops::codelets::IndexSelectBackward,
    ([3, 67, 7], below(31, [67]), output([3, 31, 7])),
    (1,)
);
