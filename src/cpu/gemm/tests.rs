use super::*;

/// Small integers, whose products and sums are exact in any order.
fn integers(shape: [usize; 2], seed: usize) -> ndarray::Array2<f64> {
    ndarray::Array2::from_shape_fn(shape, |(i, j)| ((i * 7 + j * 5 + seed) % 11) as f64 - 5.0)
}

#[test]
fn the_plain_product_agrees_with_that_in_vectors() {
    let (a, b) = (integers([7, 13], 1), integers([13, 5], 2));
    let (mut fast, mut plain) = (integers([7, 5], 3), integers([7, 5], 3));
    product(a.view(), b.view(), fast.view_mut(), true);
    plain_product(a.view(), b.view(), plain.view_mut());
    assert_eq!(fast, plain);
}

#[test]
fn several_cores_give_the_same_bits() {
    let fractions = |shape: [usize; 2], seed: usize| {
        integers(shape, seed).mapv_into(|value| (value * 0.1).exp()) - integers(shape, seed + 3) * 0.37
    };
    let pool = dahl_core::rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("three threads");
    for [rows, inner, cols] in [
        [500, 784, 128],
        [65, 3000, 64],
        [300, 1031, 257],
        [1, 5000, 900],
        [9, 40, 3],
        // The transpose is computed: both factors are contiguous along the depth.
        [128, 784, 500],
        // Panel by panel, with some columns packed; and packed, with some rows panel by panel.
        [30, 700, 600],
        [100, 2000, 100],
        [5, 3000, 300],
    ] {
        let a = fractions([rows, inner], 1);
        for b in [fractions([cols, inner], 2).reversed_axes(), fractions([inner, cols], 2)] {
            let mut alone = fractions([rows, cols], 3);
            let mut together = alone.clone();
            product(a.view(), b.view(), alone.view_mut(), true);
            pool.install(|| product_on(Cores::Pool, a.view(), b.view(), together.view_mut(), true));
            let strides = b.strides();
            assert_eq!(
                alone.mapv(f64::to_bits),
                together.mapv(f64::to_bits),
                "{rows} {inner} {cols}, {strides:?}"
            );
        }
    }
}

#[test]
fn strides_may_be_any() {
    strides_of::<f64>();
    strides_of::<half::bf16>();
}

fn strides_of<T: Real>() {
    let [a, b] = [integers([14, 9], 1), integers([9, 6], 2)].map(|matrix| matrix.mapv(T::from_f64));
    let (every_second, backwards) = (a.slice(s![..;2, ..]), b.slice(s![.., ..;-1]));
    let mut expected = ndarray::Array2::from_elem([7, 6], T::NAN);
    product(every_second.to_owned().view(), backwards.to_owned().view(), expected.view_mut(), false);
    let mut out = ndarray::Array2::from_elem([12, 7], T::NAN);
    product(
        every_second,
        backwards,
        out.slice_mut(s![..;-2, ..;-1]).reversed_axes().slice_mut(s![..7, ..6]),
        false,
    );
    for ((i, j), &value) in expected.indexed_iter() {
        assert_eq!(out[[11 - 2 * j, 6 - i]], value);
    }
    // A part of a matrix whose rows are contiguous; nothing may be written around it.
    let mut out = ndarray::Array2::from_elem([9, 8], T::NAN);
    product(every_second, backwards, out.slice_mut(s![1..8, 1..7]), false);
    assert_eq!(out.slice(s![1..8, 1..7]), expected);
    assert_eq!(out.iter().filter(|value| value.is_nan()).count(), 9 * 8 - 7 * 6);
}

#[test]
#[should_panic(expected = "a has 3 columns but b has 2 rows")]
fn inner_dimensions_must_agree() {
    product(integers([2, 3], 1).view(), integers([2, 4], 1).view(), integers([2, 4], 1).view_mut(), false);
}

/// Small integers in the type `T`, with contiguous rows or columns.
fn matrix_of<T: Real>(shape: [usize; 2], seed: usize, transposed: bool) -> ndarray::Array2<T> {
    let [rows, cols] = shape;
    let value = |i: usize, j: usize| T::from_f64(((i * 7 + j * 5 + seed) % 11) as f64 - 5.0);
    if transposed {
        ndarray::Array2::from_shape_fn([cols, rows], |(j, i)| value(i, j)).reversed_axes()
    } else {
        ndarray::Array2::from_shape_fn([rows, cols], |(i, j)| value(i, j))
    }
}

