//! The longest common subsequence of two sequences, by Hirschberg's algorithm ("A linear space algorithm for computing maximal
//! common subsequences", 1975): time in proportion to the product of the lengths, space to their sum.

/// Pairs of positions at which both have the same items, as many as possible, ascending in both.
pub(super) fn common<T: PartialEq>(one: &[T], other: &[T]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    extend(one, other, (0, 0), &mut pairs);
    pairs
}

/// Adds the pairs of two sequences that begin at these positions.
fn extend<T: PartialEq>(one: &[T], other: &[T], at: (usize, usize), pairs: &mut Vec<(usize, usize)>) {
    // What is alike at the beginning and at the end is in some longest subsequence.
    let shorter = one.len().min(other.len());
    let before = (0..shorter).take_while(|&index| one[index] == other[index]).count();
    let is_alike = |back: &usize| one[one.len() - 1 - back] == other[other.len() - 1 - back];
    let behind = (0..shorter - before).take_while(is_alike).count();
    pairs.extend((0..before).map(|index| (at.0 + index, at.1 + index)));
    let (middle, other_middle) = (&one[before..one.len() - behind], &other[before..other.len() - behind]);
    let start = (at.0 + before, at.1 + before);
    match middle.len() {
        0 => {}
        1 => {
            let found = other_middle.iter().position(|item| *item == middle[0]);
            pairs.extend(found.map(|index| (start.0, start.1 + index)));
        }
        count => {
            let half = count / 2;
            let (head, tail) = middle.split_at(half);
            let of_heads = lengths(head.iter(), || other_middle.iter());
            let of_tails = lengths(tail.iter().rev(), || other_middle.iter().rev());
            let sum = |cut: &usize| of_heads[*cut] + of_tails[other_middle.len() - cut];
            let cut = (0..=other_middle.len()).max_by_key(sum).expect("there is one");
            let (other_head, other_tail) = other_middle.split_at(cut);
            extend(head, other_head, start, pairs);
            extend(tail, other_tail, (start.0 + half, start.1 + cut), pairs);
        }
    }
    let end = (at.0 + one.len() - behind, at.1 + other.len() - behind);
    pairs.extend((0..behind).map(|index| (end.0 + index, end.1 + index)));
}

/// The lengths of the longest common subsequences of all of `one` and of each beginning of `other`.
fn lengths<'s, T: PartialEq + 's, I: ExactSizeIterator<Item = &'s T>>(
    one: impl Iterator<Item = &'s T>,
    other: impl Fn() -> I,
) -> Vec<usize> {
    let mut row = vec![0; other().len() + 1];
    for item in one {
        // The entry of the row before, to the left.
        let mut diagonal = 0;
        for (index, same) in other().enumerate() {
            let above = row[index + 1];
            row[index + 1] = if item == same { diagonal + 1 } else { above.max(row[index]) };
            diagonal = above;
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::common;

    /// The length of the longest common subsequence, by its definition.
    fn longest(one: &[u8], other: &[u8]) -> usize {
        match (one.split_first(), other.split_first()) {
            (Some((a, one_rest)), Some((b, other_rest))) if a == b => 1 + longest(one_rest, other_rest),
            (Some((_, one_rest)), Some((_, other_rest))) => {
                longest(one_rest, other).max(longest(one, other_rest))
            }
            _ => 0,
        }
    }

    /// All sequences of so many letters of three.
    fn sequences(len: u32) -> impl Iterator<Item = Vec<u8>> {
        (0..3_usize.pow(len))
            .map(move |number| (0..len).map(|digit| (number / 3_usize.pow(digit) % 3) as u8).collect())
    }

    #[test]
    fn it_is_the_longest_of_all_short_sequences() {
        for (len, other_len) in [(0, 3), (1, 4), (2, 5), (4, 4), (5, 3), (6, 4)] {
            for one in sequences(len) {
                for other in sequences(other_len) {
                    let pairs = common(&one, &other);
                    assert!(pairs.iter().all(|&(a, b)| one[a] == other[b]), "{one:?} {other:?} {pairs:?}");
                    assert!(pairs.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1), "{one:?} {other:?} {pairs:?}");
                    assert_eq!(pairs.len(), longest(&one, &other), "{one:?} {other:?}");
                }
            }
        }
    }
}
