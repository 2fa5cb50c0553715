use dahl::ops::{transpose, transpose_init, transpose_self};
use dahl::prelude::*;

use crate::reference::{array, assert_refused, exact};

fn swaps_rows_and_columns<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for [rows, cols] in [[1, 1], [0, 3], [1, 37], [67, 33]] {
        let input = array::<T, 2>(&rt, [rows, cols], 1);
        let mut out = rt.zeros([cols, rows]).unwrap();
        transpose(&input, &mut out).unwrap();
        let made = transpose_init(&arena, &input).unwrap();
        let expected = exact(&input).reversed_axes();
        assert_eq!(exact(&out), expected);
        assert_eq!(exact(&made), expected);
    }
    let mut square = array::<T, 2>(&rt, [3, 3], 1);
    let expected = exact(&square).reversed_axes();
    transpose_self(&mut square).unwrap();
    assert_eq!(exact(&square), expected);
}

for_each_real!(swaps_rows_and_columns);

#[test]
fn a_wrong_shape_is_refused() {
    let rt = Runtime::new().unwrap();
    let mut input = array::<f32, 2>(&rt, [2, 3], 1);
    let mut out = rt.zeros([2, 3]).unwrap();
    assert_refused(transpose(&input, &mut out), &["transpose", "[2, 3]", "[3, 2]"]);
    assert_refused(transpose_self(&mut input), &["transpose", "[2, 3]", "[3, 2]"]);
}
