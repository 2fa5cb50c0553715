//! The emulated tensor core (`tensor_core.h`) against plain products: which lane has which element, and how numbers are added.

use cuda_on_cpu::kernel;
use dahl::ops::Transposed;
use dahl::prelude::*;
use dahl::testing::submit_to;

const ROWS: usize = 16;
const INNER: usize = 16;
const COLS: usize = 8;

/// The product of `a` and `b` by a kernel of `fragments.cu`, as numbers of `f64`.
fn product_by<T: Real>(name: &str, a: &[f64], b: &[f64]) -> dahl::Result<Vec<f64>> {
    let narrow = |numbers: &[f64]| numbers.iter().map(|&number| T::from_f64(number)).collect::<Vec<_>>();
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let a = rt.from_vec([ROWS, INNER], narrow(a))?;
    let b = rt.from_vec([INNER, COLS], narrow(b))?;
    let mut out: Matrix<T> = rt.zeros([ROWS, COLS])?;
    let task = dahl::ops::codelets::Matmul::task(&a, &b, &mut out, Transposed::NEITHER);
    submit_to(task, &kernel(name, &[T::NAME])[0])?;
    Ok(out.to_vec()?.iter().map(|number| number.to_f64()).collect())
}

fn plain_product(a: &[f64], b: &[f64]) -> Vec<f64> {
    let element = |row: usize, col: usize| (0..INNER).map(|k| a[row * INNER + k] * b[k * COLS + col]).sum();
    (0..ROWS * COLS).map(|i| element(i / COLS, i % COLS)).collect()
}

/// Small integers, of which all sums are exact in both types, and no two rows or columns are the same.
fn factors() -> [Vec<f64>; 2] {
    let mut state = 1_u64;
    [ROWS * INNER, INNER * COLS].map(|len| {
        let number = |_| {
            state = state * 75 % 65537;
            (state % 5) as f64 - 2.0
        };
        (0..len).map(number).collect()
    })
}

fn fragments_are_where_ptx_has_them<T: Real>() {
    let [a, b] = factors();
    let expected = plain_product(&a, &b);
    for name in ["multiplies_fragments", "loads_fragments"] {
        assert_eq!(product_by::<T>(name, &a, &b).unwrap(), expected, "{name}");
    }
    for name in ["exchanges_lanes_of_a", "exchanges_lanes_of_b", "exchanges_lanes_of_sums"] {
        assert_ne!(product_by::<T>(name, &a, &b).unwrap(), expected, "{name}");
    }
}

#[test]
fn fragments_of_f16_are_where_ptx_has_them() {
    fragments_are_where_ptx_has_them::<dahl::f16>();
}

#[test]
fn fragments_of_bf16_are_where_ptx_has_them() {
    fragments_are_where_ptx_has_them::<dahl::bf16>();
}

/// The first element of a product whose first row and column are these numbers, and zeros elsewhere.
fn dot<T: Real>(row: &[f64], col: &[f64]) -> f64 {
    let (mut a, mut b) = (vec![0.0; ROWS * INNER], vec![0.0; INNER * COLS]);
    a[..row.len()].copy_from_slice(row);
    col.iter().enumerate().for_each(|(k, &number)| b[k * COLS] = number);
    product_by::<T>("multiplies_fragments", &a, &b).unwrap()[0]
}

#[test]
fn products_are_exact_and_their_sum_is_cut_off() {
    type T = dahl::f16;
    let tiny = 2.0_f64.powi(-24); // the least subnormal number
    assert_eq!(dot::<T>(&[tiny], &[1.0]), tiny);
    assert_eq!(dot::<T>(&[tiny; 16], &[1.0; 16]), 16.0 * tiny);
    // Beyond the 24 bits from the largest product on, nothing is left of the others: neither of one of them nor of all.
    let small = 2.0_f64.powi(-13);
    assert_eq!(dot::<T>(&[1.0, small, -1.0], &[1.0, small, 1.0]), 0.0);
    assert_eq!(dot::<T>(&[1.0, small, small, small, -1.0], &[1.0, small, small, small, 1.0]), 0.0);
    // What is not larger than the last bit by itself is kept.
    let last = 2.0_f64.powi(-23);
    assert_eq!(dot::<T>(&[1.0, 2.0 * small, -1.0], &[1.0, small * 4.0, 1.0]), last);
}

/// Each small product is cut off beside the large one: only sums that are begun anew have them.
#[test]
fn long_sums_are_begun_anew() {
    type T = dahl::f16;
    let (large, small, inner) = (64.0, 2.0_f64.powi(-6), 17_000);
    let factor = || (0..inner).map(|k| T::from_f64(if k == 0 { large } else { small })).collect::<Vec<T>>();
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let (a, b) =
        (rt.from_vec([1, 1, inner], factor()).unwrap(), rt.from_vec([1, inner, 1], factor()).unwrap());
    let mut out: Array<'_, T, 3> = rt.zeros([1, 1, 1]).unwrap();
    let task = dahl::ops::codelets::MatmulBatched::task(&a, &b, &mut out, Transposed::NEITHER);
    submit_to(task, &kernel("matmul_batched", &[T::NAME])[0]).unwrap();
    // 4096 and 16,999 times 2^-12, which make 4100.15.
    assert_eq!(out.to_vec().unwrap()[0].to_f64(), 4100.0);
}

#[test]
fn infinities_overflow_and_nan() {
    type T = dahl::bf16;
    let large = 2.0_f64.powi(120);
    assert_eq!(dot::<T>(&[large], &[large]), f64::INFINITY);
    assert_eq!(dot::<T>(&[-large], &[large]), f64::NEG_INFINITY);
    assert_eq!(dot::<T>(&[f64::INFINITY], &[1.0]), f64::INFINITY);
    assert!(dot::<T>(&[f64::INFINITY], &[0.0]).is_nan());
    assert!(dot::<T>(&[f64::INFINITY, f64::NEG_INFINITY], &[1.0, 1.0]).is_nan());
    assert!(dot::<T>(&[f64::NAN], &[1.0]).is_nan());
}

#[test]
fn a_part_of_a_warp_cannot_multiply() {
    let [a, b] = factors();
    let error = product_by::<dahl::f16>("multiplies_with_half_a_warp", &a, &b).unwrap_err().to_string();
    assert!(error.contains("mma needs all 32 threads of a warp"), "{error}");
}
