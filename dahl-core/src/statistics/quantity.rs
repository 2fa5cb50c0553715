//! Durations and bytes as text, in a suitable unit.

/// A number with four significant digits.
fn four_figures(value: f64) -> String {
    let decimals = match value.abs() {
        size if size < 9.9995 => 3,
        size if size < 99.995 => 2,
        size if size < 999.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// `value` in the largest of the units in which it is at least 1; the number with a unit is its size in the first one.
fn in_unit(value: f64, units: &[(f64, &str)]) -> String {
    let suits = |(size, _): &&(f64, &str)| value.abs() >= *size;
    let (size, unit) = units.iter().rev().find(suits).unwrap_or(&units[0]);
    format!("{} {unit}", four_figures(value / size))
}

/// A duration in microseconds.
pub(super) fn duration(us: f64) -> String {
    in_unit(us, &[(1.0, "us"), (1e3, "ms"), (1e6, "s")])
}

/// A number of bytes.
pub(super) fn bytes(bytes: u64) -> String {
    if bytes < 1 << 10 {
        return format!("{bytes} B");
    }
    let units = [(1_u64 << 10, "KiB"), (1 << 20, "MiB"), (1 << 30, "GiB"), (1 << 40, "TiB")];
    in_unit(bytes as f64, &units.map(|(size, unit)| (size as f64, unit)))
}

/// An energy in joules.
pub(super) fn energy(joules: f64) -> String {
    in_unit(joules * 1e6, &[(1.0, "uJ"), (1e3, "mJ"), (1e6, "J"), (1e9, "kJ")])
}

/// A fraction as a percentage.
pub(super) fn share(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// An amount with its unit.
pub(super) fn amount(amount: f64, unit: &str) -> String {
    format!("{} {unit}", four_figures(amount))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_the_unit_that_suits_them() {
        let texts = [0.0, 0.25, 12.345, 999.96, 1_000.0, 59_999.0, 2.5e6, 7.2e9].map(duration);
        let expected =
            ["0.000 us", "0.250 us", "12.35 us", "1000 us", "1.000 ms", "60.00 ms", "2.500 s", "7200 s"];
        assert_eq!(texts, expected);
    }

    #[test]
    fn energies_have_the_unit_that_suits_them() {
        assert_eq!(
            [0.0, 2e-4, 0.25, 12.0, 36e5].map(energy),
            ["0.000 uJ", "200.0 uJ", "250.0 mJ", "12.00 J", "3600 kJ"]
        );
    }

    #[test]
    fn bytes_have_the_unit_that_suits_them() {
        let texts = [0, 1023, 1024, 3 << 19, 5 << 30, u64::MAX].map(bytes);
        assert_eq!(texts, ["0 B", "1023 B", "1.000 KiB", "1.500 MiB", "5.000 GiB", "16777216 TiB"]);
    }
}
