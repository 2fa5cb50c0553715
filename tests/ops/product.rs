use dahl::ndarray::Axis;
use dahl::ops::{
    product_axis, product_axis_backward_init, product_axis_init, product_backward_init, product_init,
};
use dahl::prelude::*;

use crate::reference::{along, array, assert_all_close, assert_close, assert_refused, exact};

fn along_each_axis<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for shape in [[1, 1, 1], [2, 3, 5], [31, 7, 1], [1, 2, 37], [2, 0, 3]] {
        let input = array::<T, 3>(&rt, shape, 1);
        let values = exact(&input);
        let whole = product_init(&arena, &input).unwrap();
        let expected = values.product();
        assert_close(whole.read().unwrap()[[]], expected, expected.abs(), input.len() + 1);
        for (axis, extent) in shape.into_iter().enumerate() {
            let made = product_axis_init(&arena, &input, axis).unwrap();
            let expected = along(&values, axis, |lane| lane.iter().product());
            assert_all_close(&made, &expected, &expected.mapv(f64::abs), extent + 1);

            let gradient = array::<T, 3>(&rt, made.shape(), 2);
            let by_input = product_axis_backward_init(&arena, &input, &gradient, axis).unwrap();
            let (mut expected, gradient) = (values.clone(), exact(&gradient));
            let lanes = expected.lanes_mut(Axis(axis)).into_iter().zip(&gradient);
            for (mut lane, &gradient) in lanes {
                let others =
                    |i| lane.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, x)| x).product::<f64>();
                let others = (0..lane.len()).map(|i| gradient * others(i)).collect::<Vec<_>>();
                lane.iter_mut().zip(others).for_each(|(to, from)| *to = from);
            }
            assert_all_close(&by_input, &expected, &expected.mapv(f64::abs), 2 * extent + 2);
        }
    }
}

/// In any order of multiplication, these overflow or underflow on the way.
fn only_the_value_overflows<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (large, small) = (T::from_f64(16384.0), T::from_f64(1.0 / 16384.0));
    let mut values = vec![large; 100];
    values.extend([small; 100]);
    values.push(T::from_f64(3.0));
    let whole = product_init(&arena, &rt.from_vec([201], values).unwrap()).unwrap();
    assert_eq!(whole.read().unwrap()[[]].to_f64(), 3.0);
    let whole = product_init(&arena, &rt.from_vec([1000], vec![large; 1000]).unwrap()).unwrap();
    assert_eq!(whole.read().unwrap()[[]], T::INFINITY);
}

/// Division by the element would give NaN.
fn gradients_at_zeros<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let gradient = rt.from_vec([], vec![T::from_f64(2.0)]).unwrap();
    for (values, expected) in [
        ([3.0, 0.0, 5.0], [0.0, 30.0, 0.0]),
        ([0.0, 0.0, 5.0], [0.0; 3]),
        ([1.0, 2.0, 3.0], [12.0, 6.0, 4.0]),
    ] {
        let input = rt.from_vec([3], values.map(T::from_f64).to_vec()).unwrap();
        let out = product_backward_init(&arena, &input, &gradient).unwrap();
        assert_eq!(exact(&out).as_slice().unwrap(), expected);
    }
}

for_each_real!(along_each_axis, only_the_value_overflows, gradients_at_zeros);

#[test]
fn strided_parts_and_wrong_shapes() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.from_vec([2, 3], vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let columns = input.partition_by(Axis(1), &[1, 2]).unwrap();
    assert_eq!(product_axis_init(&arena, &columns[1], 0).unwrap().to_vec().unwrap(), [10.0, 18.0]);
    assert_eq!(product_init(&arena, &columns[1]).unwrap().to_vec().unwrap(), [180.0]);
    let mut out = rt.zeros([2, 3]).unwrap();
    assert_refused(product_axis(&input, &mut out, 0), &["product_axis", "[2, 3]", "[1, 3]"]);
    let gradient = rt.zeros([1, 2]).unwrap();
    assert_refused(
        product_axis_backward_init(&arena, &input, &gradient, 0),
        &["product_axis_backward", "[1, 2]"],
    );
}
