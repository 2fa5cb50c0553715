use dahl::ops::dot_init;
use dahl::prelude::*;

use super::closeness::Closeness;
use super::fixture::Stem;

fn dot<T: Real>() -> Closeness {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (stem, mut closeness) = (Stem::open("dot"), Closeness::default());
    for case in stem.cases("dot", "dot", T::NAME) {
        closeness.cases += 1;
        let [x, y] = ["x", "y"].map(|role| case.array::<T, 1>(&rt, role));
        let mut out = case.zeros::<T, 0>(&rt, "out");
        dahl::ops::dot(&x, &y, &mut out).unwrap();
        closeness.compare(&case, "out", &out);
        closeness.compare(&case, "out", &dot_init(&arena, &x, &y).unwrap());
    }
    closeness
}

for_each_real!(at least 20: dot);
