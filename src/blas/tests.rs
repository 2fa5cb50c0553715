//! Compares each function with plain loops in f64, for sizes around those at which blocks divide.

use ndarray::{Array2, s};

use super::*;

const SIZES: [usize; 9] = [0, 1, 2, 31, 33, 64, 65, 130, 200];

/// Numbers between -0.5 and 0.5.
fn noise([rows, cols]: [usize; 2], seed: usize) -> Array2<f64> {
    Array2::from_shape_fn((rows, cols), |(i, j)| ((i * 37 + j * 61 + seed * 17) % 97) as f64 / 97.0 - 0.5)
}

/// A well-conditioned lower triangular matrix.
fn lower(size: usize) -> Array2<f64> {
    let noise = noise([size, size], 3);
    Array2::from_shape_fn((size, size), |(i, j)| match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 2.0 + noise[[i, j]],
        std::cmp::Ordering::Greater => noise[[i, j]] / size as f64,
    })
}

fn product(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    Array2::from_shape_fn((a.nrows(), b.ncols()), |(i, j)| {
        (0..a.ncols()).map(|k| a[[i, k]] * b[[k, j]]).sum()
    })
}

fn transpose(a: &Array2<f64>) -> Array2<f64> {
    a.t().as_standard_layout().into_owned()
}

fn distance(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    assert_eq!(a.dim(), b.dim());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn gemm_scales_both_terms() {
    let (a, b, c) = (noise([5, 7], 1), noise([7, 3], 2), noise([5, 3], 3));
    for (alpha, beta) in [(1.0, 0.0), (-1.0, 1.0), (0.5, -2.0), (0.0, 1.0)] {
        let expected = product(&a, &b) * alpha + &c * beta;
        let mut out = c.clone();
        gemm(alpha, a.view(), b.view(), beta, out.view_mut());
        assert!(distance(&out, &expected) < 1e-14, "{alpha} {beta}");
        let mut small = c.mapv(|x| x as f32);
        gemm(
            alpha as f32,
            a.mapv(|x| x as f32).view(),
            b.mapv(|x| x as f32).view(),
            beta as f32,
            small.view_mut(),
        );
        assert!(distance(&small.mapv(f64::from), &expected) < 1e-5, "f32 {alpha} {beta}");
        let mut half = c.mapv(dahl_core::bf16::from_f64);
        let narrow = |matrix: &Array2<f64>| matrix.mapv(dahl_core::bf16::from_f64);
        gemm(
            dahl_core::bf16::from_f64(alpha),
            narrow(&a).view(),
            narrow(&b).view(),
            dahl_core::bf16::from_f64(beta),
            half.view_mut(),
        );
        assert!(distance(&half.mapv(dahl_core::bf16::to_f64), &expected) < 0.05, "bf16 {alpha} {beta}");
    }
}

#[test]
fn gemm_forgets_what_out_held() {
    let (a, b) = (noise([4, 6], 1), noise([6, 4], 2));
    let mut out = Array2::from_elem((4, 4), f64::NAN);
    gemm(1.0, a.view(), b.view(), 0.0, out.view_mut());
    assert!(distance(&out, &product(&a, &b)) < 1e-14);
    // Without an inner dimension the product is 0.
    gemm(1.0, a.slice(s![.., ..0]), b.slice(s![..0, ..]), 0.0, out.view_mut());
    assert!(out.iter().all(|&value| value == 0.0));
}

#[test]
fn syrk_changes_the_lower_triangle_alone() {
    for size in SIZES {
        let (a, c) = (noise([size, 40], 1), noise([size, size], 2));
        let expected = &c - product(&a, &transpose(&a));
        let mut out = c.clone();
        syrk(a.view(), out.view_mut());
        for ((i, j), &value) in out.indexed_iter() {
            let expected = if j <= i { expected[[i, j]] } else { c[[i, j]] };
            assert!((value - expected).abs() < 1e-13, "size {size}, [{i}, {j}]: {value}, not {expected}");
        }
    }
}

#[test]
fn trsm_solves() {
    for size in SIZES {
        let (mut l, x) = (lower(size), noise([70, size], 2));
        let b = product(&x, &transpose(&l));
        for i in 0..size {
            l.slice_mut(s![i, i + 1..]).fill(f64::NAN);
        }
        let mut out = b.clone();
        trsm(l.view(), out.view_mut());
        assert!(distance(&out, &x) < 1e-13, "size {size}");
    }
}

#[test]
fn potrf_finds_the_factor() {
    for size in SIZES {
        let l = lower(size);
        let mut a = product(&l, &transpose(&l));
        for i in 0..size {
            a.slice_mut(s![i, i + 1..]).fill(f64::NAN);
        }
        potrf(a.view_mut()).unwrap();
        assert!(distance(&a, &l) < 1e-12, "size {size}");
    }
}

#[test]
fn potrf_names_the_row_whose_pivot_is_not_positive() {
    for row in [0, 1, 63, 64, 100] {
        let mut a = Array2::eye(120);
        a[[row, row]] = -1.0;
        assert_eq!(potrf(a.view_mut()), Err(NotPositiveDefinite { row }));
        let mut a = Array2::<f64>::eye(120);
        a[[row, row]] = f64::NAN;
        assert_eq!(potrf(a.view_mut()), Err(NotPositiveDefinite { row }));
    }
}

#[test]
fn strides_may_be_any() {
    let l = lower(90);
    let a = product(&l, &transpose(&l));
    let mut spread = Array2::from_elem((180, 270), f64::NAN);
    let mut view = spread.slice_mut(s![..;2, ..;-3]).reversed_axes();
    view.assign(&a);
    potrf(view.view_mut()).unwrap();
    assert!(distance(&view.to_owned(), &l) < 1e-12);
}
