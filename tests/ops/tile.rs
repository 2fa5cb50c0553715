use dahl::ndarray::{ArrayD, Axis, concatenate};
use dahl::ops::{tile, tile_backward_init, tile_init};
use dahl::prelude::*;

use crate::reference::{array, assert_all_close, assert_refused, exact};

fn repeats_each_axis<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for shape in [[1, 1, 1], [2, 3, 5], [3, 0, 2]] {
        let input = array::<T, 3>(&rt, shape, 1);
        let values = exact(&input);
        for (axis, extent) in shape.into_iter().enumerate() {
            for repeats in [1, 2, 7, 131] {
                let made = tile_init(&arena, &input, axis, repeats).unwrap();
                let expected = concatenate(Axis(axis), &vec![values.view(); repeats]).unwrap();
                assert_eq!(exact(&made), expected);

                let gradient = array::<T, 3>(&rt, made.shape(), 2);
                let made = tile_backward_init(&arena, &gradient, axis, repeats).unwrap();
                let sum = |gradient: ArrayD<f64>| {
                    let copies =
                        gradient.axis_chunks_iter(Axis(axis), extent.max(1)).map(|copy| copy.to_owned());
                    copies.fold(ArrayD::zeros(values.raw_dim()), |sum, copy| sum + copy)
                };
                let expected = sum(exact(&gradient));
                assert_all_close(&made, &expected, &sum(exact(&gradient).mapv(f64::abs)), repeats);
            }
        }
    }
}

for_each_real!(repeats_each_axis);

#[test]
fn strided_parts_and_wrong_shapes() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    assert!(tile_init(&arena, &rt.zeros::<f32, 1>([0]).unwrap(), 0, usize::MAX).unwrap().is_empty());
    let input = rt.from_vec([2, 2], vec![1_u8, 2, 3, 4]).unwrap();
    let columns = input.partition(Axis(1), 1).unwrap();
    assert_eq!(tile_init(&arena, &columns[1], 1, 2).unwrap().to_vec().unwrap(), [2, 2, 4, 4]);
    assert_eq!(tile_init(&arena, &columns[1], 0, 0).unwrap().shape(), [0, 1]);
    assert_refused(tile(&input, &mut rt.zeros([2, 3]).unwrap(), 1, 2), &["tile", "[2, 3]", "[2, 4]"]);
    assert_refused(tile_init(&arena, &input, 2, 1), &["tile", "[2, 2]"]);
    let gradient = array::<f32, 2>(&rt, [2, 3], 1);
    for repeats in [0, 2] {
        assert_refused(tile_backward_init(&arena, &gradient, 1, repeats), &["tile_backward", "[2, 3]"]);
    }
}
