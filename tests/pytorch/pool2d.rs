use dahl::ops::{self, Pool2dGeometry, avg_pool2d_init, max_pool2d_init};
use dahl::prelude::*;

use super::closeness::Closeness;
use super::fixture::{Case, LAYOUTS, Stem};

/// `size`, `stride` and `padding`.
fn window(case: &Case<'_>) -> [[usize; 2]; 3] {
    ["size", "stride", "padding"].map(|role| case.pair(role))
}

/// Values, and their indices.
fn max_pool2d<T: Real>() -> Closeness {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (stem, mut closeness) = (Stem::open("pool2d"), Closeness::default());
    for case in stem.cases("max_pool2d", "pool2d", T::NAME) {
        closeness.cases += 1;
        let [size, stride, padding] = window(&case);
        for layout in LAYOUTS {
            let input = case.placed::<T, 4>(&rt, "input", layout);
            let mut out = case.unwritten(&rt, "out", layout);
            let mut index = case.unwritten::<u32, 4>(&rt, "index", layout);
            input.read(|input| {
                out.write(|out| {
                    index
                        .write(|index| {
                            ops::max_pool2d(
                                input,
                                out,
                                index,
                                Pool2dGeometry::new(size).stride(stride).padding(padding),
                            )
                        })
                        .unwrap();
                });
                let (made, made_index) =
                    max_pool2d_init(&arena, input, Pool2dGeometry::new(size).stride(stride).padding(padding))
                        .unwrap();
                closeness.compare(&case, "out", &made);
                closeness.compare_integers(&case, "index", &made_index);
            });
            out.read(|out| closeness.compare(&case, "out", out));
            index.read(|index| closeness.compare_integers(&case, "index", index));
        }
    }
    closeness
}

fn max_pool2d_backward<T: Real>() -> Closeness {
    let rt = Runtime::new().unwrap();
    let (stem, mut closeness) = (Stem::open("pool2d"), Closeness::default());
    for case in stem.cases("max_pool2d", "pool2d", T::NAME) {
        closeness.cases += 1;
        let index = case.indices::<4>(&rt, "index");
        for layout in LAYOUTS {
            let gradient = case.placed::<T, 4>(&rt, "gradient", layout);
            let mut out = case.unwritten(&rt, "by_input", layout);
            gradient.read(|gradient| {
                out.write(|out| ops::max_pool2d_backward(gradient, &index, out)).unwrap();
            });
            out.read(|out| closeness.compare(&case, "by_input", out));
        }
    }
    closeness
}

fn avg_pool2d<T: Real>() -> Closeness {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (stem, mut closeness) = (Stem::open("pool2d"), Closeness::default());
    for case in stem.cases("avg_pool2d", "pool2d", T::NAME) {
        closeness.cases += 1;
        let [size, stride, padding] = window(&case);
        for layout in LAYOUTS {
            let input = case.placed::<T, 4>(&rt, "input", layout);
            let mut out = case.unwritten(&rt, "out", layout);
            input.read(|input| {
                out.write(|out| {
                    ops::avg_pool2d(input, out, Pool2dGeometry::new(size).stride(stride).padding(padding))
                })
                .unwrap();
                let made =
                    avg_pool2d_init(&arena, input, Pool2dGeometry::new(size).stride(stride).padding(padding))
                        .unwrap();
                closeness.compare(&case, "out", &made);
            });
            out.read(|out| closeness.compare(&case, "out", out));
        }
    }
    closeness
}

fn avg_pool2d_backward<T: Real>() -> Closeness {
    let rt = Runtime::new().unwrap();
    let (stem, mut closeness) = (Stem::open("pool2d"), Closeness::default());
    for case in stem.cases("avg_pool2d", "pool2d", T::NAME) {
        closeness.cases += 1;
        let [size, stride, padding] = window(&case);
        for layout in LAYOUTS {
            let gradient = case.placed::<T, 4>(&rt, "gradient", layout);
            let mut out = case.unwritten(&rt, "by_input", layout);
            gradient.read(|gradient| {
                out.write(|out| {
                    ops::avg_pool2d_backward(
                        gradient,
                        out,
                        Pool2dGeometry::new(size).stride(stride).padding(padding),
                    )
                })
                .unwrap();
            });
            out.read(|out| closeness.compare(&case, "by_input", out));
        }
    }
    closeness
}

for_each_real!(at least 20: max_pool2d, max_pool2d_backward, avg_pool2d, avg_pool2d_backward);
