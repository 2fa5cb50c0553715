use dahl::ops;
use dahl::prelude::*;

use super::closeness::Closeness;
use super::fixture::{LAYOUTS, Stem};

/// Losses, and their gradients by the prediction.
macro_rules! losses {
    ($($op:ident $op_init:ident $backward:ident $backward_self:ident $backward_init:ident),*) => {$(
        fn $op<T: Real>() -> Closeness {
            let rt = Runtime::new().unwrap();
            let arena = rt.arena();
            let (stem, mut closeness) = (Stem::open("elementwise"), Closeness::default());
            for case in stem.cases(stringify!($op), "binary", T::NAME) {
                closeness.cases += 1;
                let factor = case.real("factor");
                for layout in LAYOUTS {
                    let [x, y] = ["x", "y"].map(|role| case.placed::<T, 2>(&rt, role, layout));
                    let mut out = case.zeros::<T, 0>(&rt, "out");
                    x.read(|x| {
                        y.read(|y| {
                            ops::$op(x, y, &mut out, factor).unwrap();
                            closeness.compare(&case, "out", &ops::$op_init(&arena, x, y, factor).unwrap());
                        });
                    });
                    closeness.compare(&case, "out", &out);
                }
            }
            closeness
        }

        fn $backward<T: Real>() -> Closeness {
            let rt = Runtime::new().unwrap();
            let arena = rt.arena();
            let (stem, mut closeness) = (Stem::open("elementwise"), Closeness::default());
            for case in stem.cases(stringify!($op), "binary", T::NAME) {
                closeness.cases += 1;
                let factor = case.real("factor");
                for layout in LAYOUTS {
                    let [mut x, y] = ["x", "y"].map(|role| case.placed::<T, 2>(&rt, role, layout));
                    let mut out = case.unwritten::<T, 2>(&rt, "by_x", layout);
                    y.read(|y| {
                        x.read(|x| {
                            out.write(|out| ops::$backward(x, y, out, factor)).unwrap();
                            closeness.compare(&case, "by_x", &ops::$backward_init(&arena, x, y, factor).unwrap());
                        });
                        x.write(|x| ops::$backward_self(x, y, factor)).unwrap();
                    });
                    out.read(|out| closeness.compare(&case, "by_x", out));
                    x.read(|x| closeness.compare(&case, "by_x", x));
                }
            }
            closeness
        }
    )*};
}

losses!(
    mean_squared_error mean_squared_error_init
        mean_squared_error_backward mean_squared_error_backward_self mean_squared_error_backward_init,
    mean_absolute_error mean_absolute_error_init
        mean_absolute_error_backward mean_absolute_error_backward_self mean_absolute_error_backward_init
);

for_each_real!(
    at least 9: mean_squared_error, mean_squared_error_backward, mean_absolute_error, mean_absolute_error_backward,
);
