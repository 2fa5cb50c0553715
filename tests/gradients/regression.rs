//! Regression losses, by prediction and target.

use dahl::ops::*;

gradients!(mean_squared_error: [x: [4, 3], y: [4, 3]],
    |tape| mean_squared_error_init(tape, x, y, 0.25)
);

gradients!(mean_absolute_error: [x: [4, 3], y: [4, 3]],
    |tape| mean_absolute_error_init(tape, x, y, 0.25)
);

gradients!(squared_error: [x: [4, 3], y: [4, 3]], |tape| squared_error_init(tape, x, y));
gradients!(absolute_error: [x: [4, 3], y: [4, 3]], |tape| absolute_error_init(tape, x, y));
