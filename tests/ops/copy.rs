use dahl::ops::{copy, copy_init};
use dahl::prelude::*;

use crate::reference::{array, assert_refused, exact};

fn copies<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for shape in [[1, 1], [0, 4], [13, 7]] {
        let input = array::<T, 2>(&rt, shape, 1);
        let mut out = rt.zeros(shape).unwrap();
        copy(&input, &mut out).unwrap();
        let made = copy_init(&arena, &input).unwrap();
        assert_eq!(exact(&out), exact(&input));
        assert_eq!(exact(&made), exact(&input));
    }
}

for_each_real!(copies);

#[test]
fn a_wrong_shape_is_refused() {
    let rt = Runtime::new().unwrap();
    let mut out = rt.zeros::<f32, 2>([3, 2]).unwrap();
    assert_refused(copy(&array::<f32, 2>(&rt, [2, 3], 1), &mut out), &["copy", "[2, 3]", "[3, 2]"]);
}
