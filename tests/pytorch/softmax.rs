use dahl::ops;
use dahl::prelude::*;

use super::closeness::Closeness;
use super::fixture::{LAYOUTS, Stem};

macro_rules! along_an_axis {
    ($($op:ident $op_self:ident $op_init:ident),*) => {$(
        fn $op<T: Real>() -> Closeness {
            let rt = Runtime::new().unwrap();
            let arena = rt.arena();
            let (stem, mut closeness) = (Stem::open("softmax"), Closeness::default());
            for case in stem.cases(stringify!($op), "lanes", T::NAME) {
                closeness.cases += 1;
                let axis = case.count("axis");
                for layout in LAYOUTS {
                    let mut input = case.placed::<T, 3>(&rt, "input", layout);
                    let mut out = case.unwritten(&rt, "out", layout);
                    input.read(|input| {
                        out.write(|out| ops::$op(input, out, axis)).unwrap();
                        closeness.compare(&case, "out", &ops::$op_init(&arena, input, axis).unwrap());
                    });
                    out.read(|out| closeness.compare(&case, "out", out));
                    input.write(|input| ops::$op_self(input, axis)).unwrap();
                    input.read(|input| closeness.compare(&case, "out", input));
                }
            }
            closeness
        }
    )*};
}

along_an_axis!(softmax softmax_self softmax_init, log_softmax log_softmax_self log_softmax_init);

for_each_real!(at least 20: softmax, log_softmax);
