//! [`MemoryPlan`]: a place in one block for each array that a program makes.
//!
//! Two arrays may have one place if every step that uses the one comes before all that use the other. Where the order of
//! the program does not say so, the plan can add it: a tight plan follows one order of the steps, and so needs little memory,
//! but lets fewer steps run side by side. In such an order arrays live from one step to another, and their places are those
//! of a static allocation (`dahl_plan::memory`).

use std::fmt;

use dahl_plan::memory::{Buffer, Options, allocate};

use super::demand::{ALIGN, Demand, Placed};
use super::low_order::{Effort, LowOrder};
use crate::graph::{Order, Reach};

/// The place of each array that a program makes, in one block, known before it runs.
///
/// The peak holds for every order of the tasks that the program and the [edges](Self::extra_edges) of the plan allow.
#[derive(Clone, Debug, Default)]
pub struct MemoryPlan {
    program: String,
    offsets: Vec<Option<usize>>,
    /// In the order of their offsets.
    places: Vec<PlannedArray>,
    peak_bytes: usize,
    lower_bound: usize,
    /// Bytes that every plan for every order of the steps needs, as far as that is known.
    least_bytes: usize,
    sum_bytes: usize,
    /// The bytes of the bodies of branches and loops.
    bodies_bytes: usize,
    extra_edges: Vec<(usize, usize)>,
}

/// An array with its place in a memory plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedArray {
    /// Its number in the program.
    pub array: usize,
    /// Its name in texts: `%3`.
    pub label: String,
    /// Where it begins, in bytes from the start of the block.
    pub offset: usize,
    /// Its bytes in the block.
    pub bytes: usize,
    /// The first and the last step at which it has its place.
    pub lifetime: (usize, usize),
}

/// How arrays share memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Those whose steps come one after the other in any order that the program allows.
    Ordered,
    /// As in the order of the steps, which becomes a part of the program. The search for the places may take so many steps of
    /// its own.
    Tight(u64),
}

impl MemoryPlan {
    /// A plan, which adds the edges that it needs to the order.
    pub(crate) fn new(demand: &Demand, order: &mut Order, sharing: Sharing) -> Self {
        let mut lower_bound = demand.live_bytes();
        let offsets = match sharing {
            Sharing::Ordered => {
                let reach = Reach::of(order);
                by_size(&demand.arrays, |earlier, later| {
                    let is_after = |one, two| reach.as_ref().is_some_and(|reach| reach.is_after(two, one));
                    earlier.steps.iter().all(|&one| later.steps.iter().all(|&two| is_after(one, two)))
                })
            }
            Sharing::Tight(effort) => {
                let (offsets, needed) = tight(demand, effort);
                lower_bound = lower_bound.max(needed);
                offsets
            }
        };
        let mut placed: Vec<(usize, &Placed)> = offsets.into_iter().zip(&demand.arrays).collect();
        placed.sort_by_key(|(offset, array)| (*offset, array.bytes, array.array));
        let extra_edges = match sharing {
            Sharing::Tight(_) => add_edges(order, &placed),
            Sharing::Ordered => Vec::new(),
        };
        let mut offsets = vec![None; demand.numbers];
        placed.iter().for_each(|(offset, array)| offsets[array.array] = Some(*offset));
        let places = placed.iter().map(|(offset, array)| PlannedArray {
            array: array.array,
            label: array.label.clone(),
            offset: *offset,
            bytes: array.bytes,
            lifetime: array.lifetime(demand.steps),
        });
        Self {
            program: demand.program.clone(),
            offsets,
            places: places.collect(),
            peak_bytes: placed.iter().map(|(offset, array)| offset + array.bytes).max().unwrap_or(0),
            lower_bound,
            least_bytes: 0,
            sum_bytes: demand.sum_bytes(),
            bodies_bytes: 0,
            extra_edges,
        }
    }

