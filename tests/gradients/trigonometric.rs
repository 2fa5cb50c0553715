//! Trigonometric functions and their inverses.

use dahl::ops::*;

function!(sin: sin_init, sin_backward_init(x), x in -9.0..9.0);
function!(cos: cos_init, cos_backward_init(x), x in -9.0..9.0);
function!(tan: tan_init, tan_backward_init(output), x in -1.25..1.25);
function!(asin: asin_init, asin_backward_init(x), x in -0.9..0.9);
function!(acos: acos_init, acos_backward_init(x), x in -0.9..0.9);
function!(atan: atan_init, atan_backward_init(x), x in -9.0..9.0);

gradients!(atan2_to_the_right: [y: [4, 5] in -3.0..3.0, x: [4, 5] in 0.25..3.0],
    |arena| atan2_init(arena, y, x),
    |_, gradient| [atan2_backward_y_init(arena, y, x, gradient), atan2_backward_x_init(arena, y, x, gradient)]
);

gradients!(atan2_above: [y: [4, 5] in 0.25..3.0, x: [4, 5] in -3.0..3.0],
    |arena| atan2_init(arena, y, x),
    |_, gradient| [atan2_backward_y_init(arena, y, x, gradient), atan2_backward_x_init(arena, y, x, gradient)]
);