/// Sums of integers are exact, so each element must be right in all layouts.
fn assert_exact<T: Real>([rows, inner, cols]: [usize; 3]) {
    for layouts in 0..8 {
        let is = |bit: usize| layouts >> bit & 1 == 1;
        let a = matrix_of::<T>([rows, inner], 1, is(0));
        let b = matrix_of::<T>([inner, cols], 2, is(1));
        for accumulate in [false, true] {
            // Without `accumulate`, the old values may not be read.
            let mut out = matrix_of::<T>([rows, cols], 3, is(2));
            let before = out.clone();
            if !accumulate {
                out.fill(T::NAN);
            }
            product(a.view(), b.view(), out.view_mut(), accumulate);
            for ((i, j), &value) in out.indexed_iter() {
                let products = a.row(i).into_iter().zip(b.column(j)).map(|(a, b)| a.to_f64() * b.to_f64());
                let old = if accumulate { before[[i, j]].to_f64() } else { 0.0 };
                let exact = old + products.sum::<f64>();
                let name = T::NAME;
                assert_eq!(
                    value,
                    T::from_f64(exact),
                    "{name} {rows}x{inner}x{cols} at {i}, {j}, layouts {layouts}"
                );
            }
        }
    }
}

#[test]
fn every_remainder_of_a_tile_is_right() {
    for rows in 1..=14 {
        for cols in [1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 80, 129] {
            assert_exact::<f32>([rows, 5, cols]);
            assert_exact::<f64>([cols, 3, rows]);
        }
    }
}

#[test]
fn wide_tiles_of_one_row_and_what_they_leave_are_right() {
    for (rows, cols) in [1, 7].into_iter().flat_map(|rows| [64, 128, 192, 300].map(|cols| (rows, cols))) {
        assert_exact::<f32>([rows, 40, cols]);
        assert_exact::<f64>([rows, 20, cols]);
    }
}

#[test]
fn every_remainder_of_a_block_of_tiles_is_right() {
    for rows in [8, 15, 16, 17, 31, 32, 33, 50] {
        for cols in [8, 15, 16, 17, 31, 32, 33, 80] {
            assert_exact::<half::bf16>([rows, 33, cols]);
        }
    }
}

#[test]
fn a_product_of_halves_without_rows_and_columns_is_nothing() {
    let right = ndarray::Array2::<half::bf16>::zeros((3, 64));
    // A slice without elements keeps its strides.
    let (left, right) =
        (right.slice(ndarray::s![..0, ..]), right.slice(ndarray::s![..0, ..]).reversed_axes());
    let mut out = ndarray::Array2::<f32>::zeros((0, 0));
    super::few_rows::add_product(left, right, out.view_mut());
}

#[test]
fn halves_of_a_few_rows_are_right() {
    for few in [1, 2, 3, 4, 5, 7, 16, 17] {
        // Depths and columns that fill pairs of vectors, and those that do not.
        for [inner, many] in [[32, 64], [77, 70], [96, 131], [9, 65], [40, 33]] {
            for extents in [[few, inner, many], [many, inner, few]] {
                assert_exact::<half::bf16>(extents);
                assert_exact::<half::f16>(extents);
            }
        }
    }
    // Several blocks along the depth, and of columns.
    assert_exact::<half::bf16>([3, 2100, 37]);
    assert_exact::<half::f16>([1, 4133, 34]);
    assert_exact::<half::bf16>([2, 35, 1100]);
    assert_exact::<half::f16>([5, 35, 1039]);
}

#[test]
fn every_remainder_of_the_inner_dimension_is_right() {
    for inner in [0, 1, 2, 3, 15, 16, 17, 31, 33, 255, 256, 257, 511, 512, 513, 1025, 2049] {
        assert_exact::<f32>([7, inner, 70]);
        assert_exact::<f32>([3, inner, 3]);
        assert_exact::<f64>([9, inner, 35]);
        assert_exact::<f64>([1, inner, 11]);
        assert_exact::<half::f16>([7, inner, 37]);
        assert_exact::<half::bf16>([7, inner, 37]);
        assert_exact::<half::bf16>([20, inner, 40]);
    }
}

#[test]
fn blocks_meet_where_they_should() {
    assert_exact::<f32>([2, 1030, 300]);
    assert_exact::<f32>([1030, 513, 5]);
    assert_exact::<f32>([20, 1100, 70]);
    assert_exact::<f64>([7, 600, 140]);
    assert_exact::<half::f16>([515, 3, 6]);
    assert_exact::<half::f16>([3, 515, 520]);
    assert_exact::<half::bf16>([515, 3, 6]);
    assert_exact::<half::bf16>([3, 1030, 520]);
    assert_exact::<half::bf16>([1030, 20, 40]);
    assert_exact::<half::bf16>([20, 20, 1040]);
    assert_exact::<half::bf16>([1029, 1026, 3]);
    assert_exact::<half::bf16>([3, 1026, 1090]);
}

