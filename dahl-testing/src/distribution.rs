//! [`Distribution`]: how the inputs of a comparison are drawn.

use std::fmt;

use fastrand::Rng;

use super::format::{Format, exp2};

/// A distribution of inputs. Each finds different errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Uniform between -1 and 1.
    Uniform,
    /// Normal, with mean 0 and variance 1.
    Normal,
    /// Of both signs, the exponent uniform over half of the format's range: sums lose their small terms.
    Wide,
    /// Of both signs and nearly the same magnitude: sums and differences lose their leading digits.
    NearCancelling,
    /// As [`Normal`](Self::Normal), with every third element zero, of both signs.
    WithZeros,
    /// Subnormal numbers and the smallest normal ones.
    Subnormal,
    /// As [`Normal`](Self::Normal), with infinities, NaN, zeros of both signs, the largest and the smallest numbers.
    Special,
}

impl Distribution {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Uniform,
        Self::Normal,
        Self::Wide,
        Self::NearCancelling,
        Self::WithZeros,
        Self::Subnormal,
        Self::Special,
    ];

    /// One number, to be rounded to `format`.
    pub(super) fn draw(self, random: &mut Rng, format: Format) -> f64 {
        let sign = if random.bool() { 1.0 } else { -1.0 };
        match self {
            Self::Uniform => 2.0 * random.f64() - 1.0,
            Self::Normal => normal(random),
            Self::Wide => {
                let (least, largest) = format.exponents();
                sign * (1.0 + random.f64()) * exp2(random.i32(least / 2..=largest / 2))
            }
            Self::NearCancelling => sign * (1.0 + 4.0 * format.unit_roundoff() * f64::from(random.u32(0..4))),
            Self::WithZeros => match random.u8(0..3) {
                0 => sign * 0.0,
                _ => normal(random),
            },
            Self::Subnormal => sign * 2.0 * format.smallest_normal() * random.f64(),
            Self::Special => match random.u8(0..24) {
                0 => f64::NAN,
                1 => sign * f64::INFINITY,
                2 => sign * 0.0,
                3 => sign * format.max,
                4 => sign * format.smallest(),
                5 => sign * format.smallest_normal(),
                6 => sign,
                _ => normal(random),
            },
        }
    }

    /// One number between `low` and `high`.
    pub(super) fn draw_within(self, random: &mut Rng, format: Format, low: f64, high: f64) -> f64 {
        // A few attempts keep the distribution's character within the range.
        for _ in 0..8 {
            let value = self.draw(random, format);
            if (low..=high).contains(&value) {
                return value;
            }
        }
        match random.u8(0..16) {
            0 => low,
            1 => high,
            _ => low + (high - low) * random.f64(),
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Uniform => "uniform",
            Self::Normal => "normal",
            Self::Wide => "wide range",
            Self::NearCancelling => "near-cancelling",
            Self::WithZeros => "with zeros",
            Self::Subnormal => "subnormal",
            Self::Special => "special values",
        })
    }
}

/// A normal deviate (Box and Muller 1958).
fn normal(random: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.f64()).cos()
}
