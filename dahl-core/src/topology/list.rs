//! Lists of processors as Linux writes them: `0-3,8,10-11`.

/// The numbers of a list; none if the text is not a list.
pub(super) fn parse(text: &str) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        // No machine has more; a mistyped number must not exhaust memory.
        if first > last || last >= 1 << 16 {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn ranges_and_numbers() {
        assert_eq!(parse("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(parse(""), Some(vec![]));
        for wrong in ["a", "1-", "3-1", "0-99999999", "-1", "1;2"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
