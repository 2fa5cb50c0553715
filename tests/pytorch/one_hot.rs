use dahl::ops;
use dahl::prelude::*;

use super::closeness::Closeness;
use super::fixture::{LAYOUTS, Stem};

fn one_hot<T: Real>() -> Closeness {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (stem, mut closeness) = (Stem::open("one_hot"), Closeness::default());
    for case in stem.cases("one_hot", "one_hot", T::NAME) {
        closeness.cases += 1;
        let (labels, classes) = (case.array::<i64, 1>(&rt, "labels"), case.count("classes"));
        for layout in LAYOUTS {
            let mut out = case.unwritten::<T, 2>(&rt, "out", layout);
            out.write(|out| ops::one_hot(&labels, out, classes)).unwrap();
            out.read(|out| closeness.compare(&case, "out", out));
        }
        closeness.compare::<T, 2>(&case, "out", &ops::one_hot_init(&arena, &labels, classes).unwrap());
    }
    closeness
}

for_each_real!(at least 20: one_hot);
