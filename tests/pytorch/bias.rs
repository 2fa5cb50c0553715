use dahl::ops::{bias_backward_init, bias_init, bias_self};
use dahl::prelude::*;

use super::closeness::Closeness;
use super::fixture::{LAYOUTS, Stem};

fn bias<T: Real>() -> Closeness {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (stem, mut closeness) = (Stem::open("bias"), Closeness::default());
    for case in stem.cases("bias", "bias", T::NAME) {
        closeness.cases += 1;
        let (bias, axis) = (case.array::<T, 1>(&rt, "bias"), case.count("axis"));
        for layout in LAYOUTS {
            let mut input = case.placed::<T, 3>(&rt, "input", layout);
            let mut out = case.unwritten(&rt, "out", layout);
            input.read(|input| {
                out.write(|out| dahl::ops::bias(input, &bias, out, axis)).unwrap();
                closeness.compare(&case, "out", &bias_init(&arena, input, &bias, axis).unwrap());
            });
            out.read(|out| closeness.compare(&case, "out", out));
            input.write(|input| bias_self(input, &bias, axis)).unwrap();
            input.read(|input| closeness.compare(&case, "out", input));
        }
    }
    closeness
}

fn bias_backward<T: Real>() -> Closeness {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (stem, mut closeness) = (Stem::open("bias"), Closeness::default());
    for case in stem.cases("bias", "bias", T::NAME) {
        closeness.cases += 1;
        let axis = case.count("axis");
        for layout in LAYOUTS {
            let gradient = case.placed::<T, 3>(&rt, "gradient", layout);
            let mut out = case.zeros::<T, 1>(&rt, "by_bias");
            gradient.read(|gradient| {
                dahl::ops::bias_backward(gradient, &mut out, axis).unwrap();
                closeness.compare(&case, "by_bias", &bias_backward_init(&arena, gradient, axis).unwrap());
            });
            closeness.compare(&case, "by_bias", &out);
        }
    }
    closeness
}

for_each_real!(at least 20: bias, bias_backward);
