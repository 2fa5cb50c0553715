use dahl::ops;
use dahl::prelude::*;

use super::closeness::Closeness;
use super::fixture::{LAYOUTS, Stem};

/// Compares reductions of all elements; those of `added` begin with the value of the output, here the identity.
macro_rules! of_all {
    ($($op:ident $op_init:ident $fixture:literal ($($argument:literal)?) from $start:expr),* $(,)?) => {$(
        fn $op<T: Real>() -> Closeness {
            let rt = Runtime::new().unwrap();
            let arena = rt.arena();
            let (stem, mut closeness) = (Stem::open("reduce"), Closeness::default());
            for case in stem.cases($fixture, "lanes", T::NAME) {
                closeness.cases += 1;
                for layout in LAYOUTS {
                    let input = case.placed::<T, 3>(&rt, "input", layout);
                    let mut out = rt.from_vec([], vec![$start]).unwrap();
                    input.read(|input| {
                        ops::$op(input, &mut out $(, $argument)?).unwrap();
                        closeness.compare(&case, "out", &ops::$op_init(&arena, input $(, $argument)?).unwrap());
                    });
                    closeness.compare::<T, 0>(&case, "out", &out);
                }
            }
            closeness
        }
    )*};
}

macro_rules! along_an_axis {
    ($($op:ident $op_init:ident $fixture:literal ($($argument:literal)?) from $start:expr),* $(,)?) => {$(
        fn $op<T: Real>() -> Closeness {
            let rt = Runtime::new().unwrap();
            let arena = rt.arena();
            let (stem, mut closeness) = (Stem::open("reduce"), Closeness::default());
            for case in stem.cases($fixture, "lanes", T::NAME) {
                closeness.cases += 1;
                let axis = case.count("axis");
                for layout in LAYOUTS {
                    let input = case.placed::<T, 3>(&rt, "input", layout);
                    let shape = case.shape::<3>("out");
                    let mut out = rt.from_vec(shape, vec![$start; shape.iter().product()]).unwrap();
                    input.read(|input| {
                        ops::$op(input, &mut out, axis $(, $argument)?).unwrap();
                        let made = ops::$op_init(&arena, input, axis $(, $argument)?).unwrap();
                        closeness.compare(&case, "out", &made);
                    });
                    closeness.compare::<T, 3>(&case, "out", &out);
                }
            }
            closeness
        }
    )*};
}

macro_rules! place_along_an_axis {
    ($($op:ident $op_init:ident),*) => {$(
        fn $op<T: Real>() -> Closeness {
            let rt = Runtime::new().unwrap();
            let arena = rt.arena();
            let (stem, mut closeness) = (Stem::open("reduce"), Closeness::default());
            for case in stem.cases(stringify!($op), "lanes", T::NAME) {
                closeness.cases += 1;
                let axis = case.count("axis");
                for layout in LAYOUTS {
                    let input = case.placed::<T, 3>(&rt, "input", layout);
                    let mut out = case.unwritten::<u32, 3>(&rt, "out", layout);
                    input.read(|input| {
                        out.write(|out| ops::$op(input, out, axis)).unwrap();
                        closeness.compare_integers(&case, "out", &ops::$op_init(&arena, input, axis).unwrap());
                    });
                    out.read(|out| closeness.compare_integers(&case, "out", out));
                }
            }
            closeness
        }
    )*};
}

/// Compares gradients that the shape of the input determines.
macro_rules! spread {
    ($($op:ident $fixture:literal $gradient:literal $gradient_rank:literal ($($axis:literal)?)),* $(,)?) => {$(
        fn $op<T: Real>() -> Closeness {
            let rt = Runtime::new().unwrap();
            let (stem, mut closeness) = (Stem::open("reduce"), Closeness::default());
            for case in stem.cases($fixture, "lanes", T::NAME) {
                closeness.cases += 1;
                for layout in LAYOUTS {
                    let gradient = case.placed::<T, $gradient_rank>(&rt, $gradient, layout);
                    let mut out = case.unwritten::<T, 3>(&rt, "by_input", layout);
                    gradient.read(|gradient| {
                        out.write(|out| ops::$op(gradient, out $(, case.count($axis))?)).unwrap();
                    });
                    out.read(|out| closeness.compare(&case, "by_input", out));
                }
            }
            closeness
        }
    )*};
}

