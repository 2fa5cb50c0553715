//! [`run_with_team`]: one call of a kernel that several cores share. A kernel that uses several cores by itself does so. The call of
//! another one is divided into calls on parts of its arrays.
//!
//! # Why the bits are the same
//! A part is what a tile of a fused task is ([`tile_run`](super::tile_run)): any box of a map, or some rows of a kernel that
//! [declares](super::Rows) that it computes them apart. A fused task runs its steps on the tiles of its part.
//!
//! # Who may touch which memory
//! A job has a part of each array that is cut, and all of the others. Each array that is written is cut, and two parts of it
//! have no element in common. So each element has one writer, and invariant V of [`Operand`] holds for the operands of each
//! job. Copies of strided operands, and temporary memory, are those of the job.
#![allow(unsafe_code, reason = "gives jobs parts of a task's arrays")]

use std::cell::Cell;

use rayon::prelude::*;

use super::declaration::Codelet;
use super::fused::Fused;
use super::kernel::Kernel;
use super::kernel_memory;
use super::operand::Operand;
use super::views::Views;
use super::work_inputs::{ShapeOf, WorkInputs};
use crate::description::TaskDesc;

/// The fewest elements of the output in a part: the cost of a job is small beside them.
const PART: usize = 8 * 1024;

std::thread_local! {
    /// The operands of a part. Taken out while they are in use.
    static OPERANDS: Cell<Vec<Operand>> = const { Cell::new(Vec::new()) };
}

/// Whether several cores can share calls of the kernel for tasks like this one.
pub(crate) fn can_have_team(codelet: &Codelet, kernel: &Kernel, task: &TaskDesc) -> bool {
    if kernel.is_parallel() {
        return true;
    }
    // Under the fuzzer there is no pool.
    let is_apart = !cfg!(dahl_fuzz) && is_apart(codelet, kernel, task);
    is_apart && task.extents().any(|extents| extents.iter().product::<usize>() >= 2 * PART)
}

/// Whether a kernel that uses one core computes parts of its output apart from each other.
fn is_apart(codelet: &Codelet, kernel: &Kernel, task: &TaskDesc) -> bool {
    codelet.is_map
        || codelet.rows.is_some() && !task.is_in_place()
        || kernel.maps::<Fused>().is_some_and(Fused::has_rows)
}

/// Runs the kernel of a codelet on a thread of a rayon pool, with the help of the others.
pub(crate) fn run_with_team(codelet: &Codelet, kernel: &Kernel, views: &mut Views<'_>) {
    if kernel.is_parallel() {
        return kernel.run(views, true);
    }
    let (operands, arguments) = views.operands_left();
    match Division::of(codelet, kernel, operands, arguments) {
        Some(division) => division.run(kernel, views),
        None => kernel.run(views, false),
    }
}

/// How the operands of a call are cut: into boxes of some indices along one axis, and of one along each axis before it. Boxes of
/// a contiguous array are contiguous.
struct Division<'c> {
    operands: &'c [Operand],
    cuts: Cuts<'c>,
    /// The extents of what is written, of the axes until the one along which boxes have a step.
    lead: &'c [usize],
    /// The indices along that axis in a box; the last boxes along it have what is left over too.
    step: usize,
}

