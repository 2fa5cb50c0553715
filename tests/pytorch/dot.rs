use dahl::ops::dot_init;
use dahl::prelude::*;

use super::closeness::Tally;
use super::fixture::Stem;

fn dot<T: Real>() -> Tally {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (stem, mut tally) = (Stem::open("dot"), Tally::default());
    for case in stem.cases("dot", "dot", T::NAME) {
        tally.cases += 1;
        let [x, y] = ["x", "y"].map(|role| case.array::<T, 1>(&rt, role));
        let mut out = case.zeros::<T, 0>(&rt, "out");
        dahl::ops::dot(&x, &y, &mut out).unwrap();
        tally.compare(&case, "out", &out);
        tally.compare(&case, "out", &dot_init(&arena, &x, &y).unwrap());
    }
    tally
}

for_each_real!(at least 20: dot);
