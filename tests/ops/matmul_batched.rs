use dahl::ndarray::{ArrayD, Axis, stack};
use dahl::ops::{
    Transposed, matmul_batched, matmul_batched_init, matmul_batched_transposed,
    matmul_batched_transposed_init, matmul_transposed_init,
};
use dahl::prelude::*;

use crate::reference::{self, array, assert_all_close, assert_refused, exact};

/// The product of each matrix of a batch.
fn products(a: &ArrayD<f64>, b: &ArrayD<f64>, [rows, cols]: [usize; 2]) -> ArrayD<f64> {
    let each = a.outer_iter().zip(b.outer_iter()).map(|(a, b)| reference::matmul(a, b)).collect::<Vec<_>>();
    match each.iter().map(|product| product.view()).collect::<Vec<_>>() {
        views if views.is_empty() => ArrayD::zeros(dahl::ndarray::IxDyn(&[0, rows, cols])),
        views => stack(Axis(0), &views).unwrap(),
    }
}

fn of_all_orientations<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for [batch, rows, inner, cols] in
        [[1, 1, 1, 1], [2, 3, 4, 5], [0, 2, 3, 2], [3, 0, 2, 2], [2, 2, 0, 3], [5, 31, 67, 13]]
    {
        for (left, right) in [(false, false), (false, true), (true, false), (true, true)] {
            let oriented = |[rows, cols]: [usize; 2], is_transposed| {
                if is_transposed { [batch, cols, rows] } else { [batch, rows, cols] }
            };
            let a = array::<T, 3>(&rt, oriented([rows, inner], left), 1);
            let b = array::<T, 3>(&rt, oriented([inner, cols], right), 2);
            let orient = |mut values: ArrayD<f64>, is_transposed: bool| {
                if is_transposed {
                    values.swap_axes(1, 2);
                }
                values
            };
            let (exact_a, exact_b) = (orient(exact(&a), left), orient(exact(&b), right));
            let expected = products(&exact_a, &exact_b, [rows, cols]);
            let magnitude = products(&exact_a.mapv(f64::abs), &exact_b.mapv(f64::abs), [rows, cols]);
            let transposed = Transposed { left, right };

            let mut out = array::<T, 3>(&rt, [batch, rows, cols], 3);
            matmul_batched_transposed(&a, &b, &mut out, transposed).unwrap();
            let made = matmul_batched_transposed_init(&arena, &a, &b, transposed).unwrap();
            for results in [&out, &made] {
                assert_all_close(results, &expected, &magnitude, inner + 1);
            }
            if !left && !right {
                let mut out = array::<T, 3>(&rt, [batch, rows, cols], 3);
                matmul_batched(&a, &b, &mut out).unwrap();
                let made = matmul_batched_init(&arena, &a, &b).unwrap();
                for results in [&out, &made] {
                    assert_all_close(results, &expected, &magnitude, inner + 1);
                }
            }
        }
    }
}

fn the_bits_of_a_product<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (a, b) = (array::<T, 3>(&rt, [1, 37, 67], 1), array::<T, 3>(&rt, [1, 19, 67], 2));
    let batched = matmul_batched_transposed_init(&arena, &a, &b, Transposed::RIGHT).unwrap();
    let (a, b) = (a.reshaped([37, 67]).unwrap(), b.reshaped([19, 67]).unwrap());
    let single = matmul_transposed_init(&arena, &a, &b, Transposed::RIGHT).unwrap();
    assert_eq!(batched.to_vec().unwrap(), single.to_vec().unwrap());
}

for_each_real!(of_all_orientations, the_bits_of_a_product);

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let (a, b) = (array::<f32, 3>(&rt, [2, 8, 4], 1), array::<f32, 3>(&rt, [2, 3, 5], 1));
    let mut out = rt.zeros([2, 8, 5]).unwrap();
    assert_refused(matmul_batched(&a, &b, &mut out), &["matmul_batched", "[2, 8, 4]", "[2, 3, 5]"]);
    let b = array::<f32, 3>(&rt, [3, 4, 5], 1);
    assert_refused(matmul_batched(&a, &b, &mut out), &["matmul_batched", "[2, 8, 4]", "[3, 4, 5]"]);
    let b = array::<f32, 3>(&rt, [2, 4, 6], 1);
    assert_refused(matmul_batched(&a, &b, &mut out), &["matmul_batched", "[2, 8, 5]", "[2, 8, 6]"]);
}