#[test]
fn right_factors_that_leave_the_caches_are_right_for_few_rows() {
    // More than half a mebibyte; columns that fill the last tile and vector or not; depths of one block or several.
    assert_exact::<f32>([8, 88, 1516]);
    assert_exact::<f32>([6, 1040, 130]);
    assert_exact::<f32>([7, 600, 240]);
    assert_exact::<f64>([9, 520, 136]);
    assert_exact::<f64>([15, 70, 960]);
    // The most rows that read it panel by panel, and one more; and a left factor that is transposed.
    assert_exact::<f32>([36, 270, 490]);
    assert_exact::<f32>([37, 270, 490]);
    assert_exact::<f32>([10, 1030, 140]);
    // Rows that share the sets of a cache: it is packed.
    assert_exact::<f64>([6, 150, 4096]);
}

#[test]
fn factors_that_are_subnormal_count() {
    use half::bf16;
    let (small, large) = (bf16::from_bits(1), bf16::from_f32(2.0_f32.powi(100)));
    for [rows, cols] in [[3, 5], [40, 40], [2, 70]] {
        let mut a = ndarray::Array2::from_elem([rows, 1030], bf16::ZERO);
        let mut b = ndarray::Array2::from_elem([1030, cols], bf16::ZERO);
        a[[rows - 1, 600]] = small;
        b[[600, 1]] = large;
        a[[1, 700]] = bf16::ONE;
        b[[700, 0]] = small;
        let mut out = ndarray::Array2::from_elem([rows, cols], bf16::NAN);
        product(a.view(), b.view(), out.view_mut(), false);
        assert_eq!(out[[rows - 1, 1]].to_f64(), small.to_f64() * large.to_f64(), "{rows} by {cols}");
        assert_eq!(out[[1, 0]], small, "{rows} by {cols}");
        out.fill(small);
        product(a.slice(s![.., ..500]), b.slice(s![..500, ..]), out.view_mut(), true);
        assert!(out.iter().all(|&value| value == small), "{rows} by {cols}");
    }
}

#[test]
fn what_is_not_finite_stays_where_it_belongs() {
    for (rows, inner, cols) in [(8, 20, 70), (2, 40, 3), (40, 600, 70), (20, 600, 70)] {
        for layouts in 0..4 {
            let mut a = matrix_of::<f32>([rows, inner], 1, layouts & 1 == 1);
            let mut b = matrix_of::<f32>([inner, cols], 2, layouts & 2 == 2);
            a[[0, inner - 1]] = f32::NAN;
            b[[inner - 1, cols - 1]] = f32::INFINITY;
            a.slice_mut(s![1.., inner - 1]).fill(2.0);
            let mut out = matrix_of::<f32>([rows, cols], 3, false);
            product(a.view(), b.view(), out.view_mut(), true);
            for ((i, j), value) in out.indexed_iter() {
                assert_eq!(value.is_nan(), i == 0, "{value} at {i}, {j}");
                assert_eq!(*value == f32::INFINITY, i > 0 && j == cols - 1, "{value} at {i}, {j}");
            }
        }
    }
}

#[test]
fn sums_beyond_the_range_of_f16_are_infinite_only_when_rounded() {
    use half::f16;
    let a = ndarray::Array2::from_elem([3, 600], f16::from_f32(200.0));
    let mut b = ndarray::Array2::from_elem([600, 40], f16::from_f32(200.0));
    b.slice_mut(s![300.., ..20]).fill(f16::from_f32(-200.0));
    let mut out = ndarray::Array2::from_elem([3, 40], f16::ZERO);
    product(a.view(), b.view(), out.view_mut(), false);
    // 300 products of 40,000 exceed 65,504; subtracted again, they leave 0.
    assert!(out.slice(s![.., ..20]).iter().all(|&value| value == f16::ZERO));
    assert!(out.slice(s![.., 20..]).iter().all(|&value| value == f16::INFINITY));
}

#[test]
fn scales_are_applied_once() {
    for [rows, inner, cols] in [[7, 1100, 70], [2, 600, 3], [20, 600, 70]] {
        let a = integers([rows, inner], 1);
        for b in [integers([inner, cols], 2), integers([cols, inner], 2).reversed_axes()] {
            let (mut plain, mut scaled) = (integers([rows, cols], 3), integers([rows, cols], 3));
            let before = scaled.clone();
            product(a.view(), b.view(), plain.view_mut(), false);
            scaled_product(-2.0, a.view(), b.view(), 3.0, scaled.view_mut());
            assert_eq!(scaled, before * 3.0 - plain * 2.0);
        }
    }
}
