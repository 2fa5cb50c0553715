//! `simd::sum`, `dot`, `max` and `min`: exactness, the shape of the tree, NaN.

use dahl_element::element::{Element, Real};
use dahl_element::simd;
use half::{bf16, f16};
use proptest::prelude::*;

/// The tree that the module's documentation describes, recursively.
fn tree<T: Real>(values: &[T]) -> T::Compute {
    /// The sum of full blocks, of which there are a power of two.
    fn blocks<T: Real>(values: &[T]) -> T::Compute {
        if values.len() <= 1024 {
            return block(values);
        }
        let (left, right) = values.split_at(values.len() / 2);
        blocks(left) + blocks(right)
    }
    fn block<T: Real>(values: &[T]) -> T::Compute {
        let mut lanes: Vec<T::Compute> = (0..32)
            .map(|lane| values.iter().skip(lane).step_by(32).fold(T::Compute::NEG_ZERO, |a, b| a + b.widen()))
            .collect();
        while lanes.len() > 1 {
            let (left, right) = lanes.split_at(lanes.len() / 2);
            lanes = left.iter().zip(right).map(|(a, b)| *a + *b).collect();
        }
        lanes[0]
    }
    if values.len() < 1024 {
        return block(values);
    }
    // The largest full subtree, then the rest.
    let full = 1024 << (values.len() / 1024).ilog2();
    let (left, right) = values.split_at(full);
    if right.is_empty() { blocks(left) } else { blocks(left) + tree(right) }
}

#[test]
fn ten_million_ones_are_exact() {
    assert_eq!(simd::sum(&vec![1.0_f32; 10_000_000]), 10_000_000.0);
    assert_eq!(simd::sum(&vec![1.0_f32; 20_000_003]), 20_000_003.0_f32);
    assert_eq!(simd::sum(&vec![1.0_f64; 10_000_000]), 10_000_000.0);
    assert_eq!(simd::sum(&vec![f16::ONE; 10_000_000]), 10_000_000.0_f32);
    assert_eq!(simd::sum(&vec![bf16::ONE; 10_000_000]), 10_000_000.0_f32);
}

#[test]
fn a_sum_of_tenths_is_accurate() {
    let n = 10_000_000;
    let exact = f64::from(0.1_f32) * n as f64;
    let sum = simd::sum(&vec![0.1_f32; n]);
    assert!((f64::from(sum) - exact).abs() / exact < 1e-6, "{sum}");
}

#[test]
fn the_sum_has_the_documented_shape() {
    fn check<T: Real>() {
        let values: Vec<T> = (0..50_000_u32)
            .map(|i| T::from_f64((f64::from(i.wrapping_mul(2_654_435_761)) / 1e9 - 2.0).powi(5)))
            .collect();
        for length in (0..3000).chain((3000..50_000).step_by(977)).chain([4096, 8192, 16_384, 28_672]) {
            let values = &values[..length];
            let (found, expected) = (simd::sum(values), tree(values));
            let [found, expected] = [found, expected].map(|sum| sum.to_f64().to_bits());
            assert_eq!(found, expected, "{length} elements of {}", T::NAME);
        }
    }
    check::<f16>();
    check::<bf16>();
    check::<f32>();
    check::<f64>();
}

#[test]
fn dot_is_the_sum_of_the_products() {
    let a: Vec<f32> = (0..5000).map(|i| (i as f32).sin()).collect();
    let b: Vec<f32> = (0..5000).map(|i| (i as f32).cos()).collect();
    for length in [0, 1, 31, 32, 33, 1023, 1024, 1025, 5000] {
        let products: Vec<f32> = a[..length].iter().zip(&b).map(|(a, b)| a * b).collect();
        assert_eq!(simd::dot(&a[..length], &b[..length]).to_bits(), simd::sum(&products).to_bits());
    }
}

#[test]
fn half_precision_accumulates_in_f32() {
    // The square of 300 is beyond f16, and 2048 + 1 is 2048 in f16.
    let x = vec![f16::from_f32(300.0); 10];
    assert_eq!(simd::dot(&x, &x), 900_000.0);
    assert_eq!(simd::sum(&[f16::from_f32(2048.0), f16::ONE]), 2049.0);
}

#[test]
#[should_panic(expected = "a has 2 elements but b has 3")]
fn dot_of_different_lengths() {
    simd::dot(&[1.0, 2.0], &[1.0, 2.0, 3.0]);
}

#[test]
fn empty_slices_give_the_identity() {
    assert_eq!(simd::sum::<f32>(&[]), 0.0);
    assert_eq!(simd::dot::<f64>(&[], &[]), 0.0);
    assert_eq!(simd::max::<f32>(&[]), f32::NEG_INFINITY);
    assert_eq!(simd::min::<f16>(&[]), f16::INFINITY);
    assert_eq!(simd::max::<i32>(&[]), i32::MIN);
}

#[test]
fn sums_keep_the_sign_of_zero() {
    assert!(simd::sum(&[-0.0_f32; 5]).is_sign_negative());
    assert!(simd::sum(&[-0.0_f32, 0.0]).is_sign_positive());
}

fn extremes_propagate_nan<T: Real>() {
    for length in [1, 31, 32, 100, 2000] {
        for position in [0, length / 2, length - 1] {
            let mut values = vec![T::ONE; length];
            values[position] = T::NAN;
            assert!(
                simd::max(&values).is_nan() && simd::min(&values).is_nan(),
                "{} {length} {position}",
                T::NAME
            );
            values[position] = T::NEG_INFINITY;
            assert_eq!(simd::min(&values), T::NEG_INFINITY);
        }
    }
    assert!(simd::max(&[T::NEG_ZERO, T::ZERO, T::NEG_ZERO]).is_sign_positive());
    assert!(simd::min(&[T::ZERO, T::NEG_ZERO, T::ZERO]).is_sign_negative());
}

#[test]
fn extremes() {
    extremes_propagate_nan::<f16>();
    extremes_propagate_nan::<bf16>();
    extremes_propagate_nan::<f32>();
    extremes_propagate_nan::<f64>();
    assert_eq!(simd::max(&[3_u8, 200, 7]), 200);
    assert_eq!(simd::min(&[3_i64, -200, 7]), -200);
    assert_eq!(<i32 as Element>::LOWEST, simd::max::<i32>(&[]));
}

proptest! {
    #[test]
    fn extremes_are_those_of_a_fold(values in prop::collection::vec(-1e6..1e6_f64, 1..300)) {
        prop_assert_eq!(simd::max(&values), values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        prop_assert_eq!(simd::min(&values), values.iter().copied().fold(f64::INFINITY, f64::min));
    }

    #[test]
    fn sums_of_integers_are_exact(values in prop::collection::vec(-1000..1000_i32, 0..5000)) {
        let reals: Vec<f32> = values.iter().map(|x| *x as f32).collect();
        prop_assert_eq!(simd::sum(&reals), values.iter().sum::<i32>() as f32);
    }
}
