//! [`Scaled`]: a product with an exponent of its own, so that intermediate results neither overflow nor underflow.

use dahl_core::Real;

use super::scratch::with_scratch;

/// `mantissa * s^-exponent`, with `s` a power of two far below one, the square root of the smallest normal number.
///
/// Invariant: the mantissa is zero, infinite, NaN, or between `sqrt(s)` and `1 / sqrt(s)`, up to one factor of `s`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scaled<C> {
    mantissa: C,
    exponent: i32,
}

impl<C: Real<Compute = C>> Scaled<C> {
    /// One, the product of nothing.
    pub(crate) const ONE: Self = Self { mantissa: C::ONE, exponent: 0 };

    /// This number.
    #[inline(always)]
    pub(crate) fn new(value: C) -> Self {
        Self { mantissa: value, exponent: 0 }.normalised()
    }

    /// `s`, the square root of an even power of two in `f32` and `f64`, so it is exact.
    #[inline(always)]
    fn scale() -> C {
        C::MIN_POSITIVE.sqrt()
    }

    #[inline(always)]
    fn normalised(mut self) -> Self {
        let (small, below) = (Self::scale(), Self::scale().sqrt());
        let (large, above) = (small.recip(), below.recip());
        while self.mantissa.abs() > above && self.mantissa.is_finite() {
            self.mantissa *= small;
            self.exponent += 1;
        }
        while self.mantissa.abs() < below && self.mantissa != C::ZERO {
            self.mantissa *= large;
            self.exponent -= 1;
        }
        self
    }

    /// The product, rounded once.
    #[inline(always)]
    pub(crate) fn times(self, other: Self) -> Self {
        let exponent = self.exponent.saturating_add(other.exponent);
        Self { mantissa: self.mantissa * other.mantissa, exponent }.normalised()
    }

    /// The nearest representable number: infinity or zero if it is out of range.
    #[inline(always)]
    pub(crate) fn value(self) -> C {
        let small = Self::scale();
        let factor = if self.exponent > 0 { small.recip() } else { small };
        // After four factors every mantissa is out of range.
        (0..self.exponent.unsigned_abs().min(4)).fold(self.mantissa, |value, _| value * factor)
    }
}

/// The product of all elements.
#[inline(always)]
pub(crate) fn product<C: Real<Compute = C>>(values: impl IntoIterator<Item = C>) -> Scaled<C> {
    values.into_iter().fold(Scaled::ONE, |product, value| product.times(Scaled::new(value)))
}

/// Replaces each element by `factor` times the product of all others.
pub(crate) fn products_of_others<C: Real<Compute = C>>(values: &mut [C], factor: C) {
    with_scratch([values.len()], |[mantissas]: [&mut [C]; 1]| {
        with_scratch([values.len()], |[exponents]: [&mut [i32]; 1]| {
            let mut before = Scaled::new(factor);
            for ((mantissa, exponent), &value) in mantissas.iter_mut().zip(&mut *exponents).zip(&*values) {
                (*mantissa, *exponent) = (before.mantissa, before.exponent);
                before = before.times(Scaled::new(value));
            }
            let mut after = Scaled::ONE;
            for ((&mantissa, &exponent), value) in mantissas.iter().zip(&*exponents).zip(values).rev() {
                let others = Scaled { mantissa, exponent }.times(after);
                after = after.times(Scaled::new(*value));
                *value = others.value();
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overflows_on_the_way_comes_back() {
        let large = 2.0_f32.powi(127);
        assert_eq!(product([large, large, 0.5, 1.0 / large, 1.0 / large]).value(), 0.5);
        assert_eq!(
            product([f64::from_bits(1), f64::from_bits(1), 2.0_f64.powi(1023), 2.0_f64.powi(1023)]).value(),
            2.0_f64.powi(-102)
        );
        assert_eq!(product([1e-30_f32, 1e-30, f32::INFINITY]).value(), f32::INFINITY);
        assert_eq!(product([1e30_f32; 1000]).value(), f32::INFINITY);
        assert_eq!(product([-1e-30_f32; 1001]).value(), -0.0);
        assert!(product([0.0_f32, f32::INFINITY]).value().is_nan());
        assert_eq!(product::<f32>([]).value(), 1.0);
    }
}
