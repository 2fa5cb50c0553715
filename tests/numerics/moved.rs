use super::*;

numerics!(copy: ops::codelets::Copy, ([31, 67], _), ());
numerics!(fill: ops::codelets::Fill, (output([31, 67])), (T::from_f64(0.75),));
numerics!(transpose: ops::codelets::Transpose, ([31, 67], _), ());
numerics!(rotate_180: ops::codelets::Rotate180, ([3, 31, 7], _), ());
numerics!(diag: ops::codelets::Diag, ([31], _), ());
numerics!(diagonal: ops::codelets::Diagonal, ([31, 7], _), ());
numerics!(diagonal_backward: ops::codelets::DiagonalBackward, ([7], output([31, 7])), ());
numerics!(slice: ops::codelets::Slice, ([3, 31, 7], _), (1, 5, 13));
numerics!(slice_backward: ops::codelets::SliceBackward, ([3, 13, 7], output([3, 31, 7])), (1, 5));
numerics!(tile: ops::codelets::Tile, ([3, 31, 7], _), (1, 3));
numerics!(gather: ops::codelets::Gather, ([3, 31, 7], below(31, [3, 67, 5]), _), (1,));
numerics!(gather_rows: ops::codelets::GatherRows, ([31, 7], below(31, [67]), _), ());
numerics!(index_select: ops::codelets::IndexSelect, ([3, 31, 7], below(31, [67]), _), (1,));