    /// A tight plan, after the steps have got an order with little memory: `reorder` brings them into it, and returns their
    /// demand and their order.
    pub(crate) fn tight(
        demand: Demand,
        mut order: Order,
        effort: &Effort,
        reorder: impl FnOnce(&[usize]) -> (Demand, Order),
    ) -> (Self, Order) {
        let low = LowOrder::find(&demand, &order, effort);
        let demand = match low.steps {
            Some(steps) => {
                let (demand, other) = reorder(&steps);
                order = other;
                demand
            }
            None => demand,
        };
        let mut plan = Self::new(&demand, &mut order, Sharing::Tight(effort.steps));
        plan.least_bytes = low.lower_bound;
        (plan, order)
    }

    /// Where an array begins, in bytes from the start of the block; none for one that the program does not make.
    pub fn offset(&self, array: usize) -> Option<usize> {
        self.offsets.get(array).copied().flatten()
    }

    /// The arrays with their places, in the order of their offsets.
    pub fn places(&self) -> &[PlannedArray] {
        &self.places
    }

    /// The bytes of the block.
    pub fn peak_bytes(&self) -> usize {
        self.peak_bytes
    }

    /// Adds so many bytes for the bodies of branches and loops.
    pub(crate) fn add_bodies(&mut self, bytes: usize) {
        self.bodies_bytes += bytes;
    }

    /// The bytes of the bodies of branches and loops, which share no memory with each other.
    pub fn bodies_bytes(&self) -> usize {
        self.bodies_bytes
    }

    /// Notes that steps were allowed to run again, with the bytes that every plan needs then.
    pub(crate) fn allow_recomputation(&mut self, least_bytes: usize) {
        self.least_bytes = self.least_bytes.min(least_bytes);
    }

    /// The bytes of its arrays and of those of bodies.
    pub fn all_bytes(&self) -> usize {
        self.peak_bytes + self.bodies_bytes
    }

    /// Bytes that every plan for this order of the steps needs, such as those that are in use at one time.
    pub fn lower_bound_bytes(&self) -> usize {
        self.lower_bound
    }

    /// Whether no plan for this order of the steps needs less.
    pub fn is_optimal(&self) -> bool {
        self.peak_bytes == self.lower_bound
    }

    /// Bytes that every plan needs, for every order of the steps; 0 if the plan is not tight, since then it is not known.
    pub fn least_bytes(&self) -> usize {
        self.least_bytes
    }

    /// The bytes of all arrays, if each had a place of its own.
    pub fn sum_bytes(&self) -> usize {
        self.sum_bytes
    }

    /// Why a program does not fit into so many bytes.
    pub(crate) fn too_large_for(&self, most: usize) -> String {
        let Self { peak_bytes, least_bytes, bodies_bytes, .. } = self;
        let bodies = match *bodies_bytes {
            0 => String::new(),
            bytes => format!(" and those of its branches and loops {bytes}"),
        };
        let least = match *least_bytes {
            0 => String::new(),
            least if least == *peak_bytes => ", which is the least possible".to_owned(),
            least => format!(", and every order needs at least {least}"),
        };
        format!("its arrays need {peak_bytes} bytes{least}{bodies}: more than its limit of {most}")
    }

    /// Pairs of steps of which the second waits for the first only because their arrays share memory.
    pub fn extra_edges(&self) -> &[(usize, usize)] {
        &self.extra_edges
    }
}

/// Offsets in an order of the steps, and bytes that every allocation for it needs.
fn tight(demand: &Demand, effort: u64) -> (Vec<usize>, usize) {
    let simple = by_size(&demand.arrays, |earlier, later| {
        !earlier.keeps && !later.keeps && earlier.steps.last() < later.steps.first()
    });
    let live = demand.live_bytes();
    let peak = |offsets: &[usize]| {
        let ends = offsets.iter().zip(&demand.arrays).map(|(offset, array)| offset + array.bytes);
        ends.max().unwrap_or(0)
    };
    if peak(&simple) == live {
        return (simple, live);
    }
    let buffers = demand.arrays.iter().zip(0..).map(|(array, id)| {
        let (first, last) = array.lifetime(demand.steps);
        Buffer { id, lower: first as i64, upper: last as i64 + 1, size: array.bytes as u64 }
    });
    let options = Options { capacity: None, alignment: ALIGN as u64, steps: effort };
    let buffers: Vec<_> = buffers.collect();
    match allocate(&buffers, &options) {
        Ok(found) if found.peak as usize <= peak(&simple) => {
            let offsets = found.offsets.into_iter().map(|offset| offset as usize).collect();
            (offsets, found.lower_bound as usize)
        }
        Ok(found) => (simple, found.lower_bound as usize),
        // More bytes than an allocation has numbers for.
        Err(_) => (simple, live),
    }
}