/// Which operands are cut.
#[derive(Clone, Copy)]
enum Cuts<'c> {
    /// All, along any axis; one of extent 1 there is stretched.
    Map,
    /// Those that the declaration does not name, along leading axes.
    Rows(&'c super::Rows),
    /// Some, along leading axes.
    Fused(&'c super::FusedRows),
}

impl<'c> Division<'c> {
    /// That of a call; none if its kernel does not compute parts apart, or there is too little for two.
    fn of(codelet: &'c Codelet, kernel: &Kernel, operands: &'c [Operand], arguments: &[u8]) -> Option<Self> {
        let (cuts, axes, least) = match (kernel.maps::<Fused>(), &codelet.rows) {
            (Some(fused), _) if fused.reduction.is_some() => return None,
            (Some(Fused { rows: Some(rows), .. }), _) => (Cuts::Fused(rows), rows.axes, rows.least),
            (Some(_), _) => (Cuts::Map, usize::MAX, 1),
            (None, _) if codelet.is_map => (Cuts::Map, usize::MAX, 1),
            // Without an operand for each parameter it runs in place.
            (None, Some(rows)) if operands.len() == codelet.parameters.len() => {
                let shapes: Vec<_> =
                    operands.iter().map(|operand| ShapeOf::new(operand.layout.extents())).collect();
                (Cuts::Rows(rows), rows.axes(&mut WorkInputs::new(&shapes, arguments)), rows.least())
            }
            (None, _) => return None,
        };
        let lead = operands.iter().rev().find(|operand| operand.writes)?.layout.extents();
        let lead = &lead[..axes.min(lead.len())];
        let fits = |(index, operand): (usize, &Operand)| {
            let own = operand.layout.extents();
            let is_stretched = |(own, all): (&usize, &usize)| own == all || *own == 1 && !operand.writes;
            !cuts.cut(index) && !operand.writes
                || own.len() >= lead.len() && own.iter().zip(lead).all(is_stretched)
        };
        if !operands.iter().enumerate().all(fits) {
            return None;
        }
        let cut = operands.iter().enumerate().filter(|(index, _)| cuts.cut(*index));
        let elements = cut.map(|(_, operand)| operand.layout.len()).max()?;
        let (rows, elements_each) = (lead.iter().product::<usize>(), |rows: usize| elements / rows.max(1));
        if elements_each(1) < 2 * PART || rows < 2 {
            return None;
        }
        // The first axis of which one index has few enough elements, if boxes along it have enough rows.
        let until = |axis: usize| lead[..=axis].iter().product::<usize>();
        let axis = (0..lead.len()).find(|axis| elements_each(until(*axis)) <= PART).unwrap_or(lead.len() - 1);
        let axis = (0..=axis).rev().find(|axis| rows / until(*axis) * lead[*axis] >= least)?;
        let rows_each = rows / until(axis);
        let step = (PART / elements_each(until(axis)).max(1)).max(least.div_ceil(rows_each)).max(1);
        let division = Self { operands, cuts, lead: &lead[..=axis], step: step.min(lead[axis]) };
        (division.parts() >= 2).then_some(division)
    }

    /// The number of boxes along the last axis.
    fn parts_along(&self) -> usize {
        self.lead.last().map_or(1, |extent| extent / self.step)
    }

    fn parts(&self) -> usize {
        let before = &self.lead[..self.lead.len() - 1];
        before.iter().product::<usize>() * self.parts_along()
    }

    fn run(&self, kernel: &Kernel, views: &mut Views<'_>) {
        let (_, arguments, packs) = views.take_operands();
        let (location, packs) = (packs.location(), &*packs);
        let shared = Shared(self);
        (0..self.parts()).into_par_iter().with_max_len(1).for_each(|part| {
            let division = shared.division();
            let mut operands = OPERANDS.take();
            operands.clear();
            operands.extend((0..division.operands.len()).map(|index| division.part(part, index)));
            let mut packs = packs.of_job();
            kernel_memory::begin(location);
            // SAFETY: V for the operands of the call, by whoever made its views, which are consumed; and the module's header.
            kernel.run(&mut unsafe { Views::new(&operands, arguments, &mut packs) }, false);
            // SAFETY: the same operands, and the views are gone.
            unsafe { packs.unpack(&operands) };
            OPERANDS.set(operands);
        });
    }

    /// An operand of a part.
    fn part(&self, part: usize, index: usize) -> Operand {
        let operand = self.operands[index];
        if !self.cuts.cut(index) {
            return operand;
        }
        let (last, parts_along) = (self.lead.len() - 1, self.parts_along());
        let (mut rest, begin) = (part / parts_along, part % parts_along * self.step);
        let is_last = part % parts_along + 1 == parts_along;
        let count = if is_last { self.lead[last] - begin } else { self.step };
        let mut layout = operand.layout;
        let mut cut = |axis: usize, begin: usize, count: usize| {
            let is_stretched = layout.extents()[axis] == 1 && self.lead[axis] != 1;
            if !is_stretched {
                layout = layout.part(axis, begin, count);
            }
        };
        cut(last, begin, count);
        for axis in (0..last).rev() {
            cut(axis, rest % self.lead[axis], 1);
            rest /= self.lead[axis];
        }
        Operand { layout, ..operand }
    }
}

impl Cuts<'_> {
    fn cut(self, operand: usize) -> bool {
        match self {
            Self::Map => true,
            Self::Rows(rows) => !rows.is_whole(operand),
            Self::Fused(rows) => rows.is_cut[operand],
        }
    }
}

/// A division of which each job uses its part.
struct Shared<'a>(&'a Division<'a>);

// SAFETY: the module's header: no element that a job writes is another's. Elements are `Send` and `Sync`, and the division itself
// is only read.
unsafe impl Sync for Shared<'_> {}

impl<'a> Shared<'a> {
    fn division(&self) -> &'a Division<'a> {
        self.0
    }
}
