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

fn select_backward<T: Real>() -> Closeness {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (stem, mut closeness) = (Stem::open("elementwise"), Closeness::default());
    for case in stem.cases("select", "binary", T::NAME) {
        closeness.cases += 1;
        let mask = case.array::<u8, 2>(&rt, "mask");
        for layout in LAYOUTS {
            let mut gradient = case.placed::<T, 2>(&rt, "gradient", layout);
            gradient.read(|gradient| {
                let made = ops::select_backward_init(&arena, &mask, gradient).unwrap();
                closeness.compare(&case, "by_x", &made);
            });
            gradient.write(|gradient| ops::select_backward_self(&mask, gradient)).unwrap();
            gradient.read(|gradient| closeness.compare(&case, "by_x", gradient));
        }
    }
    closeness
}

for_each_real!(
    at least 10: equal, not_equal, less, less_equal, greater, greater_equal, select, select_backward,
);