/// The offset of each array: the largest first, each as low as possible. Arrays may share memory if each of the one's steps
/// comes before all of the other's, which `follows` says of the earlier and the later one, and if neither keeps a value.
fn by_size(arrays: &[Placed], follows: impl Fn(&Placed, &Placed) -> bool) -> Vec<usize> {
    let may_share = |one: &Placed, other: &Placed| {
        !one.keeps && !other.keeps && (follows(one, other) || follows(other, one))
    };
    let mut sorted: Vec<usize> = (0..arrays.len()).collect();
    sorted.sort_by_key(|&index| (std::cmp::Reverse(arrays[index].bytes), arrays[index].array));
    let mut offsets = vec![0; arrays.len()];
    let mut placed: Vec<(usize, &Placed)> = Vec::new();
    for index in sorted {
        let array = &arrays[index];
        let offset = place(array.bytes, placed.iter().filter(|(_, other)| !may_share(array, other)));
        offsets[index] = offset;
        let position = placed.partition_point(|(begin, _)| *begin <= offset);
        placed.insert(position, (offset, array));
    }
    offsets
}

/// The lowest place of so many bytes that is apart from the others, which are sorted by where they begin.
fn place<'p>(bytes: usize, others: impl Iterator<Item = &'p (usize, &'p Placed)>) -> usize {
    let mut end = 0;
    for (begin, other) in others {
        if end + bytes <= *begin {
            return end;
        }
        end = end.max(begin + other.bytes);
    }
    end
}

/// Lets all steps on the later one of two arrays in one place wait for all on the earlier one.
fn add_edges(order: &mut Order, placed: &[(usize, &Placed)]) -> Vec<(usize, usize)> {
    let before = order.clone();
    for (position, (begin, one)) in placed.iter().enumerate() {
        let end = begin + one.bytes;
        for (_, other) in placed[position + 1..].iter().take_while(|(begin, _)| *begin < end) {
            let (earlier, later) =
                if one.steps.last() < other.steps.first() { (one, other) } else { (other, one) };
            for &step in &earlier.steps {
                for &next in &later.steps {
                    order.add(step, next);
                }
            }
        }
    }
    order.reduce();
    let was = |step: usize, next: u32| before.after[step].binary_search(&next).is_ok();
    let edges = order.after.iter().enumerate().flat_map(|(step, after)| {
        after.iter().filter(move |&&next| !was(step, next)).map(move |&next| (step, next as usize))
    });
    edges.collect()
}

/// The peak, the bounds, and the place of each array.
impl fmt::Display for MemoryPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, peak_bytes, lower_bound, least_bytes, places, sum_bytes, .. } = self;
        write!(f, "{program}: {peak_bytes} bytes at most, ")?;
        match self.is_optimal() {
            true if peak_bytes == least_bytes => write!(f, "the least possible")?,
            true => write!(f, "the least possible in this order")?,
            false => write!(f, "and this order needs at least {lower_bound}")?,
        }
        if *least_bytes > 0 && least_bytes < lower_bound {
            write!(f, "; every order needs at least {least_bytes}")?;
        }
        write!(f, "; {} arrays have {sum_bytes} together", places.len())?;
        if self.bodies_bytes > 0 {
            write!(f, "; the bodies of branches and loops have {} more", self.bodies_bytes)?;
        }
        for PlannedArray { label, offset, bytes, .. } in places {
            write!(f, "\n    {offset:>12} .. {:<12} {label}", offset + bytes)?;
        }
        Ok(())
    }
}
