//! Shrinks a failing case: shorter extents first, then simpler values.

use super::buffer::Buffer;

/// The most cases that are tried.
const ATTEMPTS: usize = 400;

/// The smallest inputs found for which `fails` still returns true. Equal extents remain equal, so that related shapes
/// still agree.
pub(super) fn shrink(
    inputs: Vec<Option<Buffer>>,
    ranges: &[Range],
    keep_shapes: bool,
    mut fails: impl FnMut(&[Option<Buffer>]) -> bool,
) -> Vec<Option<Buffer>> {
    let mut search = Search { best: inputs, ranges, left: ATTEMPTS, fails: &mut fails };
    if !keep_shapes {
        while search.shorten() {}
    }
    while search.simplify() {}
    search.best
}

/// The simpler values of an array.
#[derive(Clone, Copy, Debug)]
pub(super) enum Range {
    Any,
    Within(f64, f64),
    /// None: the values stay.
    AsItIs,
}

impl Range {
    fn has(self, value: f64) -> bool {
        match self {
            Self::Any => true,
            Self::Within(low, high) => (low..=high).contains(&value),
            Self::AsItIs => false,
        }
    }
}

struct Search<'a> {
    best: Vec<Option<Buffer>>,
    ranges: &'a [Range],
    left: usize,
    fails: &'a mut dyn FnMut(&[Option<Buffer>]) -> bool,
}

impl Search<'_> {
    /// Accepts the candidate if it fails too.
    fn take(&mut self, candidate: Vec<Option<Buffer>>) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let fails = (self.fails)(&candidate);
        if fails {
            self.best = candidate;
        }
        fails
    }

    /// Shortens one extent, in all arrays that have it. False if that is no longer possible.
    fn shorten(&mut self) -> bool {
        let mut extents: Vec<usize> =
            self.best.iter().flatten().flat_map(|buffer| buffer.extents.iter().copied()).collect();
        extents.sort_unstable();
        extents.dedup();
        for &extent in extents.iter().rev().filter(|&&extent| extent > 1) {
            for shorter in [1, 2, extent / 2, extent - 1] {
                let is_shorter = (1..extent).contains(&shorter);
                if is_shorter
                    && [false, true].iter().any(|&last| self.take(self.with_extent(extent, shorter, last)))
                {
                    return true;
                }
            }
        }
        false
    }

    /// The inputs with an extent shortened on every axis that has it, to the first indices or to the `last` ones.
    fn with_extent(&self, extent: usize, shorter: usize, last: bool) -> Vec<Option<Buffer>> {
        let shorten = |buffer: &Buffer| {
            let extents = buffer.extents.iter().map(|&own| if own == extent { shorter } else { own });
            buffer.corner(extents.collect(), last)
        };
        self.best.iter().map(|buffer| buffer.as_ref().map(shorten)).collect()
    }

    /// Simplifies values of one array. False if that is no longer possible.
    fn simplify(&mut self) -> bool {
        for place in 0..self.best.len() {
            let Some(buffer) = &self.best[place] else { continue };
            let values = buffer.values();
            let mut size = values.len();
            while size > 0 {
                for begin in (0..values.len()).step_by(size) {
                    let end = (begin + size).min(values.len());
                    let simpler: Vec<Vec<f64>> = [|_| 0.0, |_| 1.0, f64::round, coarse]
                        .iter()
                        .map(|simpler: &fn(f64) -> f64| {
                            let range = self.ranges[place];
                            let value = |(i, &value): (usize, &f64)| {
                                let simple = simpler(value);
                                if (begin..end).contains(&i) && range.has(simple) { simple } else { value }
                            };
                            values.iter().enumerate().map(value).collect()
                        })
                        .filter(|candidate: &Vec<f64>| weight(candidate) < weight(&values))
                        .collect();
                    for candidate in simpler {
                        let mut next = self.best.clone();
                        let buffer = next[place].as_mut().expect("it was there");
                        *buffer = Buffer::of(buffer.element, buffer.extents.clone(), &candidate);
                        if self.take(next) {
                            return true;
                        }
                    }
                }
                size /= 2;
            }
        }
        false
    }
}

/// The value rounded to two significant digits.
fn coarse(value: f64) -> f64 {
    format!("{value:.1e}").parse().unwrap_or(value)
}

/// How far the values are from simple ones; simpler values have less weight.
fn weight(values: &[f64]) -> usize {
    let of = |&value: &f64| match value {
        0.0 if value.is_sign_positive() => 0,
        1.0 => 1,
        _ => 1 + format!("{value:e}").len(),
    };
    values.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dahl_core::element::ElementType;

    #[test]
    fn one_element_that_matters_is_left() {
        let values: Vec<f64> = (0..35).map(|i| f64::from(i) * 1.37 - 3.0).collect();
        let buffer = Buffer::of(ElementType::of::<f64>(), vec![5, 7], &values);
        let is_large = |inputs: &[Option<Buffer>]| {
            inputs[0].as_ref().is_some_and(|buffer| buffer.values().iter().any(|&value| value > 20.0))
        };
        let smallest = shrink(vec![Some(buffer), None], &[Range::Any; 2], false, is_large);
        let smallest = smallest[0].as_ref().unwrap();
        let left: Vec<f64> = smallest.values().into_iter().filter(|&value| value != 0.0).collect();
        assert_eq!(left.len(), 1, "{left:?}");
        assert!(left[0] > 20.0 && smallest.len() < 35, "{smallest:?}");
    }
}
