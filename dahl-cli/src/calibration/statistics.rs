//! Robust statistics of durations: other programs and interrupts make some of them long.

/// The median; none of nothing.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        len if len % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

/// The mean without the slowest and the fastest tenth.
pub(super) fn trimmed_mean(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let cut = values.len() / 10;
    let kept = values.get(cut..values.len() - cut)?;
    (!kept.is_empty()).then(|| kept.iter().sum::<f64>() / kept.len() as f64)
}

/// The spread relative to the median: the median absolute deviation times 1.4826, as the standard deviation of a normal
/// distribution.
pub(super) fn relative_spread(values: &[f64]) -> Option<f64> {
    let middle = median(values.to_vec()).filter(|middle| *middle > 0.0)?;
    let deviation = median(values.iter().map(|value| (value - middle).abs()).collect())?;
    Some(1.4826 * deviation / middle)
}

/// The line through these points by least squares: its value at 0, and its slope. If the value at 0 were negative, it is the line
/// through 0. None if it does not rise.
pub(super) fn line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let varies: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    let together: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let slope = together / varies;
    if !(varies > 0.0 && slope > 0.0) {
        return None;
    }
    let at_zero = y - slope * x;
    if at_zero >= 0.0 {
        return Some((at_zero, slope));
    }
    let sum = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>();
    Some((0.0, sum(|point| point.0 * point.1) / sum(|point| point.0 * point.0)))
}

#[cfg(test)]
mod tests {
    use super::{line, median, relative_spread, trimmed_mean};

    #[test]
    fn a_line_meets_its_points_also_if_it_begins_at_zero() {
        assert_eq!(line(&[(1.0, 5.0), (3.0, 9.0)]), Some((3.0, 2.0)));
        // By least squares it would be -90 at 0.
        let (at_zero, slope) = line(&[(10.0, 10.0), (11.0, 20.0)]).expect("it rises");
        assert!(at_zero == 0.0 && (1.0..2.0).contains(&slope), "{slope}");
        assert_eq!((line(&[(1.0, 5.0), (3.0, 4.0)]), line(&[(2.0, 5.0)]), line(&[])), (None, None, None));
    }

    #[test]
    fn a_long_duration_among_many_changes_little() {
        let values = || (0..20).map(|index| if index == 7 { 1e6 } else { 10.0 + f64::from(index % 2) });
        // Ten of 10, nine of 11, and the long one.
        assert_eq!(median(values().collect()), Some(10.5));
        assert!(trimmed_mean(values().collect()).is_some_and(|mean| (10.0..11.0).contains(&mean)));
        assert!(relative_spread(&values().collect::<Vec<_>>()).is_some_and(|spread| spread < 0.2));
        assert_eq!((median(Vec::new()), trimmed_mean(Vec::new()), relative_spread(&[])), (None, None, None));
        assert_eq!(median(vec![3.0, 1.0]), Some(2.0));
    }
}
