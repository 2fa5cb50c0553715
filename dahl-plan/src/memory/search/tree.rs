//! [`Tree`]: the depth-first search of one order at one capacity.

use std::ops::Range;

use super::super::instance::Instance;
use super::failed::{Cursor, Failed, Key, share};
use super::state::{Mark, State};

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::memory) enum Outcome {
    /// The offsets of an allocation.
    Found(Vec<u64>),
    /// There is none.
    Infeasible,
    /// The steps were used up.
    OutOfSteps,
}

/// No frame, or no part.
const NONE: u32 = u32::MAX;

/// A set of buffers that share no section with others which are not placed.
#[derive(Clone, Debug)]
struct Component {
    /// Its buffers in `Tree::lists`, by index; some may be placed.
    list: Range<usize>,
    sections: Range<usize>,
}

/// A node of the tree: a component, and the candidate that is placed next.
#[derive(Debug)]
struct Frame {
    component: Component,
    /// Where the candidates of this node begin.
    begin: Cursor,
    /// The last candidate tried.
    cursor: Cursor,
    /// Candidates from this offset on leave a gap in which another buffer fits.
    least_top: u64,
    /// Whether the subproblem is known to have no solution, so that there is no candidate.
    has_failed: bool,
    /// The buffer that is placed now.
    placed: Option<(u32, Mark)>,
    key: Key,
    /// The frame that goes on if this one has no candidate left.
    retreat: u32,
    /// The components to be solved after this one.
    pending: u32,
    /// The lengths of `Tree::lists` and `Tree::parts` before this frame.
    lists: usize,
    parts: usize,
}

/// A component that waits until those before it are solved: an entry of a linked list.
#[derive(Debug)]
struct Part {
    component: Component,
    cursor: Cursor,
    retreat: u32,
    next: u32,
}

/// A depth-first search over canonical allocations. Buffers are placed in the order of offset and index, each at its least
/// offset. `docs/plans.md` says why no other allocation needs to be looked at.
#[derive(Debug)]
pub(super) struct Tree {
    state: State,
    /// The buffer before each one of the same size and sections, or [`NONE`].
    twin: Vec<u32>,
    frames: Vec<Frame>,
    lists: Vec<u32>,
    parts: Vec<Part>,
    failed: Failed,
    is_started: bool,
}

impl Tree {
    /// The buffers of `instance` are in the order in which the search prefers them.
    pub(super) fn new(instance: Instance, capacity: u64) -> Self {
        Self {
            twin: twins(&instance),
            state: State::new(instance, capacity),
            frames: Vec::new(),
            lists: Vec::new(),
            parts: Vec::new(),
            failed: Failed::default(),
            is_started: false,
        }
    }

    /// The steps taken so far.
    pub(super) fn steps(&self) -> u64 {
        self.state.steps
    }

    /// For each section: how often its bound has ended a branch.
    pub(super) fn conflicts(&self) -> &[u64] {
        &self.state.conflicts
    }

    /// Goes on until `steps` have been taken in all. `stop` is asked now and then.
    pub(super) fn run(&mut self, steps: u64, stop: &mut dyn FnMut() -> bool) -> Outcome {
        if !self.is_started {
            self.is_started = true;
            let (buffers, sections) = (self.state.instance.buffers(), self.state.instance.sections());
            if self.state.instance.lower_bound() > self.state.capacity {
                return Outcome::Infeasible;
            }
            self.lists.extend(0..buffers as u32);
            let whole = Component { list: 0..buffers, sections: 0..sections };
            if !self.descend(whole, (0, 0), NONE, NONE) {
                return Outcome::Found(Vec::new());
            }
        }
        let mut rounds = 0_u32;
        loop {
            rounds = rounds.wrapping_add(1);
            if self.state.steps >= steps || rounds.is_multiple_of(1024) && stop() {
                return Outcome::OutOfSteps;
            }
            let Some(frame) = self.frames.last_mut() else { return Outcome::Infeasible };
            if let Some((buffer, mark)) = frame.placed.take() {
                self.state.take_back(buffer, mark);
            }
            self.lists.truncate(frame.lists);
            self.parts.truncate(frame.parts);
            let Some(candidate) = self.candidate() else {
                self.retreat();
                continue;
            };
            if self.place(candidate) && !self.advance(candidate) {
                return Outcome::Found(self.state.placed_at.clone());
            }
        }
    }

    /// The next candidate of the last frame: the least offset and index after its cursor.
    fn candidate(&mut self) -> Option<Cursor> {
        let frame = self.frames.last().filter(|frame| !frame.has_failed)?;
        let list = &self.lists[frame.component.list.clone()];
        self.state.steps += list.len() as u64;
        let mut best = None;
        let mut least = frame.least_top;
        for &buffer in list {
            let Some(offset) = self.state.offset(buffer) else { continue };
            if offset < least && (offset, buffer) >= frame.cursor {
                let twin = self.twin[buffer as usize];
                if twin == NONE || self.state.is_placed(twin) {
                    least = offset;
                    best = Some((offset, buffer));
                }
            }
        }
        best
    }

