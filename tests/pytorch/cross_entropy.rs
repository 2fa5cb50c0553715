use dahl::ops;
use dahl::prelude::*;

use super::closeness::Closeness;
use super::fixture::{LAYOUTS, Stem};

fn cross_entropy<T: Real>() -> Closeness {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (stem, mut closeness) = (Stem::open("cross_entropy"), Closeness::default());
    for case in stem.cases("cross_entropy", "cross_entropy", T::NAME) {
        closeness.cases += 1;
        let (labels, factor) = (case.array::<i64, 1>(&rt, "labels"), case.real("factor"));
        for layout in LAYOUTS {
            let logits = case.placed::<T, 2>(&rt, "logits", layout);
            let mut out = case.zeros::<T, 0>(&rt, "out");
            logits.read(|logits| {
                ops::cross_entropy(logits, &labels, &mut out, factor).unwrap();
                let made = ops::cross_entropy_init(&arena, logits, &labels, factor).unwrap();
                closeness.compare(&case, "out", &made);
            });
            closeness.compare(&case, "out", &out);
        }
    }
    closeness
}

fn cross_entropy_backward<T: Real>() -> Closeness {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (stem, mut closeness) = (Stem::open("cross_entropy"), Closeness::default());
    for case in stem.cases("cross_entropy", "cross_entropy", T::NAME) {
        closeness.cases += 1;
        let (labels, factor) = (case.array::<i64, 1>(&rt, "labels"), case.real("factor"));
        for layout in LAYOUTS {
            let logits = case.placed::<T, 2>(&rt, "logits", layout);
            let mut out = case.unwritten(&rt, "by_logits", layout);
            logits.read(|logits| {
                out.write(|out| ops::cross_entropy_backward(logits, &labels, out, factor)).unwrap();
                let made = ops::cross_entropy_backward_init(&arena, logits, &labels, factor).unwrap();
                closeness.compare(&case, "by_logits", &made);
            });
            out.read(|out| closeness.compare(&case, "by_logits", out));
        }
    }
    closeness
}

fn count_correct<T: Real>() -> Closeness {
    let rt = Runtime::new().unwrap();
    let (stem, mut closeness) = (Stem::open("cross_entropy"), Closeness::default());
    for case in stem.cases("count_correct", "count_correct", T::NAME) {
        closeness.cases += 1;
        let labels = case.array::<i64, 1>(&rt, "labels");
        for layout in LAYOUTS {
            let mut out = rt.zeros::<u32, 0>([]).unwrap();
            let logits = case.placed::<T, 2>(&rt, "logits", layout);
            logits.read(|logits| ops::count_correct(logits, &labels, &mut out)).unwrap();
            closeness.compare_integers(&case, "out", &out);
        }
    }
    closeness
}

for_each_real!(at least 20: cross_entropy, cross_entropy_backward, count_correct);
