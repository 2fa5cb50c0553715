//! [`position`]: the index of an element, found in vectors.

use dahl_core::Element;

/// Elements of a block. The loop over a block has no early exit, so that it is vectorised.
const BLOCK: usize = 64;

/// The index of the first of `values` that equals `value`; NaN equals NaN.
#[inline(always)]
pub(crate) fn position<T: Element>(values: &[T], value: T) -> Option<usize> {
    #[allow(clippy::eq_op, reason = "NaN is what differs from itself")]
    let is_it = |other: T| other == value || (other != other && value != value);
    for (number, block) in values.chunks(BLOCK).enumerate() {
        if block.iter().fold(false, |any, other| any | is_it(*other)) {
            return Some(number * BLOCK + block.iter().position(|other| is_it(*other))?);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equal_elements_is_found() {
        for len in [0, 1, 63, 64, 65, 200] {
            let mut values: Vec<f32> = (0..len).map(|i| i as f32).collect();
            assert_eq!(position(&values, f32::NAN), None);
            for place in 0..len {
                assert_eq!(position(&values, place as f32), Some(place));
            }
            values.extend([f32::NAN; 100]);
            assert_eq!(position(&values, f32::NAN), Some(len));
            assert_eq!(position(&values, -1.0), None);
        }
    }
}
