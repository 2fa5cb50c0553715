use dahl::ndarray::Axis;
use dahl::ops::{
    Transposed, matmul, matmul_add_transposed, matmul_add_transposed_init, matmul_init, matmul_self,
    matmul_transposed, matmul_transposed_init, matvec, matvec_init, matvec_transposed,
    matvec_transposed_init, outer, outer_init,
};
use dahl::prelude::*;

use crate::reference::{self, array, assert_all_close, assert_refused, exact};

/// Rows, inner dimension and columns: ones, primes, empty ones, and more than a block of every dimension.
const SHAPES: [[usize; 3]; 8] =
    [[1, 1, 1], [2, 3, 5], [0, 3, 2], [3, 0, 2], [67, 1, 31], [1, 131, 1], [31, 17, 13], [259, 521, 37]];

fn products<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for [rows, inner, cols] in SHAPES {
        for (transpose_a, transpose_b) in [(false, false), (false, true), (true, false), (true, true)] {
            let oriented =
                |shape: [usize; 2], transpose| if transpose { [shape[1], shape[0]] } else { shape };
            let a = array::<T, 2>(&rt, oriented([rows, inner], transpose_a), 1);
            let b = array::<T, 2>(&rt, oriented([inner, cols], transpose_b), 2);
            let orient =
                |x: dahl::ndarray::ArrayD<f64>, transpose| if transpose { x.reversed_axes() } else { x };
            let (exact_a, exact_b) = (orient(exact(&a), transpose_a), orient(exact(&b), transpose_b));
            let expected = reference::matmul(exact_a.view(), exact_b.view());
            let magnitude = reference::matmul(exact_a.mapv(f64::abs).view(), exact_b.mapv(f64::abs).view());

            let mut out = array::<T, 2>(&rt, [rows, cols], 3);
            matmul_transposed(&a, &b, &mut out, Transposed { left: transpose_a, right: transpose_b })
                .unwrap();
            let made =
                matmul_transposed_init(&arena, &a, &b, Transposed { left: transpose_a, right: transpose_b })
                    .unwrap();
            let added = matmul_add_transposed_init(
                &arena,
                &a,
                &b,
                Transposed { left: transpose_a, right: transpose_b },
            )
            .unwrap();
            for results in [&out, &made, &added] {
                assert_all_close(results, &expected, &magnitude, inner + 1);
            }
            let old = exact(&out);
            matmul_add_transposed(&a, &b, &mut out, Transposed { left: transpose_a, right: transpose_b })
                .unwrap();
            assert_all_close(&out, &(&expected + &old), &(&magnitude + &old.mapv(f64::abs)), inner + 2);
        }
    }
}

fn over_an_input<T: Real>() {
    let rt = Runtime::new().unwrap();
    let (mut a, b) = (array::<T, 2>(&rt, [5, 7], 1), array::<T, 2>(&rt, [7, 7], 2));
    let (exact_a, exact_b) = (exact(&a), exact(&b));
    matmul_self(&mut a, &b).unwrap();
    let magnitude = reference::matmul(exact_a.mapv(f64::abs).view(), exact_b.mapv(f64::abs).view());
    assert_all_close(&a, &reference::matmul(exact_a.view(), exact_b.view()), &magnitude, 8);
}

fn vectors<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for [rows, cols] in [[1, 1], [0, 3], [3, 0], [37, 101]] {
        for transpose in [false, true] {
            let a = array::<T, 2>(&rt, if transpose { [cols, rows] } else { [rows, cols] }, 1);
            let vector = array::<T, 1>(&rt, [cols], 2);
            let mut out = array::<T, 1>(&rt, [rows], 3);
            let made = if transpose {
                matvec_transposed(&a, &vector, &mut out).unwrap();
                matvec_transposed_init(&arena, &a, &vector).unwrap()
            } else {
                matvec(&a, &vector, &mut out).unwrap();
                matvec_init(&arena, &a, &vector).unwrap()
            };
            let exact_a = if transpose { exact(&a).reversed_axes() } else { exact(&a) };
            let column = exact(&vector).insert_axis(Axis(1));
            let expected = reference::matmul(exact_a.view(), column.view()).remove_axis(Axis(1));
            let magnitude = reference::matmul(exact_a.mapv(f64::abs).view(), column.mapv(f64::abs).view());
            let magnitude = magnitude.remove_axis(Axis(1));
            for results in [&out, &made] {
                assert_all_close(results, &expected, &magnitude, cols + 1);
            }
        }
        let (column, row) = (array::<T, 1>(&rt, [rows], 1), array::<T, 1>(&rt, [cols], 2));
        let mut out = array::<T, 2>(&rt, [rows, cols], 3);
        outer(&column, &row, &mut out).unwrap();
        let made = outer_init(&arena, &column, &row).unwrap();
        let expected = exact(&column).insert_axis(Axis(1)) * exact(&row).insert_axis(Axis(0));
        for results in [&out, &made] {
            assert_all_close(results, &expected, &expected.mapv(f64::abs), 1);
        }
    }
}

/// 300 * 300 overflows f16 only at the end, and not at all if later terms reduce the sum.
fn sums_do_not_overflow_on_the_way<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let a = rt.from_vec([1, 4], [300.0, 300.0, -300.0, 1.0].map(T::from_f64).to_vec()).unwrap();
    let b = rt.from_vec([4, 1], [300.0, 300.0, 600.0, 2.0].map(T::from_f64).to_vec()).unwrap();
    assert_eq!(matmul_init(&arena, &a, &b).unwrap().read().unwrap()[[0, 0]], T::from_f64(2.0));
}

for_each_real!(products, over_an_input, vectors, sums_do_not_overflow_on_the_way);

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let (a, b) = (array::<f32, 2>(&rt, [8, 4], 1), array::<f32, 2>(&rt, [3, 2], 1));
    let mut out = rt.zeros([8, 2]).unwrap();
    assert_refused(matmul(&a, &b, &mut out), &["matmul", "[8, 4]", "[3, 2]"]);
    assert_refused(matmul_transposed(&a, &b, &mut out, Transposed::RIGHT), &["matmul", "[8, 4]", "[3, 2]"]);
    let b = array::<f32, 2>(&rt, [4, 3], 1);
    assert_refused(matmul(&a, &b, &mut out), &["matmul", "[8, 2]", "[8, 3]"]);
    let mut vector = rt.zeros([8]).unwrap();
    assert_refused(matvec(&a, &rt.zeros([3]).unwrap(), &mut vector), &["matvec", "[8, 4]", "[3]"]);
}
