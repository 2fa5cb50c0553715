//! [`Instance`]: the problem as the algorithms see it, with sizes in units and lifetimes in sections.

use super::buffer::Buffer;
use super::error::Error;

/// Buffers of which each has a size above 0, with lifetimes as ranges of sections.
///
/// A section is a largest set of buffers that all live at one time (a maximal clique of the interval graph), in the order
/// of time. A buffer lives in consecutive sections, and two buffers overlap in time exactly if they share a section.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    /// The first section of each buffer.
    pub(super) first: Vec<u32>,
    /// The section after the last one of each buffer.
    pub(super) last: Vec<u32>,
    /// The size of each buffer in units.
    pub(super) size: Vec<u64>,
    /// The length of each buffer's lifetime.
    pub(super) length: Vec<u64>,
    /// The sum of sizes in each section.
    pub(super) load: Vec<u64>,
}

/// An [`Instance`] with the way back to bytes and to the caller's buffers.
#[derive(Clone, Debug)]
pub(super) struct Scaled {
    pub(super) instance: Instance,
    /// The bytes of a unit: the greatest common divisor of the aligned sizes.
    pub(super) unit: u64,
    /// The caller's position of each buffer of the instance. Those of size 0 are left out.
    pub(super) position: Vec<usize>,
}

impl Scaled {
    /// Checks the buffers, and leaves out those of size 0.
    pub(super) fn new(buffers: &[Buffer], alignment: u64) -> Result<Self, Error> {
        if alignment == 0 {
            return Err(Error::Alignment);
        }
        if let Some(buffer) = buffers.iter().find(|buffer| buffer.lower >= buffer.upper) {
            let Buffer { id, lower, upper, .. } = *buffer;
            return Err(Error::Lifetime { id, lower, upper });
        }
        let position: Vec<usize> = (0..buffers.len()).filter(|&index| buffers[index].size > 0).collect();
        if u32::try_from(position.len()).is_err() {
            return Err(Error::TooLarge);
        }
        let aligned = |&index: &usize| buffers[index].size.checked_next_multiple_of(alignment);
        let bytes: Option<Vec<u64>> = position.iter().map(aligned).collect();
        let bytes = bytes.ok_or(Error::TooLarge)?;
        // A sum that fits keeps all offsets and all sums of the algorithms in range.
        let sum = bytes.iter().try_fold(0_u64, |sum, &size| sum.checked_add(size));
        if sum.is_none_or(|sum| sum > u64::MAX / 4) {
            return Err(Error::TooLarge);
        }
        let unit = bytes.iter().fold(0, |unit, &size| greatest_common_divisor(unit, size)).max(1);
        let size = bytes.iter().map(|size| size / unit).collect();
        let lifetimes: Vec<(i64, i64)> =
            position.iter().map(|&index| (buffers[index].lower, buffers[index].upper)).collect();
        let length = lifetimes.iter().map(|&(lower, upper)| upper.abs_diff(lower)).collect();
        Ok(Self { instance: Instance::new(&lifetimes, size, length), unit, position })
    }
}

impl Instance {
    pub(super) fn new<T: Copy + Ord>(lifetimes: &[(T, T)], size: Vec<u64>, length: Vec<u64>) -> Self {
        let buffers = lifetimes.len();
        let starts = lifetimes.iter().enumerate().map(|(buffer, &(lower, _))| (lower, true, buffer));
        let ends = lifetimes.iter().enumerate().map(|(buffer, &(_, upper))| (upper, false, buffer));
        let mut events: Vec<(T, bool, usize)> = starts.chain(ends).collect();
        // At one time ends come before starts.
        events.sort_unstable();
        let (mut first, mut last) = (vec![0; buffers], vec![0; buffers]);
        let mut load = Vec::new();
        let (mut live, mut has_grown) = (0_u64, false);
        for (_, is_start, buffer) in events {
            if is_start {
                first[buffer] = load.len() as u32;
                live += size[buffer];
                has_grown = true;
            } else {
                // The first end after a start: what lives now is a largest set.
                if has_grown {
                    load.push(live);
                    has_grown = false;
                }
                last[buffer] = load.len() as u32;
                live -= size[buffer];
            }
        }
        Self { first, last, size, length, load }
    }

    pub(super) fn buffers(&self) -> usize {
        self.size.len()
    }

    pub(super) fn sections(&self) -> usize {
        self.load.len()
    }

    /// The sections of a buffer.
    pub(super) fn span(&self, buffer: usize) -> std::ops::Range<usize> {
        self.first[buffer] as usize..self.last[buffer] as usize
    }

    /// The most units that live at one time, which no allocation goes below.
    pub(super) fn lower_bound(&self) -> u64 {
        self.load.iter().copied().max().unwrap_or(0)
    }

    /// The sum over the buffers of the number of their sections.
    pub(super) fn memberships(&self) -> u64 {
        self.first.iter().zip(&self.last).map(|(first, last)| u64::from(last - first)).sum()
    }

    /// The same problem with the buffers in another order.
    pub(super) fn permuted(&self, order: &[usize]) -> Self {
        Self {
            first: order.iter().map(|&buffer| self.first[buffer]).collect(),
            last: order.iter().map(|&buffer| self.last[buffer]).collect(),
            size: order.iter().map(|&buffer| self.size[buffer]).collect(),
            length: order.iter().map(|&buffer| self.length[buffer]).collect(),
            load: self.load.clone(),
        }
    }

    /// Some of the buffers, with the sections that they have.
    pub(super) fn restricted(&self, buffers: &[usize]) -> Self {
        let lifetimes: Vec<_> =
            buffers.iter().map(|&buffer| (self.first[buffer], self.last[buffer])).collect();
        let size = buffers.iter().map(|&buffer| self.size[buffer]).collect();
        let length = buffers.iter().map(|&buffer| self.length[buffer]).collect();
        Self::new(&lifetimes, size, length)
    }

    /// The peak of an allocation in units.
    pub(super) fn peak(&self, offsets: &[u64]) -> u64 {
        offsets.iter().zip(&self.size).map(|(offset, size)| offset + size).max().unwrap_or(0)
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
