//! Sums, means and extremes.

use dahl::ops::*;

gradients!(sum: [input: [3, 4]],
    |tape| sum_init(tape, input),
    with linear()
);

gradients!(mean: [input: [3, 4]],
    |tape| mean_init(tape, input),
    with linear()
);

gradients!(max: [input: [3, 4]],
    |tape| max_init(tape, input)
);

gradients!(min: [input: [3, 4]],
    |tape| min_init(tape, input)
);

/// Tests of the reductions along an axis.
macro_rules! along {
    ($test:ident: $axis:expr) => {
        mod $test {
            use super::*;

            gradients!(sum: [input: [2, 3, 4]],
                |tape| sum_axis_init(tape, input, $axis),
                with linear()
            );

            gradients!(mean: [input: [2, 3, 4]],
                |tape| mean_axis_init(tape, input, $axis),
                with linear()
            );

            gradients!(max: [input: [2, 3, 4]],
                |tape| max_axis_init(tape, input, $axis)
            );

            gradients!(min: [input: [2, 3, 4]],
                |tape| min_axis_init(tape, input, $axis)
            );
        }
    };
}

along!(first_axis: 0);
along!(middle_axis: 1);
along!(last_axis: 2);

gradients!(sum_axes: [input: [2, 3, 4]],
    |tape| sum_axes_init(tape, input, [0, 2]),
    with linear()
);
