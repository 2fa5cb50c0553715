//! Formats numbers for people: three significant digits and a unit.

/// A duration in microseconds, as `us`, `ms` or `s`.
pub(crate) fn time(us: f64) -> String {
    // If rounding to three digits gives a thousand, the next unit is used.
    match us {
        us if us < 999.5 => format!("{} us", significant(us)),
        us if us < 999.5e3 => format!("{} ms", significant(us / 1e3)),
        us => format!("{} s", significant(us / 1e6)),
    }
}

/// Bytes, in powers of 1024.
pub(crate) fn bytes(bytes: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let (mut value, mut place) = (bytes, 0);
    while value >= 999.5 && place + 1 < units.len() {
        (value, place) = (value / 1024.0, place + 1);
    }
    format!("{} {}", if place == 0 { format!("{value:.0}") } else { significant(value) }, units[place])
}

/// A number of things, in powers of 1000: `1.05 M`.
pub(crate) fn count(count: f64) -> String {
    let units = ["", " k", " M", " G", " T", " P"];
    let (mut value, mut place) = (count, 0);
    while value >= 999.5 && place + 1 < units.len() {
        (value, place) = (value / 1e3, place + 1);
    }
    format!(
        "{}{}",
        if place == 0 && value.fract() == 0.0 { format!("{value}") } else { significant(value) },
        units[place]
    )
}

/// A fraction as a percentage.
pub(crate) fn percent(part: f64) -> String {
    format!("{} %", significant(100.0 * part))
}

/// A factor.
pub(crate) fn times(factor: f64) -> String {
    format!("{} x", significant(factor))
}

/// Three significant digits, or all digits before the point.
pub(crate) fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let before_point = value.abs().log10().floor() as i32 + 1;
    // 9.996 is 10.0, and not 10.00.
    let rounded = format!("{value:.*}", usize::try_from(3 - before_point).unwrap_or(0));
    let digits = rounded.trim_start_matches(['-', '0', '.']).chars().filter(char::is_ascii_digit).count();
    match digits > 3 && rounded.contains('.') {
        true => format!("{value:.*}", usize::try_from(2 - before_point).unwrap_or(0)),
        false => rounded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        let of = [0.0, 0.001_234_5, 0.208, 1.0, 9.994, 9.996, 12.345, 123.45, 999.4, 12345.6];
        let said: Vec<_> = of.into_iter().map(significant).collect();
        assert_eq!(said, ["0", "0.00123", "0.208", "1.00", "9.99", "10.0", "12.3", "123", "999", "12346"]);
        assert_eq!(significant(0.09996), "0.100");
    }

    #[test]
    fn the_unit_that_leaves_few_digits() {
        let said: Vec<_> = [0.5, 999.4, 999.6, 12_345.0, 999_600.0].into_iter().map(time).collect();
        assert_eq!(said, ["0.500 us", "999 us", "1.00 ms", "12.3 ms", "1.00 s"]);
        let said: Vec<_> = [0.0, 512.0, 1024.0, 1_572_864.0].into_iter().map(bytes).collect();
        assert_eq!(said, ["0 B", "512 B", "1.00 KiB", "1.50 MiB"]);
        let said: Vec<_> = [7.0, 999.0, 1234.0, 2.5e9].into_iter().map(count).collect();
        assert_eq!(said, ["7", "999", "1.23 k", "2.50 G"]);
    }
}
