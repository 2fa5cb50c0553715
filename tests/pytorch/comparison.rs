use dahl::ops;
use dahl::prelude::*;

use super::closeness::Closeness;
use super::fixture::{LAYOUTS, Stem};

macro_rules! comparisons {
    ($($op:ident $op_init:ident),*) => {$(
        fn $op<T: Real>() -> Closeness {
            let rt = Runtime::new().unwrap();
            let arena = rt.arena();
            let (stem, mut closeness) = (Stem::open("elementwise"), Closeness::default());
            for case in stem.cases(stringify!($op), "binary", T::NAME) {
                closeness.cases += 1;
                for layout in LAYOUTS {
                    let [x, y] = ["x", "y"].map(|role| case.placed::<T, 2>(&rt, role, layout));
                    let mut out = case.unwritten::<u8, 2>(&rt, "out", layout);
                    x.read(|x| {
                        y.read(|y| {
                            out.write(|out| ops::$op(x, y, out)).unwrap();
                            closeness.compare_integers(&case, "out", &ops::$op_init(&arena, x, y).unwrap());
                        });
                    });
                    out.read(|out| closeness.compare_integers(&case, "out", out));
                }
            }
            closeness
        }
    )*};
}

comparisons!(
    equal equal_init, not_equal not_equal_init, less less_init, less_equal less_equal_init, greater greater_init,
    greater_equal greater_equal_init
);

fn select<T: Real>() -> Closeness {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (stem, mut closeness) = (Stem::open("elementwise"), Closeness::default());
    for case in stem.cases("select", "binary", T::NAME) {
        closeness.cases += 1;
        let mask = case.array::<u8, 2>(&rt, "mask");
        for layout in LAYOUTS {
            let [x, y] = ["x", "y"].map(|role| case.placed::<T, 2>(&rt, role, layout));
            let mut out = case.unwritten::<T, 2>(&rt, "out", layout);
            x.read(|x| {
                y.read(|y| {
                    out.write(|out| ops::select(&mask, x, y, out)).unwrap();
                    closeness.compare(&case, "out", &ops::select_init(&arena, &mask, x, y).unwrap());
                });
            });
            out.read(|out| closeness.compare(&case, "out", out));
        }
    }
    closeness
}

/// The gradients of `select` by a tape, by the input that `role` names.
fn select_by<T: Real>(role: &str) -> Closeness {
    let rt = Runtime::new().unwrap();
    let tape = rt.tape();
    let (stem, mut closeness) = (Stem::open("elementwise"), Closeness::default());
    for case in stem.cases("select", "binary", T::NAME) {
        closeness.cases += 1;
        let mask = case.array::<u8, 2>(&rt, "mask");
        let [x, y, gradient] = ["x", "y", "gradient"].map(|role| case.array::<T, 2>(&rt, role));
        let out = ops::select_init(&tape, &mask, &x, &y).unwrap();
        let by = if role == "by_x" { &x } else { &y };
        closeness.compare(&case, role, &tape.gradients_from(&out, &gradient, by).unwrap());
    }
    closeness
}

fn select_by_x<T: Real>() -> Closeness {
    select_by::<T>("by_x")
}

fn select_by_y<T: Real>() -> Closeness {
    select_by::<T>("by_y")
}

for_each_real!(
    at least 10: equal, not_equal, less, less_equal, greater, greater_equal, select, select_by_x, select_by_y,
);
