//! [`run_with_team`]: one call of a kernel that several cores share. A kernel that uses several cores by itself does so. The
//! call of another one is divided into calls on parts of its arrays.
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
use super::fused::{Fused, TILE_BYTES};
use super::kernel::Kernel;
use super::kernel_memory;
use super::operand::Operand;
use super::views::Views;
use super::work_inputs::{ShapeOf, WorkInputs};
use crate::float_control::FloatControl;

/// The fewest elements of a part, of its largest array: the cost of a job is small beside them.
const PART: usize = 8 * 1024;

std::thread_local! {
    /// The operands of a part. Taken out while they are in use.
    static OPERANDS: Cell<Vec<Operand>> = const { Cell::new(Vec::new()) };
}

/// Whether calls of a kernel that uses one core, on arrays of these extents, have parts that are computed apart, and enough
/// elements for two.
pub(crate) fn can_be_divided<'e, E: Iterator<Item = &'e [usize]>>(
    codelet: &Codelet,
    kernel: &Kernel,
    extents: impl Fn() -> E,
    arguments: &[u8],
) -> bool {
    // Under the fuzzer there is no pool.
    let least = 2 * part_elements(kernel);
    if cfg!(dahl_fuzz) || !extents().any(|extents| extents.iter().product::<usize>() >= least) {
        return false;
    }
    let Some((cuts, axes, least)) = Cuts::of(codelet, kernel, &extents, arguments) else {
        return false;
    };
    let rows = || extents().last().map_or(0, |output| output[..axes.min(output.len())].iter().product());
    matches!(cuts, Cuts::Map) || rows() >= 2 * least
}

/// The fewest elements of a part of a call of the kernel: of a fused task, as many as a tile has.
fn part_elements(kernel: &Kernel) -> usize {
    kernel.maps::<Fused>().map_or(PART, |fused| PART.max(TILE_BYTES / fused.element_bytes.max(1)))
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
        let extents = || operands.iter().map(|operand| operand.layout.extents());
        let (cuts, axes, least) = Cuts::of(codelet, kernel, extents, arguments)?;
        // One row of a strided array may be contiguous, and a kernel may add it in another order then.
        let is_contiguous = || operands.iter().all(|operand| operand.layout.is_contiguous());
        if matches!(cuts, Cuts::Rows(_)) && !is_contiguous() {
            return None;
        }
        let lead = operands.iter().rev().find(|operand| operand.writes)?.layout.extents();
        let lead = &lead[..axes.min(lead.len())];
        let fits = |(index, operand): (usize, &Operand)| {
            let own = operand.layout.extents();
            let is_stretched = |(own, all): (&usize, &usize)| own == all || *own == 1 && !operand.writes;
            match cuts.cut(index) {
                true => own.len() >= lead.len() && own.iter().zip(lead).all(is_stretched),
                false => !operand.writes,
            }
        };
        if !operands.iter().enumerate().all(fits) {
            return None;
        }
        let part = part_elements(kernel);
        let cut = operands.iter().enumerate().filter(|(index, _)| cuts.cut(*index));
        let elements = cut.map(|(_, operand)| operand.layout.len()).max()?;
        let (rows, elements_each) = (lead.iter().product::<usize>(), |rows: usize| elements / rows.max(1));
        if elements_each(1) < 2 * part || rows < 2 {
            return None;
        }
        // The first axis of which one index has few enough elements, if boxes along it have enough rows.
        let until = |axis: usize| lead[..=axis].iter().product::<usize>();
        let axis = (0..lead.len()).find(|axis| elements_each(until(*axis)) <= part).unwrap_or(lead.len() - 1);
        let axis = (0..=axis).rev().find(|axis| rows / until(*axis) * lead[*axis] >= least)?;
        let rows_each = rows / until(axis);
        let step = (part / elements_each(until(axis)).max(1)).max(least.div_ceil(rows_each)).max(1);
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
        let (shared, own_thread) = (Shared(self), rayon::current_thread_index());
        (0..self.parts()).into_par_iter().with_max_len(1).for_each(|part| {
            let division = shared.division();
            let mut operands = OPERANDS.take();
            operands.clear();
            operands.extend((0..division.operands.len()).map(|index| division.part(part, index)));
            let mut packs = packs.of_job();
            let before = kernel_memory::begin(location);
            // SAFETY: V for the operands of the call, by whoever made its views, which are consumed; and the module's header.
            kernel.run(&mut unsafe { Views::new(&operands, arguments, &mut packs) }, false);
            // SAFETY: the same operands, and the views are gone.
            unsafe { packs.unpack(&operands) };
            kernel_memory::begin_again(before);
            if rayon::current_thread_index() != own_thread {
                // Its next task has nothing to do with this kernel, of which the worker looks at its own thread.
                let _ = FloatControl::restore_after_kernel();
            }
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

impl<'c> Cuts<'c> {
    /// How arrays of these extents are cut, along how many leading axes, and the fewest rows of a part; none if the kernel does
    /// not compute parts apart.
    fn of<'e, E: Iterator<Item = &'e [usize]>>(
        codelet: &'c Codelet,
        kernel: &Kernel,
        extents: impl Fn() -> E,
        arguments: &[u8],
    ) -> Option<(Self, usize, usize)> {
        match kernel.maps::<Fused>() {
            Some(fused) if fused.reduction.is_some() => return None,
            Some(Fused { rows: Some(rows), .. }) => return Some((Self::Fused(rows), rows.axes, rows.least)),
            Some(_) => return Some((Self::Map, usize::MAX, 1)),
            None => {}
        }
        // The declaration is about the function's own body.
        codelet.cpu_kernel().filter(|own| own.name() == kernel.name())?;
        if codelet.is_map {
            return Some((Self::Map, usize::MAX, 1));
        }
        // In place there is one array fewer.
        let rows = codelet.rows.as_ref().filter(|_| extents().count() == codelet.parameters.len())?;
        let shapes: Vec<_> = extents().map(ShapeOf::new).collect();
        Some((Self::Rows(rows), rows.axes(&mut WorkInputs::new(&shapes, arguments)), rows.least()))
    }

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
