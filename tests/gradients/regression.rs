//! Regression losses, by prediction and target.

use dahl::ops::*;

gradients!(mean_squared_error: [x: [4, 3], y: [4, 3]],
    |arena| mean_squared_error_init(arena, x, y, 0.25),
    |_, gradient| [
        mean_squared_error_backward_init(arena, x, y, 0.25 * gradient.read()?[[]]),
        mean_squared_error_backward_init(arena, y, x, 0.25 * gradient.read()?[[]]),
    ]
);

gradients!(mean_absolute_error: [x: [4, 3], y: [4, 3]],
    |arena| mean_absolute_error_init(arena, x, y, 0.25),
    |_, gradient| [
        mean_absolute_error_backward_init(arena, x, y, 0.25 * gradient.read()?[[]]),
        mean_absolute_error_backward_init(arena, y, x, 0.25 * gradient.read()?[[]]),
    ]
);
