//! [`Failed`]: subproblems without a solution, so that none is searched twice.

use std::collections::HashMap;

/// The name of a subproblem: its buffers with their least offsets, hashed to 128 bits.
pub(super) type Key = u128;

/// The place in the order of candidates, an offset and a buffer: candidates follow it.
pub(super) type Cursor = (u64, u32);

/// Subproblems without a solution. Of each it keeps the least cursor from which none was found: from a later cursor there
/// are fewer candidates, and no solution either.
#[derive(Debug, Default)]
pub(super) struct Failed {
    cursors: HashMap<Key, Cursor>,
}

/// The most subproblems that are kept: 130 MiB of them. Then all are forgotten, which costs time and no solution.
const MOST: usize = 1 << 21;

impl Failed {
    pub(super) fn add(&mut self, key: Key, cursor: Cursor) {
        if self.cursors.len() >= MOST {
            self.cursors.clear();
        }
        self.cursors.entry(key).and_modify(|least| *least = cursor.min(*least)).or_insert(cursor);
    }

    pub(super) fn contains(&self, key: Key, cursor: Cursor) -> bool {
        self.cursors.get(&key).is_some_and(|&least| least <= cursor)
    }
}

/// The share of one buffer and its least offset in a [`Key`], which is the sum of the shares.
pub(super) fn share(buffer: u32, offset: u64) -> Key {
    let low = mix(offset ^ mix(u64::from(buffer) + 1));
    let high = mix(low ^ offset.rotate_left(32) ^ 0x9e37_79b9_7f4a_7c15);
    u128::from(high) << 64 | u128::from(low)
}

/// The mixing function of SplitMix64.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::{Failed, share};

    #[test]
    fn a_failure_holds_from_its_cursor_on() {
        let mut failed = Failed::default();
        let key = share(1, 7).wrapping_add(share(2, 0));
        failed.add(key, (5, 2));
        failed.add(key, (9, 0));
        let known = [(5, 1), (5, 2), (5, 3), (6, 0)].map(|cursor| failed.contains(key, cursor));
        assert_eq!(known, [false, true, true, true]);
        failed.add(key, (0, 3));
        assert!(failed.contains(key, (5, 1)));
        assert!(!failed.contains(share(1, 0).wrapping_add(share(2, 7)), (9, 9)));
    }
}
