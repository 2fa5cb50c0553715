//! Conversions between half precision, `f32` and `f64`, against the `half` crate and against exact arithmetic.

use dahl_element::element::Real;
use half::{bf16, f16};
use proptest::prelude::*;

/// All `f32` whose bits are a multiple of a prime: every exponent, and many mantissas.
fn sample() -> impl Iterator<Item = f32> {
    (0..=u32::MAX).step_by(1009).map(f32::from_bits)
}

macro_rules! conversions {
    ($module:ident, $half:ident) => {
        mod $module {
            use super::*;

            fn all() -> impl Iterator<Item = $half> {
                (0..=u16::MAX).map($half::from_bits)
            }

            fn assert_narrows_as_half_does(x: f32) {
                let (ours, theirs) = (<$half as Real>::narrow(x), $half::from_f32(x));
                assert_eq!(ours.to_bits(), theirs.to_bits(), "{x:e} ({:#010x})", x.to_bits());
            }

            #[test]
            fn widens_every_number_as_half_does() {
                for x in all() {
                    assert_eq!(Real::widen(x).to_bits(), x.to_f32().to_bits(), "{:#06x}", x.to_bits());
                }
            }

            #[test]
            fn narrows_a_dense_sample_as_half_does() {
                sample().for_each(assert_narrows_as_half_does);
            }

            #[test]
            fn narrows_every_halfway_case_and_its_neighbours_as_half_does() {
                for x in all().filter(|x| x.is_finite()) {
                    let above = $half::from_bits(x.to_bits() + 1).to_f64();
                    let end = 2.0_f64.powi($half::MAX_EXP).copysign(x.to_f64());
                    let above = if above.is_finite() { above } else { end };
                    let halfway = ((x.to_f64() + above) / 2.0) as f32;
                    for x in [x.to_f32(), halfway.next_down(), halfway, halfway.next_up()] {
                        assert_narrows_as_half_does(x);
                    }
                }
            }

            #[test]
            fn f64_is_rounded_once() {
                for x in all().filter(|x| x.is_finite() && x.is_sign_positive() && *x != $half::MAX) {
                    let above = $half::from_bits(x.to_bits() + 1);
                    let halfway = (x.to_f64() + above.to_f64()) / 2.0;
                    let even = if x.to_bits() & 1 == 0 { x } else { above };
                    for (value, rounded) in [
                        (x.to_f64(), x),
                        (halfway.next_down(), x),
                        (halfway, even),
                        (halfway.next_up(), above),
                        (above.to_f64().next_down(), above),
                    ] {
                        assert_eq!(
                            <$half as Real>::from_f64(value).to_bits(),
                            rounded.to_bits(),
                            "{value:e}"
                        );
                        assert_eq!(
                            <$half as Real>::from_f64(-value).to_bits(),
                            (-rounded).to_bits(),
                            "{value:e}"
                        );
                    }
                }
            }

            #[test]
            fn f64_special_values() {
                let from = <$half as Real>::from_f64;
                let halfway_to_overflow =
                    $half::MAX.to_f64() + 2.0_f64.powi($half::MAX_EXP - 1) * $half::EPSILON.to_f64() / 2.0;
                assert!(from(f64::NAN).is_nan());
                assert_eq!(from(f64::INFINITY), $half::INFINITY);
                assert_eq!(from(f64::MAX), $half::INFINITY);
                assert_eq!(from(halfway_to_overflow), $half::INFINITY);
                assert_eq!(from(halfway_to_overflow.next_down()), $half::MAX);
                assert_eq!(from(-0.0).to_bits(), $half::NEG_ZERO.to_bits());
                assert_eq!(from(f64::MIN_POSITIVE).to_bits(), 0);
                assert_eq!(from(-f64::MIN_POSITIVE).to_bits(), $half::NEG_ZERO.to_bits());
            }

            #[test]
            fn slices_are_converted_as_elements_are() {
                let halves: Vec<$half> = all().collect();
                let mut wide = vec![0.0; halves.len()];
                Real::widen_slice(&halves, &mut wide);
                for (half, wide) in halves.iter().zip(&wide) {
                    assert_eq!(half.to_f32().to_bits(), wide.to_bits());
                }
                let wide: Vec<f32> = sample().collect();
                let mut halves = vec![$half::ZERO; wide.len()];
                Real::narrow_slice(&wide, &mut halves);
                for (half, wide) in halves.iter().zip(&wide) {
                    assert_eq!($half::from_f32(*wide).to_bits(), half.to_bits());
                }
            }

            proptest! {
                #[test]
                fn f64_goes_to_the_nearest(mantissa in 1.0..2.0_f64, exponent in -30..20) {
                    let x = mantissa * 2.0_f64.powi(exponent);
                    let rounded = <$half as Real>::from_f64(x);
                    prop_assume!(rounded.is_finite());
                    let error = (rounded.to_f64() - x).abs();
                    for neighbour in [rounded.to_bits() + 1, rounded.to_bits().saturating_sub(1)] {
                        let neighbour = $half::from_bits(neighbour);
                        prop_assert!(!neighbour.is_finite() || error <= (neighbour.to_f64() - x).abs());
                    }
                }
            }
        }
    };
}

conversions!(of_f16, f16);
conversions!(of_bf16, bf16);

#[test]
#[should_panic(expected = "lengths differ")]
fn slices_of_different_lengths() {
    Real::widen_slice(&[f16::ONE], &mut [0.0; 2]);
}
