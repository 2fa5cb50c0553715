//! Maps of arrays by their ids.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::array_id::ArrayId;

/// Ids are numbers that are given out one after the other: one multiplication spreads them.
#[derive(Default)]
pub(super) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(self.0 ^ u64::from(byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 32;
    }
}

pub(super) type ById<V> = HashMap<ArrayId, V, BuildHasherDefault<IdHasher>>;
