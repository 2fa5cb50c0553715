//! [`Digits`]: two numbers, one under the other, with the digits marked in which they differ.

use std::fmt;

/// An expected number above the actual one, aligned on the decimal point, with the differing digits marked.
///
/// ```text
///   expected  12.001
///   got        1.001
///             ^^
/// ```
#[derive(Debug, Clone)]
pub struct Digits {
    expected: String,
    got: String,
}

impl Digits {
    /// Both numbers, with the digits that distinguish them from their neighbours.
    pub fn new(expected: f64, got: f64) -> Self {
        Self::of_texts(number(expected, &[got]), number(got, &[expected]))
    }

    /// Numbers as text.
    pub(crate) fn of_texts(expected: String, got: String) -> Self {
        Self { expected, got }
    }

    /// The two texts, aligned, and the marks below them.
    fn lines(&self) -> [String; 3] {
        let point = |text: &str| text.find(['.', 'e']).unwrap_or(text.len());
        let left = point(&self.expected).max(point(&self.got));
        let align = |text: &str| format!("{}{text}", " ".repeat(left - point(text)));
        let (expected, got) = (align(&self.expected), align(&self.got));
        let len = expected.len().max(got.len());
        let at = |text: &str, i: usize| text.as_bytes().get(i).copied().unwrap_or(b' ');
        let marks: String =
            (0..len).map(|i| if at(&expected, i) == at(&got, i) { ' ' } else { '^' }).collect();
        [expected, got, marks.trim_end().to_owned()]
    }
}

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [expected, got, marks] = self.lines();
        writeln!(f, "  expected  {expected}")?;
        writeln!(f, "  got       {got}")?;
        write!(f, "            {marks}")
    }
}

/// `value` in the fewest digits that distinguish it from every other `f64`; scientific if it or one of `beside` would
/// be long.
pub(crate) fn number(value: f64, beside: &[f64]) -> String {
    let is_long = |value: f64| value.is_finite() && value != 0.0 && !(1e-5..1e16).contains(&value.abs());
    if is_long(value) || beside.iter().any(|&other| is_long(other)) {
        format!("{value:e}")
    } else {
        format!("{value:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::Digits;

    fn lines(expected: f64, got: f64) -> String {
        Digits::new(expected, got).lines().join("\n")
    }

    #[test]
    fn a_missing_digit_before_the_point_is_marked_there() {
        assert_eq!(lines(12.001, 1.001), "12.001\n 1.001\n^^");
    }

    #[test]
    fn later_digits_are_marked_from_the_first_that_differs() {
        assert_eq!(lines(0.30000000000000004, 0.3), "0.30000000000000004\n0.3\n   ^^^^^^^^^^^^^^^^");
    }

    #[test]
    fn signs_and_exponents_are_marked() {
        assert_eq!(lines(-1.5, 1.5), "-1.5\n 1.5\n^");
        assert_eq!(lines(1e20, 1e21), "1e20\n1e21\n   ^");
        assert_eq!(lines(f64::NAN, 0.5), "NaN\n  0.5\n^^^^^");
    }
}