/// Compares gradients that depend on the input's values.
macro_rules! backward {
    ($($op:ident $fixture:literal $gradient:literal $gradient_rank:literal ($($axis:literal)?) ($($argument:literal)?)),* $(,)?) => {$(
        fn $op<T: Real>() -> Closeness {
            let rt = Runtime::new().unwrap();
            let (stem, mut closeness) = (Stem::open("reduce"), Closeness::default());
            for case in stem.cases($fixture, "lanes", T::NAME) {
                closeness.cases += 1;
                for layout in LAYOUTS {
                    let input = case.placed::<T, 3>(&rt, "input", layout);
                    let gradient = case.placed::<T, $gradient_rank>(&rt, $gradient, layout);
                    let mut out = case.unwritten::<T, 3>(&rt, "by_input", layout);
                    input.read(|input| gradient.read(|gradient| out.write(|out| {
                        ops::$op(input, gradient, out $(, case.count($axis))? $(, $argument)?).unwrap();
                    })));
                    out.read(|out| closeness.compare(&case, "by_input", out));
                }
            }
            closeness
        }
    )*};
}

of_all!(
    sum sum_init "sum" () from T::ZERO,
    mean mean_init "mean" () from T::NAN,
    max max_init "max" () from T::LOWEST,
    min min_init "min" () from T::HIGHEST,
    product product_init "product" () from T::NAN,
    norm norm_init "norm" () from T::NAN,
    norm_l1 norm_l1_init "norm_l1" () from T::ZERO,
    variance variance_init "variance_1" (1) from T::NAN,
);

along_an_axis!(
    sum_axis sum_axis_init "sum_axis" () from T::ZERO,
    mean_axis mean_axis_init "mean_axis" () from T::NAN,
    max_axis max_axis_init "max_axis" () from T::LOWEST,
    min_axis min_axis_init "min_axis" () from T::HIGHEST,
    product_axis product_axis_init "product_axis" () from T::NAN,
    norm_axis norm_axis_init "norm_axis" () from T::NAN,
    norm_l1_axis norm_l1_axis_init "norm_l1_axis" () from T::ZERO,
    variance_axis variance_axis_init "variance_0_axis" (0) from T::NAN,
);

place_along_an_axis!(arg_max arg_max_init, arg_min arg_min_init);

spread!(
    sum_backward "sum" "total_gradient" 0 (),
    mean_backward "mean" "total_gradient" 0 (),
    sum_axis_backward "sum_axis" "gradient" 3 ("axis"),
    mean_axis_backward "mean_axis" "gradient" 3 ("axis"),
);

backward!(
    max_backward "max" "total_gradient" 0 () (),
    min_backward "min" "total_gradient" 0 () (),
    product_backward "product" "total_gradient" 0 () (),
    norm_backward "norm" "total_gradient" 0 () (),
    variance_backward "variance_1" "total_gradient" 0 () (1),
    max_axis_backward "max_axis" "gradient" 3 ("axis") (),
    min_axis_backward "min_axis" "gradient" 3 ("axis") (),
    product_axis_backward "product_axis" "gradient" 3 ("axis") (),
    norm_axis_backward "norm_axis" "gradient" 3 ("axis") (),
    variance_axis_backward "variance_0_axis" "gradient" 3 ("axis") (0),
);

for_each_real!(
    at least 20: sum, mean, max, min, product, norm, norm_l1, variance, sum_axis, mean_axis, max_axis, min_axis, product_axis,
    norm_axis, norm_l1_axis, variance_axis, arg_max, arg_min, sum_backward, mean_backward, max_backward,
    min_backward, product_backward, norm_backward, variance_backward, sum_axis_backward, mean_axis_backward,
    max_axis_backward, min_axis_backward, product_axis_backward, norm_axis_backward, variance_axis_backward,
);
