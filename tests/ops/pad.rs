use dahl::ops::{PadMode, pad_copies_init, pad_init};
use dahl::prelude::*;

use crate::reference::{array, assert_refused};

#[test]
fn with_a_value() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.from_vec([1, 3], vec![1_i32, 2, 3]).unwrap();
    let out = pad_init(&arena, &input, [1, 2], [0, 1], 7).unwrap();
    assert_eq!(out.shape(), [2, 6]);
    assert_eq!(out.to_vec().unwrap(), [7, 7, 7, 7, 7, 7, 7, 7, 1, 2, 3, 7]);
    let none =
        pad_init(&arena, &rt.from_vec([0, 1], Vec::<f32>::new()).unwrap(), [1, 0], [1, 1], 2.0).unwrap();
    assert_eq!(none.to_vec().unwrap(), [2.0; 4]);
}

#[test]
fn with_copies() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.from_vec([3], vec![1.0_f32, 2.0, 3.0]).unwrap();
    for (mode, expected) in [
        (PadMode::Reflect, [3.0, 2.0, 1.0, 2.0, 3.0, 2.0]),
        (PadMode::Replicate, [1.0, 1.0, 1.0, 2.0, 3.0, 3.0]),
        (PadMode::Circular, [2.0, 3.0, 1.0, 2.0, 3.0, 1.0]),
    ] {
        assert_eq!(pad_copies_init(&arena, &input, [2], [1], mode).unwrap().to_vec().unwrap(), expected);
    }
    let scalar = rt.from_vec([], vec![5.0_f32]).unwrap();
    let out = pad_copies_init(&arena, &scalar, [], [], PadMode::Reflect).unwrap();
    assert_eq!(out.to_vec().unwrap(), [5.0]);
}

#[test]
fn wrong_paddings_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f32, 2>(&rt, [2, 3], 1);
    assert_refused(pad_init(&arena, &input, [1], [1], 0.0), &["pad", "[2, 3]"]);
    for (mode, before) in [(PadMode::Reflect, [2, 0]), (PadMode::Circular, [0, 4])] {
        assert_refused(pad_copies_init(&arena, &input, before, [0, 0], mode), &["pad_copies", "[2, 3]"]);
    }
    let empty = array::<f32, 2>(&rt, [0, 3], 1);
    let refused = pad_copies_init(&arena, &empty, [1, 0], [0, 0], PadMode::Replicate);
    assert_refused(refused, &["pad_copies", "[0, 3]"]);
}
