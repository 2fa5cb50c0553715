//! The order of tasks, from a list of all accesses, each compared with each.

use dahl_core::AccessMode;

/// An array, or a part of one while it is open.
pub(crate) type ArrayIndex = usize;

/// The actions so far, in order.
#[derive(Default)]
pub(crate) struct Oracle {
    places: Vec<Tree>,
    /// The accesses of each action.
    deeds: Vec<Vec<(ArrayIndex, How)>>,
    /// The actions that are tasks.
    tasks: Vec<usize>,
}

#[derive(Default)]
struct Tree {
    open: Vec<Opening>,
    /// The target of contributions to an open reduction.
    contributions: Option<ArrayIndex>,
    /// The private buffers of all its reductions, and of those of its parts, which are kept together.
    buffers: Option<ArrayIndex>,
}

/// A partition that is open.
#[derive(Clone)]
struct Opening {
    is_shared: bool,
    parts: Vec<ArrayIndex>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Read,
    Commute,
    Contribute,
    /// Uses some of the private buffers.
    Some,
    Alone,
}

/// For each task, the tasks that come before it.
pub(crate) type Before = Vec<Vec<bool>>;

impl Oracle {
    /// A new array.
    pub(crate) fn array(&mut self) -> ArrayIndex {
        self.places.push(Tree::default());
        self.places.len() - 1
    }

    pub(crate) fn task(&mut self, uses: &[(ArrayIndex, AccessMode)]) {
        for &(place, mode) in uses {
            self.flush_pending(place, mode);
        }
        let accesses = uses.iter().flat_map(|&(place, mode)| match mode {
            AccessMode::R => vec![(place, How::Read)],
            AccessMode::COMMUTE => vec![(place, How::Commute)],
            AccessMode::REDUX(_) => {
                let (contributions, buffers) = self.contributions_of(place);
                vec![(contributions, How::Contribute), (buffers, How::Some)]
            }
            _ => vec![(place, How::Alone)],
        });
        let accesses = accesses.collect();
        self.tasks.push(self.deeds.len());
        self.deeds.push(accesses);
    }

    pub(crate) fn host_reads(&mut self, place: ArrayIndex) {
        self.flush_pending(place, AccessMode::R);
    }

    pub(crate) fn host_writes(&mut self, place: ArrayIndex) {
        self.flush_pending(place, AccessMode::RW);
        self.deeds.push(vec![(place, How::Alone)]);
    }

    /// Opens a partition; returns its parts.
    pub(crate) fn open(&mut self, whole: ArrayIndex, count: usize, is_shared: bool) -> Vec<ArrayIndex> {
        self.flush_pending(whole, if is_shared { AccessMode::R } else { AccessMode::RW });
        let buffers = self.buffers_of(whole);
        let parts: Vec<ArrayIndex> = (0..count).map(|_| self.array()).collect();
        parts.iter().for_each(|&part| self.places[part].buffers = Some(buffers));
        self.pass(whole, &parts, is_shared);
        self.places[whole].open.push(Opening { is_shared, parts: parts.clone() });
        parts
    }

    /// Ends the shared partition that was opened last.
    pub(crate) fn close_shared(&mut self, whole: ArrayIndex) {
        let place = self.places[whole].open.iter().rposition(|opening| opening.is_shared);
        if let Some(place) = place {
            let opening = self.places[whole].open.remove(place);
            self.close(whole, &opening);
        }
    }

    fn buffers_of(&mut self, place: ArrayIndex) -> ArrayIndex {
        let buffers = self.places[place].buffers.unwrap_or_else(|| self.array());
        self.places[place].buffers = Some(buffers);
        buffers
    }

    /// The present target of contributions, and their buffers.
    fn contributions_of(&mut self, place: ArrayIndex) -> (ArrayIndex, ArrayIndex) {
        let contributions = self.places[place].contributions.unwrap_or_else(|| self.array());
        self.places[place].contributions = Some(contributions);
        (contributions, self.buffers_of(place))
    }

    /// Ends everything that is open and must end before an access.
    fn flush_pending(&mut self, place: ArrayIndex, mode: AccessMode) {
        let open = std::mem::take(&mut self.places[place].open);
        for opening in open {
            if mode == AccessMode::R && opening.is_shared {
                self.places[place].open.push(opening);
            } else {
                self.close(place, &opening);
            }
        }
        match mode {
            AccessMode::REDUX(_) => {}
            AccessMode::W => self.places[place].contributions = None, // they are forgotten
            _ => {
                if self.places[place].contributions.is_some() {
                    let (contributions, buffers) = self.contributions_of(place);
                    self.places[place].contributions = None;
                    self.deeds.push(vec![
                        (place, How::Alone),
                        (contributions, How::Alone),
                        (buffers, How::Some),
                    ]);
                }
            }
        }
    }

    fn close(&mut self, whole: ArrayIndex, opening: &Opening) {
        for &part in &opening.parts {
            self.flush_pending(part, AccessMode::RW);
        }
        self.pass(whole, &opening.parts, opening.is_shared);
    }

    fn pass(&mut self, whole: ArrayIndex, parts: &[ArrayIndex], is_shared: bool) {
        let of_whole = (whole, if is_shared { How::Read } else { How::Alone });
        let of_parts = parts.iter().map(|&part| (part, How::Alone));
        self.deeds.push(std::iter::once(of_whole).chain(of_parts).collect());
    }

    /// The order of tasks. Tasks that use private buffers of the same array may wait for each other, and do so if the
    /// buffers are `few`.
    pub(crate) fn before(&self, few: bool) -> Before {
        let conflict = |a: How, b: How| match (a, b) {
            (How::Read, How::Read) | (How::Commute, How::Commute) | (How::Contribute, How::Contribute) => {
                false
            }
            (How::Some, How::Some) => few,
            _ => true,
        };
        let conflicting = |a: &[(ArrayIndex, How)], b: &[(ArrayIndex, How)]| {
            a.iter().any(|&(place, how)| {
                b.iter().any(|&(other, otherwise)| place == other && conflict(how, otherwise))
            })
        };
        let of_deeds = closure(self.deeds.len(), |later| {
            (0..later).filter(|&earlier| conflicting(&self.deeds[earlier], &self.deeds[later])).collect()
        });
        let row = |&task: &usize| self.tasks.iter().map(|&earlier| of_deeds[task][earlier]).collect();
        self.tasks.iter().map(row).collect()
    }
}

/// The transitive closure of the order of `count` things, of which `direct` gives the direct predecessors.
pub(crate) fn closure(count: usize, direct: impl Fn(usize) -> Vec<usize>) -> Before {
    let mut before: Before = Vec::new();
    for later in 0..count {
        let mut row = vec![false; count];
        for earlier in direct(later) {
            assert!(earlier < later, "a thing comes after those before it");
            row[earlier] = true;
            row.iter_mut().zip(&before[earlier]).for_each(|(known, &more)| *known |= more);
        }
        before.push(row);
    }
    before
}
