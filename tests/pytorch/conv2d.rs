use dahl::ops::{self, Conv2dGeometry, conv2d_init};
use dahl::prelude::*;

use super::closeness::Closeness;
use super::fixture::{LAYOUTS, Stem};

fn conv2d<T: Real>() -> Closeness {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (stem, mut closeness) = (Stem::open("conv2d"), Closeness::default());
    for case in stem.cases("conv2d", "conv2d", T::NAME) {
        closeness.cases += 1;
        let [stride, padding] = ["stride", "padding"].map(|role| case.pair(role));
        for layout in LAYOUTS {
            let [input, filters] = ["input", "filters"].map(|role| case.placed::<T, 4>(&rt, role, layout));
            let mut out = case.unwritten(&rt, "out", layout);
            input.read(|input| {
                filters.read(|filters| {
                    out.write(|out| ops::conv2d(input, filters, out, Conv2dGeometry { stride, padding }))
                        .unwrap();
                    let made =
                        conv2d_init(&arena, input, filters, Conv2dGeometry { stride, padding }).unwrap();
                    closeness.compare(&case, "out", &made);
                });
            });
            out.read(|out| closeness.compare(&case, "out", out));
        }
    }
    closeness
}

fn conv2d_backward_input<T: Real>() -> Closeness {
    let rt = Runtime::new().unwrap();
    let (stem, mut closeness) = (Stem::open("conv2d"), Closeness::default());
    for case in stem.cases("conv2d", "conv2d", T::NAME) {
        closeness.cases += 1;
        let [stride, padding] = ["stride", "padding"].map(|role| case.pair(role));
        for layout in LAYOUTS {
            let [gradient, filters] =
                ["gradient", "filters"].map(|role| case.placed::<T, 4>(&rt, role, layout));
            let mut out = case.unwritten(&rt, "by_input", layout);
            gradient.read(|gradient| {
                filters.read(|filters| {
                    out.write(|out| {
                        ops::conv2d_backward_input(gradient, filters, out, Conv2dGeometry { stride, padding })
                    })
                    .unwrap();
                });
            });
            out.read(|out| closeness.compare(&case, "by_input", out));
        }
    }
    closeness
}

fn conv2d_backward_filters<T: Real>() -> Closeness {
    let rt = Runtime::new().unwrap();
    let (stem, mut closeness) = (Stem::open("conv2d"), Closeness::default());
    for case in stem.cases("conv2d", "conv2d", T::NAME) {
        closeness.cases += 1;
        let [stride, padding] = ["stride", "padding"].map(|role| case.pair(role));
        for layout in LAYOUTS {
            let [input, gradient] = ["input", "gradient"].map(|role| case.placed::<T, 4>(&rt, role, layout));
            let mut out = case.zeros::<T, 4>(&rt, "by_filters");
            input.read(|input| {
                gradient.read(|gradient| {
                    ops::conv2d_backward_filters(
                        input,
                        gradient,
                        &mut out,
                        Conv2dGeometry { stride, padding },
                    )
                    .unwrap();
                });
            });
            closeness.compare(&case, "by_filters", &out);
        }
    }
    closeness
}

for_each_real!(at least 20: conv2d, conv2d_backward_input, conv2d_backward_filters);
