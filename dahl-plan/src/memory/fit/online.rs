//! Allocation in the order of time: best fit among the free ranges, as an allocator at run time does it.

use std::collections::{BTreeMap, BTreeSet};

use super::super::instance::Instance;

/// Allocates the buffers in the order in which their lifetimes begin.
pub(super) fn forward(instance: &Instance) -> Vec<u64> {
    allocate(instance, |buffer| (instance.first[buffer], instance.last[buffer]))
}

/// Allocates the buffers in the order in which their lifetimes end, last first.
pub(super) fn backward(instance: &Instance) -> Vec<u64> {
    let sections = instance.sections() as u32;
    allocate(instance, |buffer| (sections - instance.last[buffer], sections - instance.first[buffer]))
}

/// `lifetime` returns the sections of a buffer, from the first one to the one after the last.
fn allocate(instance: &Instance, lifetime: impl Fn(usize) -> (u32, u32)) -> Vec<u64> {
    let mut starts: Vec<usize> = (0..instance.buffers()).collect();
    let mut ends = starts.clone();
    // Of those that begin together, large ones come first.
    starts.sort_by_key(|&buffer| (lifetime(buffer).0, u64::MAX - instance.size[buffer]));
    ends.sort_by_key(|&buffer| lifetime(buffer).1);
    let mut ends = ends.into_iter().peekable();
    let mut offsets = vec![0; instance.buffers()];
    let mut free = Free::default();
    for buffer in starts {
        let (begin, _) = lifetime(buffer);
        while let Some(ended) = ends.next_if(|&ended| lifetime(ended).1 <= begin) {
            free.give_back(offsets[ended], instance.size[ended]);
        }
        offsets[buffer] = free.take(instance.size[buffer]);
    }
    offsets
}

/// The free ranges below a top above which all is free.
#[derive(Debug, Default)]
struct Free {
    top: u64,
    /// The size of each range, by offset.
    ranges: BTreeMap<u64, u64>,
    /// Size and offset of each range.
    sizes: BTreeSet<(u64, u64)>,
}

impl Free {
    /// Takes the smallest range that is large enough, or a range at the top.
    fn take(&mut self, size: u64) -> u64 {
        if let Some(&(found, offset)) = self.sizes.range((size, 0)..).next() {
            self.remove(offset, found);
            if found > size {
                self.insert(offset + size, found - size);
            }
            return offset;
        }
        let offset = match self.ranges.last_key_value() {
            Some((&offset, &found)) if offset + found == self.top => {
                self.remove(offset, found);
                offset
            }
            _ => self.top,
        };
        self.top = offset + size;
        offset
    }

    /// Gives a range back, and joins it with its free neighbours.
    fn give_back(&mut self, offset: u64, size: u64) {
        let (mut begin, mut end) = (offset, offset + size);
        if let Some((&before, &found)) = self.ranges.range(..offset).next_back()
            && before + found == begin
        {
            self.remove(before, found);
            begin = before;
        }
        if let Some(&found) = self.ranges.get(&end) {
            self.remove(end, found);
            end += found;
        }
        self.insert(begin, end - begin);
    }

    fn insert(&mut self, offset: u64, size: u64) {
        self.ranges.insert(offset, size);
        self.sizes.insert((size, offset));
    }

    fn remove(&mut self, offset: u64, size: u64) {
        self.ranges.remove(&offset);
        self.sizes.remove(&(size, offset));
    }
}
