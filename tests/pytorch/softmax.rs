use dahl::ops;
use dahl::prelude::*;

use super::closeness::Tally;
use super::fixture::{LAYOUTS, Stem};

macro_rules! along_an_axis {
    ($($op:ident $op_self:ident $op_init:ident),*) => {$(
        fn $op<T: Real>() -> Tally {
            let rt = Runtime::new().unwrap();
            let arena = rt.arena();
            let (stem, mut tally) = (Stem::open("softmax"), Tally::default());
            for case in stem.cases(stringify!($op), "lanes", T::NAME) {
                tally.cases += 1;
                let axis = case.count("axis");
                for layout in LAYOUTS {
                    let mut input = case.placed::<T, 3>(&rt, "input", layout);
                    let mut out = case.unwritten(&rt, "out", layout);
                    input.read(|input| {
                        out.write(|out| ops::$op(input, out, axis)).unwrap();
                        tally.compare(&case, "out", &ops::$op_init(&arena, input, axis).unwrap());
                    });
                    out.read(|out| tally.compare(&case, "out", out));
                    input.write(|input| ops::$op_self(input, axis)).unwrap();
                    input.read(|input| tally.compare(&case, "out", input));
                }
            }
            tally
        }
    )*};
}

along_an_axis!(softmax softmax_self softmax_init, log_softmax log_softmax_self log_softmax_init);

for_each_real!(at least 20: softmax, log_softmax);
