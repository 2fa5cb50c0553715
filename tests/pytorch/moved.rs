//! Ops that move elements, and the gradients that add them up again.

use dahl::ops;
use dahl::prelude::*;

use super::closeness::Closeness;
use super::fixture::{Case, LAYOUTS, Layout, Stem};

/// Calls `f` for each case of `op` and each layout.
fn each<T: Real>(op: &str, mut f: impl FnMut(&Runtime, &Case<'_>, Layout, &mut Closeness)) -> Closeness {
    let rt = Runtime::new().unwrap();
    let (stem, mut closeness) = (Stem::open("moved"), Closeness::default());
    for case in stem.cases(op, "lanes", T::NAME) {
        closeness.cases += 1;
        for layout in LAYOUTS {
            f(&rt, &case, layout, &mut closeness);
        }
    }
    closeness
}

/// Makes a test of a call: the rank and role of each array that is read, then of each that is written.
macro_rules! moves {
    ($($test:ident: $op:literal, $from_rank:literal $from:literal -> $to_rank:literal $to:literal,
       |$rt:ident, $case:ident, $input:ident, $out:ident| $call:expr;)*) => {$(
        fn $test<T: Real>() -> Closeness {
            each::<T>($op, |$rt, $case, layout, closeness| {
                let from = $case.placed::<T, $from_rank>($rt, $from, layout);
                let mut to = $case.unwritten::<T, $to_rank>($rt, $to, layout);
                from.read(|$input| to.write(|$out| $call)).unwrap();
                to.read(|out| closeness.compare($case, $to, out));
            })
        }
    )*};
}

moves! {
    transpose: "transpose", 2 "input" -> 2 "out", |rt, case, input, out| ops::transpose(input, out);
    rotate_180: "rotate_180", 2 "input" -> 2 "out", |rt, case, input, out| ops::rotate_180(input, out);
    diag: "diag", 1 "input" -> 2 "out", |rt, case, input, out| ops::diag(input, out);
    diagonal: "diagonal", 2 "input" -> 1 "out", |rt, case, input, out| ops::diagonal(input, out);
    diagonal_backward: "diagonal", 1 "gradient" -> 2 "by_input",
        |rt, case, gradient, out| ops::diagonal_backward(gradient, out);
    gather_rows: "gather_rows", 2 "input" -> 2 "out",
        |rt, case, input, out| ops::gather_rows(input, &case.indices(rt, "indices"), out);
    gather: "gather", 3 "input" -> 3 "out",
        |rt, case, input, out| ops::gather(input, &case.indices::<3>(rt, "index"), out, case.count("axis"));
    index_select: "index_select", 3 "input" -> 3 "out",
        |rt, case, input, out| ops::index_select(input, &case.indices(rt, "indices"), out, case.count("axis"));
    tile: "tile", 3 "input" -> 3 "out",
        |rt, case, input, out| ops::tile(input, out, case.count("axis"), case.count("repeats"));
    tile_backward: "tile", 3 "gradient" -> 3 "by_input",
        |rt, case, gradient, out| ops::tile_backward(gradient, out, case.count("axis"), case.count("repeats"));
    slice: "slice", 3 "input" -> 3 "out",
        |rt, case, input, out| ops::slice(input, out, case.count("axis"), case.count("start"), case.count("len"));
    slice_backward: "slice", 3 "gradient" -> 3 "by_input",
        |rt, case, gradient, out| ops::slice_backward(gradient, out, case.count("axis"), case.count("start"));
}

fn gather_backward<T: Real>() -> Closeness {
    each::<T>("gather", |rt, case, layout, closeness| {
        let (gradient, index) = (case.placed::<T, 3>(rt, "gradient", layout), case.indices::<3>(rt, "index"));
        let mut out = case.zeros::<T, 3>(rt, "by_input");
        gradient
            .read(|gradient| ops::gather_backward(gradient, &index, &mut out, case.count("axis")))
            .unwrap();
        closeness.compare(case, "by_input", &out);
    })
}

fn index_select_backward<T: Real>() -> Closeness {
    each::<T>("index_select", |rt, case, layout, closeness| {
        let (gradient, indices) = (case.placed::<T, 3>(rt, "gradient", layout), case.indices(rt, "indices"));
        let mut out = case.zeros::<T, 3>(rt, "by_input");
        let axis = case.count("axis");
        gradient.read(|gradient| ops::index_select_backward(gradient, &indices, &mut out, axis)).unwrap();
        closeness.compare(case, "by_input", &out);
    })
}

fn concat<T: Real>() -> Closeness {
    each::<T>("concat", |rt, case, layout, closeness| {
        let [first, second, third] =
            ["input", "second", "third"].map(|role| case.placed::<T, 3>(rt, role, layout));
        let mut out = case.unwritten::<T, 3>(rt, "out", layout);
        first.read(|first| {
            second.read(|second| {
                third.read(|third| {
                    out.write(|out| {
                        ops::concat(&[first, second, third], out, case.count("axis")).unwrap();
                    })
                })
            })
        });
        out.read(|out| closeness.compare(case, "out", out));
    })
}

/// `torch.split` of a result of `torch.cat`.
fn split<T: Real>() -> Closeness {
    each::<T>("concat", |rt, case, layout, closeness| {
        let (joined, arena) = (case.placed::<T, 3>(rt, "out", layout), rt.arena());
        let (axis, roles) = (case.count("axis"), ["input", "second", "third"]);
        let lengths = roles.map(|role| case.shape::<3>(role)[axis]);
        let parts = joined.read(|joined| ops::split_init(&arena, joined, axis, &lengths)).unwrap();
        for (part, role) in parts.iter().zip(roles) {
            closeness.compare(case, role, part);
        }
    })
}

fn stack<T: Real>() -> Closeness {
    each::<T>("stack", |rt, case, layout, closeness| {
        let [first, second] = ["input", "second"].map(|role| case.array::<T, 3>(rt, role));
        let mut out = case.unwritten::<T, 4>(rt, "out", layout);
        out.write(|out| ops::stack(&[&first, &second], out, case.count("axis"))).unwrap();
        out.read(|out| closeness.compare(case, "out", out));
    })
}

for_each_real!(
    at least 10: transpose, rotate_180, diag, diagonal, diagonal_backward, gather_rows, gather, gather_backward, index_select,
    index_select_backward, tile, tile_backward, slice, slice_backward, concat, split, stack,
);
