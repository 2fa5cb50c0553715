use dahl::ndarray::{Axis, s};
use dahl::ops::{rotate_180, rotate_180_init, rotate_180_self};
use dahl::prelude::*;

use crate::reference::{array, assert_refused, exact};

fn turns_rows_and_columns<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for shape in [[1, 1, 1], [2, 3, 5], [3, 1, 7], [2, 0, 3]] {
        let mut input = array::<T, 3>(&rt, shape, 1);
        let expected = exact(&input).slice(s![.., ..;-1, ..;-1]).into_dyn().to_owned();
        assert_eq!(exact(&rotate_180_init(&arena, &input).unwrap()), expected);
        let mut parted = rt.zeros(shape).unwrap();
        for (from, to) in input
            .partition(Axis(0), 1)
            .unwrap()
            .iter()
            .zip(parted.partition_mut(Axis(0), 1).unwrap().iter_mut())
        {
            rotate_180(from, to).unwrap();
        }
        assert_eq!(exact(&parted), expected);
        rotate_180_self(&mut input).unwrap();
        assert_eq!(exact(&input), expected);
    }
}

for_each_real!(turns_rows_and_columns);

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    assert_refused(rotate_180_init(&arena, &rt.zeros::<f32, 1>([3]).unwrap()), &["rotate_180", "[3]"]);
    let input = rt.zeros::<u8, 2>([2, 3]).unwrap();
    assert_refused(rotate_180(&input, &mut rt.zeros([3, 2]).unwrap()), &["rotate_180", "[2, 3]", "[3, 2]"]);
}
