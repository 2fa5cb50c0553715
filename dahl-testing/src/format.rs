//! [`Format`]: a floating-point format, in which errors are measured.

use dahl_core::element::ElementType;

/// A binary floating-point format: its precision, and its range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    /// Digits of the significand, including the leading one.
    precision: i32,
    /// Exponent of the smallest normal number.
    min_exponent: i32,
    /// The largest finite number.
    pub(super) max: f64,
}

const F16: Format = Format { precision: 11, min_exponent: -14, max: 65504.0 };
const BF16: Format = Format { precision: 8, min_exponent: -126, max: 3.3895313892515355e38 };
const F32: Format = Format { precision: 24, min_exponent: -126, max: f32::MAX as f64 };
const F64: Format = Format { precision: 53, min_exponent: -1022, max: f64::MAX };

impl Format {
    /// The format of an element type, if it is one of the four floating-point types.
    pub(super) fn of(element: ElementType) -> Option<Self> {
        [
            (ElementType::of::<half::f16>(), F16),
            (ElementType::of::<half::bf16>(), BF16),
            (ElementType::of::<f32>(), F32),
            (ElementType::of::<f64>(), F64),
        ]
        .into_iter()
        .find_map(|(known, format)| (known == element).then_some(format))
    }

    /// The format of the compute type for elements of this one.
    pub(super) fn compute(self) -> Self {
        if self.precision < F32.precision { F32 } else { self }
    }

    /// Whether this is `f64`, in which references compute too.
    pub(super) fn is_widest(self) -> bool {
        self.precision == F64.precision
    }

    /// The unit roundoff: the largest relative error of rounding.
    pub(super) fn unit_roundoff(self) -> f64 {
        exp2(-self.precision)
    }

    /// The unit in the last place at `value`: the distance between numbers of this format in its binade.
    pub(super) fn ulp(self, value: f64) -> f64 {
        if !value.is_finite() {
            return f64::INFINITY;
        }
        exp2(exponent(value).max(self.min_exponent) - (self.precision - 1))
    }

    /// The least number that rounds to infinity: the largest finite number plus half a unit.
    pub(super) fn overflow(self) -> f64 {
        self.max + 0.5 * self.ulp(self.max)
    }

    /// The smallest positive number.
    pub(super) fn smallest(self) -> f64 {
        exp2(self.min_exponent - (self.precision - 1))
    }

    /// The smallest positive normal number.
    pub(super) fn smallest_normal(self) -> f64 {
        exp2(self.min_exponent)
    }

    /// The exponents of the smallest normal and of the largest number.
    pub(super) fn exponents(self) -> (i32, i32) {
        (self.min_exponent, exponent(self.max))
    }
}

/// The exponent of the binade of `value`; that of the smallest normal `f64` for smaller values.
fn exponent(value: f64) -> i32 {
    let biased = (value.to_bits() >> 52) & 0x7ff;
    biased.max(1) as i32 - 1023
}

/// 2 to the power `exponent`, exactly, down to the smallest subnormal number.
pub(super) fn exp2(exponent: i32) -> f64 {
    if exponent >= -1022 {
        2.0_f64.powi(exponent)
    } else {
        2.0_f64.powi(-1022) * 2.0_f64.powi(exponent + 1022)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dahl_core::element::Real;

    /// The distance from a number to the next is its ULP, by the constants of the type itself.
    fn ulp_is_the_distance_to_the_next<T: Real>(next: impl Fn(T) -> T) {
        let format = Format::of(ElementType::of::<T>()).unwrap();
        let numbers =
            [T::ONE, T::from_f64(0.999), T::PI, T::MIN_POSITIVE, T::from_f64(format.smallest()), T::ZERO];
        for number in numbers {
            assert_eq!(next(number).to_f64() - number.to_f64(), format.ulp(number.to_f64()), "{number}");
        }
        assert_eq!(format.max, T::MAX.to_f64());
        assert_eq!(format.smallest_normal(), T::MIN_POSITIVE.to_f64());
        assert_eq!(2.0 * format.unit_roundoff(), T::EPSILON.to_f64());
    }

    #[test]
    fn units_in_the_last_place() {
        ulp_is_the_distance_to_the_next(|x: half::f16| half::f16::from_bits(x.to_bits() + 1));
        ulp_is_the_distance_to_the_next(|x: half::bf16| half::bf16::from_bits(x.to_bits() + 1));
        ulp_is_the_distance_to_the_next(f32::next_up);
        ulp_is_the_distance_to_the_next(f64::next_up);
    }

    #[test]
    fn what_rounds_to_infinity_is_half_a_unit_above_the_largest() {
        assert_eq!(F16.overflow(), 65520.0);
        assert!(<half::f16 as Real>::from_f64(F16.overflow()).is_infinite());
        assert!(<half::f16 as Real>::from_f64(F16.overflow().next_down()).is_finite());
    }
}
