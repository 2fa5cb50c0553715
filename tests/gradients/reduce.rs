//! Sums, means and extremes.

use dahl::ops::*;

use super::into;

gradients!(sum: [input: [3, 4]],
    |arena| sum_init(arena, input),
    |_, gradient| [into(arena, input, |out| sum_backward(gradient, out))],
    with linear()
);

gradients!(mean: [input: [3, 4]],
    |arena| mean_init(arena, input),
    |_, gradient| [into(arena, input, |out| mean_backward(gradient, out))],
    with linear()
);

gradients!(max: [input: [3, 4]],
    |arena| max_init(arena, input),
    |_, gradient| [max_backward_init(arena, input, gradient)]
);

gradients!(min: [input: [3, 4]],
    |arena| min_init(arena, input),
    |_, gradient| [min_backward_init(arena, input, gradient)]
);

/// Tests of the reductions along an axis.
macro_rules! along {
    ($test:ident: $axis:expr) => {
        mod $test {
            use super::*;

            gradients!(sum: [input: [2, 3, 4]],
                |arena| sum_axis_init(arena, input, $axis),
                |_, gradient| [into(arena, input, |out| sum_axis_backward(gradient, out, $axis))],
                with linear()
            );

            gradients!(mean: [input: [2, 3, 4]],
                |arena| mean_axis_init(arena, input, $axis),
                |_, gradient| [into(arena, input, |out| mean_axis_backward(gradient, out, $axis))],
                with linear()
            );

            gradients!(max: [input: [2, 3, 4]],
                |arena| max_axis_init(arena, input, $axis),
                |_, gradient| [max_axis_backward_init(arena, input, gradient, $axis)]
            );

            gradients!(min: [input: [2, 3, 4]],
                |arena| min_axis_init(arena, input, $axis),
                |_, gradient| [min_axis_backward_init(arena, input, gradient, $axis)]
            );
        }
    };
}

along!(first_axis: 0);
along!(middle_axis: 1);
along!(last_axis: 2);
