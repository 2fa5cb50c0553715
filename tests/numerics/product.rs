use super::*;

numerics!(product: ops::Product, ([5, 31], _), ());
numerics!(product_axis: ops::ProductAxis, ([3, 31, 5], _), (1,));
numerics!(product_backward: ops::ProductBackward, ([5, 7], [], _), ());
numerics!(product_axis_backward: ops::ProductAxisBackward, ([3, 31, 5], [3, 1, 5], _), (1,));