    fn place(&mut self, candidate: Cursor) -> bool {
        let frame = self.frames.last_mut().expect("the caller has looked");
        let (offset, buffer) = candidate;
        frame.cursor = (offset, buffer + 1);
        frame.placed = Some((buffer, self.state.mark()));
        let Component { list, sections } = frame.component.clone();
        self.state.place(buffer, &self.lists[list], sections)
    }

    /// Goes on below a placed candidate. Returns whether anything is left to be placed.
    fn advance(&mut self, candidate: Cursor) -> bool {
        let (index, frame) = (self.frames.len() as u32 - 1, self.frames.last().expect("it has placed"));
        let (component, pending) = (frame.component.clone(), frame.pending);
        if self.descend(component, candidate, index, pending) {
            return true;
        }
        // Nothing of the component is left.
        let Some(part) = self.parts.get(pending as usize) else { return false };
        let (component, cursor) = (part.component.clone(), part.cursor);
        let (retreat, next) = (part.retreat, part.next);
        self.push(component, cursor, retreat, next);
        true
    }

    /// Pushes a frame for what is left of a component, or for the first of the components into which it falls apart. Returns
    /// false if nothing is left.
    fn descend(&mut self, whole: Component, cursor: Cursor, retreat: u32, pending: u32) -> bool {
        let mut components = self.split(&whole);
        let Some(last) = components.pop() else { return false };
        let mut next = pending;
        // The last one is solved first.
        for component in components {
            self.parts.push(Part { component, cursor, retreat, next });
            next = self.parts.len() as u32 - 1;
        }
        self.push(last, cursor, retreat, next);
        true
    }

    fn push(&mut self, component: Component, begin: Cursor, retreat: u32, pending: u32) {
        let list = &self.lists[component.list.clone()];
        self.state.steps += list.len() as u64;
        let (mut least_top, mut key) = (u64::MAX, 0_u128);
        for &buffer in list {
            if let Some(offset) = self.state.offset(buffer) {
                least_top = least_top.min(offset + self.state.instance.size[buffer as usize]);
                key = key.wrapping_add(share(buffer, offset));
            }
        }
        let (lists, parts) = (self.lists.len(), self.parts.len());
        let has_failed = self.failed.contains(key, begin);
        let (cursor, placed) = (begin, None);
        self.frames.push(Frame {
            component,
            begin,
            cursor,
            least_top,
            has_failed,
            placed,
            key,
            retreat,
            pending,
            lists,
            parts,
        });
    }

    /// Leaves the last frame, which has no candidate, for the one that goes on.
    fn retreat(&mut self) {
        let frame = self.frames.pop().expect("the caller has looked");
        if !frame.has_failed {
            self.failed.add(frame.key, frame.begin);
        }
        let keep = if frame.retreat == NONE { 0 } else { frame.retreat as usize + 1 };
        while self.frames.len() > keep {
            if let Some((buffer, mark)) = self.frames.pop().and_then(|frame| frame.placed) {
                self.state.take_back(buffer, mark);
            }
        }
    }

    /// The components of what is left of a component, the one with the most buffers first.
    fn split(&mut self, whole: &Component) -> Vec<Component> {
        let list = &self.lists[whole.list.clone()];
        let left = list.iter().filter(|&&buffer| !self.state.is_placed(buffer)).count();
        if left == 0 {
            return Vec::new();
        }
        let sections = whole.sections.clone();
        let cuts = (sections.start..sections.end - 1).filter(|&section| self.state.is_cut_after(section));
        let mut ends: Vec<usize> = cuts.map(|section| section + 1).collect();
        if ends.is_empty() && 2 * left > list.len() {
            return vec![whole.clone()];
        }
        ends.push(sections.end);
        // By component and index.
        let component = |buffer: u32| {
            let first = self.state.instance.first[buffer as usize] as usize;
            ends.partition_point(|&end| end <= first)
        };
        let unplaced = list.iter().copied().filter(|&buffer| !self.state.is_placed(buffer));
        let mut sorted: Vec<(usize, u32)> = unplaced.map(|buffer| (component(buffer), buffer)).collect();
        sorted.sort_unstable();
        let mut components = Vec::new();
        for of_one in sorted.chunk_by(|a, b| a.0 == b.0) {
            let index = of_one[0].0;
            let start = if index == 0 { sections.start } else { ends[index - 1] };
            let begin = self.lists.len();
            self.lists.extend(of_one.iter().map(|&(_, buffer)| buffer));
            components.push(Component { list: begin..self.lists.len(), sections: start..ends[index] });
        }
        components.sort_by_key(|component| std::cmp::Reverse(component.list.len()));
        components
    }
}

/// For each buffer the last one before it with the same size and sections, or [`NONE`].
fn twins(instance: &Instance) -> Vec<u32> {
    let mut order: Vec<usize> = (0..instance.buffers()).collect();
    let kind = |buffer: usize| (instance.first[buffer], instance.last[buffer], instance.size[buffer]);
    order.sort_by_key(|&buffer| (kind(buffer), buffer));
    let mut twin = vec![NONE; instance.buffers()];
    for pair in order.windows(2) {
        if kind(pair[0]) == kind(pair[1]) {
            twin[pair[1]] = pair[0] as u32;
        }
    }
    twin
}
