//! [`State`]: a partial allocation, with what follows from it for the other buffers.

use std::ops::Range;
use std::rc::Rc;

use super::super::instance::Instance;

/// The offset of a buffer that is placed, in [`State::offset`].
const PLACED: u64 = u64::MAX;

/// A partial allocation that grows upward: a buffer is placed on top of all placed buffers that live with it.
#[derive(Debug)]
pub(super) struct State {
    pub(super) instance: Rc<Instance>,
    pub(super) capacity: u64,
    /// The least offset of each buffer that is not placed, else [`PLACED`].
    offset: Vec<u64>,
    /// The offset of each placed buffer.
    pub(super) placed_at: Vec<u64>,
    /// For each section: a bound of the top that its buffers reach, less `total`.
    floor: Vec<u64>,
    /// For each section: the sum of sizes of its buffers that are not placed.
    total: Vec<u64>,
    /// For each section: how many buffers that are not placed live in it and in the next one.
    crossing: Vec<u32>,
    /// The buffers of section `s` are `members[starts[s]..starts[s + 1]]`.
    members: Vec<u32>,
    starts: Vec<usize>,
    /// Previous values of `offset` and `floor`, to be restored.
    offset_trail: Vec<(u32, u64)>,
    floor_trail: Vec<(u32, u64)>,
    /// Room for the bound of one section.
    release: Vec<(u64, u64)>,
    /// For each section: how often its bound has ended a branch.
    pub(super) conflicts: Vec<u64>,
    /// How many looks at a buffer there have been.
    pub(super) steps: u64,
}

/// How far the trails of a [`State`] had come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    offsets: usize,
    floors: usize,
}

impl State {
    pub(super) fn new(instance: Instance, capacity: u64) -> Self {
        let (buffers, sections) = (instance.buffers(), instance.sections());
        let mut crossing = vec![0; sections];
        let mut starts = vec![0; sections + 1];
        for buffer in 0..buffers {
            let span = instance.span(buffer);
            span.clone().for_each(|section| starts[section + 1] += 1);
            (span.start..span.end - 1).for_each(|section| crossing[section] += 1);
        }
        for section in 0..sections {
            starts[section + 1] += starts[section];
        }
        let mut next = starts.clone();
        let mut members = vec![0; starts[sections]];
        for buffer in 0..buffers {
            for section in instance.span(buffer) {
                members[next[section]] = buffer as u32;
                next[section] += 1;
            }
        }
        Self {
            capacity,
            offset: vec![0; buffers],
            placed_at: vec![0; buffers],
            floor: vec![0; sections],
            total: instance.load.clone(),
            instance: Rc::new(instance),
            crossing,
            members,
            starts,
            offset_trail: Vec::new(),
            floor_trail: Vec::new(),
            release: Vec::new(),
            conflicts: vec![0; sections],
            steps: 0,
        }
    }

    pub(super) fn is_placed(&self, buffer: u32) -> bool {
        self.offset[buffer as usize] == PLACED
    }

    /// The least offset of a buffer, if it is not placed.
    pub(super) fn offset(&self, buffer: u32) -> Option<u64> {
        Some(self.offset[buffer as usize]).filter(|&offset| offset != PLACED)
    }

    /// Whether no buffer that is not placed lives in this section and in the next one.
    pub(super) fn is_cut_after(&self, section: usize) -> bool {
        self.crossing[section] == 0
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { offsets: self.offset_trail.len(), floors: self.floor_trail.len() }
    }

    /// Places a buffer at its least offset. `component` holds all buffers that share a section of `sections` and are not
    /// placed. Returns whether the rest may still fit.
    pub(super) fn place(&mut self, buffer: u32, component: &[u32], sections: Range<usize>) -> bool {
        let instance = Rc::clone(&self.instance);
        let index = buffer as usize;
        let (offset, size, span) = (self.offset[index], instance.size[index], instance.span(index));
        let top = offset + size;
        self.placed_at[index] = offset;
        self.offset[index] = PLACED;
        for section in span.clone() {
            self.set_floor(section, top);
            self.total[section] -= size;
        }
        (span.start..span.end - 1).for_each(|section| self.crossing[section] -= 1);
        let (mut from, mut to) = (span.start, span.end);
        self.steps += component.len() as u64;
        for &other in component {
            let index = other as usize;
            let (first, last) = (instance.first[index] as usize, instance.last[index] as usize);
            // A placed buffer's offset is above every top.
            if self.offset[index] < top && first < span.end && span.start < last {
                self.offset_trail.push((other, self.offset[index]));
                self.offset[index] = top;
                if top + instance.size[index] > self.capacity {
                    return false;
                }
                (from, to) = (from.min(first), to.max(last));
            }
        }
        if top > self.capacity {
            return false;
        }
        for section in from..to {
            if self.total[section] > 0 && !self.raise_floor(section) {
                self.conflicts[section] += 1;
                return false;
            }
        }
        // From here on nothing is placed below `offset`.
        self.steps += sections.len() as u64;
        sections.into_iter().all(|section| {
            self.total[section] == 0 || self.floor[section].max(offset) + self.total[section] <= self.capacity
        })
    }

    /// Takes a buffer back, with all changes since `mark`.
    pub(super) fn take_back(&mut self, buffer: u32, mark: Mark) {
        for (section, floor) in self.floor_trail.drain(mark.floors..).rev() {
            self.floor[section as usize] = floor;
        }
        for (other, offset) in self.offset_trail.drain(mark.offsets..).rev() {
            self.offset[other as usize] = offset;
        }
        let index = buffer as usize;
        let span = self.instance.span(index);
        self.offset[index] = self.placed_at[index];
        span.clone().for_each(|section| self.total[section] += self.instance.size[index]);
        (span.start..span.end - 1).for_each(|section| self.crossing[section] += 1);
    }

    fn set_floor(&mut self, section: usize, floor: u64) {
        self.floor_trail.push((section as u32, self.floor[section]));
        self.floor[section] = floor;
    }

    /// Raises the floor of a section by the least offsets of its buffers: stacked in the order of these offsets they reach
    /// the least top (one machine with release dates). Returns whether that is within the capacity.
    fn raise_floor(&mut self, section: usize) -> bool {
        let members = &self.members[self.starts[section]..self.starts[section + 1]];
        self.steps += members.len() as u64;
        self.release.clear();
        for &member in members {
            let offset = self.offset[member as usize];
            if offset != PLACED {
                self.release.push((offset, self.instance.size[member as usize]));
            }
        }
        self.release.sort_unstable();
        let top = self.release.iter().fold(0, |top: u64, &(offset, size)| top.max(offset) + size);
        let floor = top - self.total[section];
        if floor > self.floor[section] {
            self.set_floor(section, floor);
        }
        top <= self.capacity
    }
}
