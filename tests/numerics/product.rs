use super::*;

numerics!(product: ops::codelets::Product, ([5, 31], _), ());
numerics!(product_axis: ops::codelets::ProductAxis, ([3, 31, 5], _), (1,));
numerics!(product_backward: ops::codelets::ProductBackward, ([5, 7], [], _), ());
numerics!(product_axis_backward: ops::codelets::ProductAxisBackward, ([3, 31, 5], [3, 1, 5], _), (1,));
