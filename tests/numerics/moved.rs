use super::*;

numerics!(copy: ops::Copy, ([31, 67], _), ());
numerics!(fill: ops::Fill, (output([31, 67])), (T::from_f64(0.75),));
numerics!(transpose: ops::Transpose, ([31, 67], _), ());
numerics!(rotate_180: ops::Rotate180, ([3, 31, 7], _), ());
numerics!(diag: ops::Diag, ([31], _), ());
numerics!(diagonal: ops::Diagonal, ([31, 7], _), ());
numerics!(diagonal_backward: ops::DiagonalBackward, ([7], output([31, 7])), ());
numerics!(slice: ops::Slice, ([3, 31, 7], _), (1, 5, 13));
numerics!(slice_backward: ops::SliceBackward, ([3, 13, 7], output([3, 31, 7])), (1, 5));
numerics!(tile: ops::Tile, ([3, 31, 7], _), (1, 3));
numerics!(gather: ops::Gather, ([3, 31, 7], below(31, [3, 67, 5]), _), (1,));
numerics!(gather_rows: ops::GatherRows, ([31, 7], below(31, [67]), _), ());
numerics!(index_select: ops::IndexSelect, ([3, 31, 7], below(31, [67]), _), (1,));
