//! The *footprint* of a task: the extents of its arrays, as a key of tables and as text.

use std::hash::{BuildHasherDefault, Hasher};

/// How many rows a table by footprint keeps. Shapes that vary have no end; a table that is full drops half of its rows.
pub(crate) const MOST_ROWS: usize = 8192;

/// Which rows of a full table stay, in their order: half of them. `rows` says of each whether it was used since the last
/// time, and how often it was used in all. Those that were not used go first, then those that were used least.
pub(crate) fn survivors(rows: impl IntoIterator<Item = (bool, u64)>) -> Vec<bool> {
    let mut ranked: Vec<_> = rows.into_iter().enumerate().map(|(row, uses)| (uses, row)).collect();
    let mut stays = vec![false; ranked.len()];
    // Of rows with equal uses the latest stay.
    ranked.sort_unstable_by(|a, b| b.cmp(a));
    ranked[..ranked.len() / 2].iter().for_each(|&(_, row)| stays[row] = true);
    stays
}

/// The memory that a footprint takes, beside its own size.
pub(crate) fn bytes(footprint: &[Vec<usize>]) -> usize {
    footprint.iter().map(|extents| size_of::<Vec<usize>>() + extents.capacity() * size_of::<usize>()).sum()
}

/// A hash of a footprint and of what `hash` is of.
pub(crate) fn hash_after<'f>(mut hash: u64, footprint: impl Iterator<Item = &'f [usize]>) -> u64 {
    for extents in footprint {
        hash = mix(hash, extents.len() as u64);
        for &extent in extents {
            hash = mix(hash, extent as u64);
        }
    }
    hash
}

/// Both halves of a product of 128 bits: each bit of the result depends on each bit of the operands.
pub(crate) fn mix(hash: u64, value: u64) -> u64 {
    let product =
        u128::from(hash ^ 0x9e37_79b9_7f4a_7c15) * u128::from(value.rotate_left(32) ^ 0xd1b5_4a32_d192_ed03);
    (product as u64) ^ ((product >> 64) as u64)
}

/// For maps with hashes as keys.
pub(crate) type Hashed = BuildHasherDefault<AsIs>;

/// Hashes a `u64` to itself.
#[derive(Default)]
pub(crate) struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are written as one u64");
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

#[cfg(test)]
mod tests {
    use super::survivors;

    #[test]
    fn rows_that_were_not_used_go_first_and_then_those_that_were_used_least() {
        let rows = [(true, 1), (false, 900), (true, 50), (true, 2), (false, 3), (true, 2)];
        assert_eq!(survivors(rows), [false, false, true, true, false, true]);
        assert!(survivors([]).is_empty());
    }
}
