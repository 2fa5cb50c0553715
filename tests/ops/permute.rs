use dahl::ndarray::IxDyn;
use dahl::ops::permute_init;
use dahl::prelude::*;

use crate::reference::{array, assert_refused, exact};

fn every_order<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for shape in [[2, 3, 5], [1, 70, 41], [2, 0, 3]] {
        let input = array::<T, 3>(&rt, shape, 1);
        for axes in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let made = permute_init(&arena, &input, axes).unwrap();
            assert_eq!(exact(&made), exact(&input).permuted_axes(IxDyn(&axes)));
        }
    }
}

for_each_real!(every_order);

/// PyTorch's `pixel_shuffle` is an order of axes.
#[test]
fn pixel_shuffle() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.from_vec([1, 4, 1, 2], (0..8).collect::<Vec<u32>>()).unwrap();
    let blocks = input.reshaped([1, 1, 2, 2, 1, 2]).unwrap();
    let out = permute_init(&arena, &*blocks, [0, 1, 4, 2, 5, 3]).unwrap().reshape([1, 1, 2, 4]).unwrap();
    assert_eq!(out.to_vec().unwrap(), [0, 2, 1, 3, 4, 6, 5, 7]);
}

#[test]
fn wrong_axes_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f32, 2>(&rt, [2, 3], 1);
    assert_refused(permute_init(&arena, &input, [0, 0]), &["permute", "[0, 0]"]);
    assert_refused(permute_init(&arena, &input, [1, 2]), &["permute", "[1, 2]"]);
    assert_refused(permute_init(&arena, &input, [1, 2, 0]), &["permute", "[2, 3]"]);
}
