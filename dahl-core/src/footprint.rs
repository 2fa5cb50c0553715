//! The *footprint* of a task: the extents of its arrays, as a key of tables and as text.

use std::hash::{BuildHasherDefault, Hasher};

/// A hash of a footprint, continued from `hash`.
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
