//! [`TileRun`]: the steps of a fused task on one tile after the other.
//!
//! # Why the bits are the same
//!
//! Each step calls its own kernel on parts of its arrays, or copies one element to one. If all are maps of one shape, a part is
//! any box: a map computes each element of its output from those at the same place of its inputs. Otherwise it is some rows,
//! and the kernel [declares](super::Rows) that it writes the same bits there as on all of them; or there is one tile, and each
//! kernel runs on all of its arrays, as without fusion.
#![allow(unsafe_code, reason = "cuts operands into tiles")]

use std::cell::Cell;
use std::ptr;

use arrayvec::ArrayVec;

use super::fused::{Fused, FusedOperand, FusedStep, TILE_BYTES, stretched};
use super::kernel::Maps;
use super::kernel_memory::{give_back_tiles, take_tiles};
use super::operand::Operand;
use super::packs::Packs;
use super::reducer::Reducer;
use super::views::{Line, Views};
use crate::shape::{Layout, MAX_RANK};

/// The fewest elements of a tile of maps: the cost of a call is small beside them.
const LEAST_TILE: usize = 256;

std::thread_local! {
    /// What the thread keeps from one fused task to the next. Taken out while it is in use.
    static TILES: Cell<Tiles> = Cell::default();
}

/// What a run needs, so that the next one allocates nothing.
#[derive(Default)]
struct Tiles {
    /// The tiles of what the steps pass on.
    passed: Vec<*mut u8>,
    /// The operands, cut to the tile.
    given: Vec<Operand>,
    /// Those of one step.
    operands: Vec<Operand>,
    /// The operands of the boxes that are being cut, one box after the other.
    boxes: Vec<Operand>,
}

/// How the operands of a call are cut.
struct Cut {
    /// The extents along which they are cut: all of what maps of one shape compute, otherwise the leading ones.
    extents: ArrayVec<usize, MAX_RANK>,
    /// The rows of a tile; elements, if all steps are maps of one shape.
    rows: usize,
    least: usize,
    /// Whether all operands are contiguous and have those extents, and steps are maps: axes do not matter.
    is_flat: bool,
}

impl Cut {
    /// That of the operands of a call; none if these have several shapes.
    fn of(fused: &Fused, operands: &[Operand]) -> Option<Self> {
        let Some(rows) = &fused.rows else {
            // The outputs have the shape to which the inputs stretch.
            let extents = stretched(operands.iter().map(|operand| operand.layout.extents()))?;
            let is_like_output =
                |operand: &Operand| operand.layout.is_contiguous() && *operand.layout.extents() == *extents;
            let is_flat = operands.iter().all(is_like_output);
            let tile = (TILE_BYTES / fused.element_bytes.max(1)).max(LEAST_TILE);
            let tile = fused.reduction.as_ref().map_or(tile, |reduction| reduction.unit(tile));
            return Some(Self { extents, rows: tile, least: 1, is_flat });
        };
        let cut =
            || operands.iter().zip(&rows.is_cut).filter(|(_, is_cut)| **is_cut).map(|(operand, _)| operand);
        let extents =
            stretched(cut().map(|operand| &operand.layout.extents()[..rows.axes])).unwrap_or_default();
        let given = cut().map(|operand| {
            operand.layout.extents()[rows.axes..].iter().product::<usize>() * operand.element.size_bytes
        });
        let passed = rows.passed.iter().zip(&fused.passed);
        let passed = passed.map(|(extents, element)| extents.iter().product::<usize>() * element.size_bytes);
        let row_bytes: usize = given.chain(passed).sum();
        let tile = (TILE_BYTES / row_bytes.max(1)).max(rows.least);
        (extents.len() == rows.axes).then_some(Self {
            extents,
            rows: tile,
            least: rows.least,
            is_flat: false,
        })
    }

    /// The most rows of a tile.
    fn most_rows(&self) -> usize {
        (self.rows + self.least - 1).min(self.extents.iter().product())
    }
}

impl Maps for Fused {
    fn run(&self, views: &mut Views<'_>) {
        let (operands, arguments, packs) = views.take_operands();
        let (operands, total) = match operands.split_last() {
            Some((total, operands)) if self.reduction.is_some() => (operands, Some(total)),
            _ => (operands, None),
        };
        let Some(cut) = Cut::of(self, operands) else { return };
        // The places of what is passed on, each at the beginning of a line, and then of what is not yet reduced.
        let mut tiles = TILES.take();
        let most_rows = cut.most_rows();
        let mut lines = 0;
        tiles.passed.clear();
        for (index, element) in self.passed.iter().enumerate() {
            tiles.passed.push(ptr::without_provenance_mut(lines * size_of::<Line>()));
            let row = self.rows.as_ref().map_or(1, |rows| rows.passed[index].iter().product());
            lines += (most_rows * row * element.size_bytes).div_ceil(size_of::<Line>());
        }
        let pending = lines * size_of::<Line>();
        let unit = self.reduction.as_ref().map(|reduction| {
            // A tile of one or more units is reduced where it is. What is not a whole unit is copied.
            let row = self.rows.as_ref().map_or(1, |rows| rows.passed[reduction.passed].iter().product());
            let unit = reduction.unit(cut.rows * row);
            lines += (unit * reduction.element().size_bytes).div_ceil(size_of::<Line>());
            unit
        });
        let mut memory = take_tiles();
        let start: *mut u8 = memory.lines(lines).as_mut_ptr().cast();
        tiles.passed.iter_mut().for_each(|place| *place = start.wrapping_add(place.addr()));
        for kept in [&mut tiles.given, &mut tiles.boxes] {
            kept.clear();
            kept.extend_from_slice(operands);
        }
        let mut run = TileRun {
            fused: self,
            arguments,
            tiles: &mut tiles,
            reducer: self.reduction.zip(unit).map(|(reduction, unit)| {
                // SAFETY: it is the last of the tiles, which no step uses, and has a unit of elements.
                unsafe { Reducer::new(reduction, unit, start.wrapping_add(pending)) }
            }),
            packs,
        };
        if cut.is_flat {
            let len = cut.extents.iter().product();
            for begin in (0..len).step_by(cut.rows) {
                let count = cut.rows.min(len - begin);
                for (own, operand) in run.tiles.given.iter_mut().zip(operands) {
                    own.layout.set_contiguous(&[count]);
                    own.layout.offset = operand.layout.offset + begin;
                }
                run.steps(&[count]);
            }
        } else if !cut.extents.contains(&0) {
            run.boxes(0, &cut.extents, &cut, 0);
        }
        if let (Some(reducer), Some(total)) = (run.reducer.take(), total) {
            let bytes = total.element.size_bytes;
            let start = total.pointer.wrapping_add(total.layout.offset * bytes);
            // SAFETY: invariant V: it is one initialised element, which only this task uses; no view of it is left.
            let total = unsafe { std::slice::from_raw_parts_mut(start, bytes) };
            reducer.finish(total, run.packs);
        }
        TILES.set(tiles);
        give_back_tiles(memory);
    }
}

/// The steps on one tile after the other.
struct TileRun<'f> {
    fused: &'f Fused,
    arguments: &'f [u8],
    tiles: &'f mut Tiles,
    reducer: Option<Reducer>,
    packs: &'f mut Packs,
}

impl TileRun<'_> {
    /// Cuts the last box of operands, which begins at `place`, into boxes of a tile, from the first axis on, along `axis` and those
    /// after it.
    fn boxes(&mut self, place: usize, extents: &[usize], cut: &Cut, axis: usize) {
        let (fused, end) = (self.fused, self.tiles.boxes.len());
        if extents.iter().product::<usize>() <= cut.rows || axis == extents.len() {
            let Tiles { given, boxes, .. } = &mut *self.tiles;
            given.clear();
            given.extend_from_slice(&boxes[place..]);
            let rows: usize = extents.iter().product();
            assert!(rows <= cut.most_rows(), "a tile of {rows} rows has memory for {}", cut.most_rows());
            return self.steps(extents);
        }
        let inner: usize = extents[axis..].iter().skip(1).product();
        let step = (cut.rows / inner.max(1)).max(1);
        let mut begin = 0;
        while begin < extents[axis] {
            let left = extents[axis] - begin;
            // What is left over goes with the last tile if it has too few rows for one. So a tile has at most `most_rows`.
            let over = left.saturating_sub(step) * inner;
            let count = if over < cut.least { left } else { step };
            let mut box_extents: ArrayVec<_, MAX_RANK> = extents.iter().copied().collect();
            box_extents[axis] = count;
            let part = |(index, operand): (usize, Operand)| {
                let is_cut = fused.rows.as_ref().is_none_or(|rows| rows.is_cut[index]);
                let is_stretched = || operand.layout.extents()[axis] == 1 && extents[axis] != 1;
                let layout = if !is_cut || is_stretched() {
                    operand.layout
                } else {
                    operand.layout.part(axis, begin, count)
                };
                Operand { layout, ..operand }
            };
            for index in place..end {
                let cut = part((index - place, self.tiles.boxes[index]));
                self.tiles.boxes.push(cut);
            }
            self.boxes(end, &box_extents, cut, axis + 1);
            self.tiles.boxes.truncate(end);
            begin += count;
        }
    }

    /// The layout of a tile of what is passed on with this number.
    fn layout_of_passed(&self, index: usize, extents: &[usize]) -> Layout {
        let row = self.fused.rows.as_ref().map_or(&[][..], |rows| &rows.passed[index]);
        let rank = extents.len() + row.len();
        let mut all = [0; MAX_RANK];
        all[..extents.len()].copy_from_slice(extents);
        all[extents.len()..rank].copy_from_slice(row);
        let mut layout = Layout::EMPTY;
        layout.set_contiguous(&all[..rank]);
        layout
    }

    /// Runs all steps on the tile that `given` is.
    fn steps(&mut self, extents: &[usize]) {
        let mut arguments = self.arguments;
        let fused = self.fused;
        for step in &fused.steps {
            let (own, rest) = arguments.split_at(step.arguments);
            arguments = rest;
            self.tiles.operands.clear();
            for &slot in &step.operands {
                let operand = match slot {
                    FusedOperand::Given(index) => self.tiles.given[index],
                    FusedOperand::Passed(index) => Operand {
                        pointer: self.tiles.passed[index],
                        layout: self.layout_of_passed(index, extents),
                        element: fused.passed[index],
                        writes: false,
                        reads: true,
                    },
                };
                // An output that a later step reads is an input there. A contribution adds to what it finds.
                let writes = slot == step.output();
                let reads = !writes || step.contributes().is_some();
                self.tiles.operands.push(Operand { writes, reads, ..operand });
            }
            // SAFETY: invariant V: the operands of the fused codelet are such, and a tile of one is a part of it; a step
            // writes its own output, which it does not read otherwise, and the tiles of what is passed on are this run's,
            // initialised, aligned to a line, apart, and have at least as many rows (`most_rows`). Steps run one after the other.
            unsafe { step.run(&self.tiles.operands, own, self.packs) };
        }
        if let (Some(reducer), Some(reduction)) = (&mut self.reducer, &fused.reduction) {
            let row = fused.rows.as_ref().map_or(&[][..], |rows| &rows.passed[reduction.passed]);
            let count = extents.iter().chain(row).product();
            // SAFETY: a step has written that tile in row-major order, and no view of it is left.
            unsafe { reducer.push(self.tiles.passed[reduction.passed], count, self.packs) };
        }
    }
}

impl FusedStep {
    /// Runs the step on its operands.
    ///
    /// # Safety
    /// Invariant V for each operand, of which the last one is its output, and no view of them exists.
    pub(crate) unsafe fn run(&self, operands: &[Operand], arguments: &[u8], packs: &mut Packs) {
        let output = operands.last().expect("a step has an output");
        if let Some((accumulator, _)) = self.finish {
            // SAFETY: V: it may be written and nobody else uses it; no view of it exists.
            let target = unsafe { elements_mut(output) };
            // SAFETY: V: nobody writes it meanwhile, as the target is other memory.
            return accumulator.finish(target, unsafe { elements(&operands[0]) }, false);
        }
        if let Some(accumulator) = self.contributes() {
            // SAFETY: V: it may be written and nobody else uses it; no view of it exists.
            accumulator.fill_identity(unsafe { elements_mut(output) });
        }
        packs.restart();
        // SAFETY: V, by the caller.
        let mut views = unsafe { Views::new(operands, arguments, packs) };
        self.kernel().run(&mut views, false);
        // SAFETY: the same operands, and the views are gone.
        unsafe { packs.unpack(operands) };
    }
}

/// The first byte of a contiguous operand, and the number of its bytes.
fn span(operand: &Operand) -> (*mut u8, usize) {
    assert!(operand.layout.is_contiguous(), "rows of a contiguous array are contiguous");
    let size = operand.element.size_bytes;
    (operand.pointer.wrapping_add(operand.layout.offset * size), operand.layout.len() * size)
}

/// The bytes of a contiguous operand.
///
/// # Safety
/// Invariant V for `'o`.
unsafe fn elements<'o>(operand: &Operand) -> &'o [u8] {
    let (start, bytes) = span(operand);
    // SAFETY: V, by the caller: so many initialised bytes, which nobody writes for `'o`.
    unsafe { std::slice::from_raw_parts(start, bytes) }
}

/// The bytes of a contiguous operand that is written.
///
/// # Safety
/// Invariant V for `'o`, the operand `writes`, and no view of it exists for `'o`.
unsafe fn elements_mut<'o>(operand: &Operand) -> &'o mut [u8] {
    let (start, bytes) = span(operand);
    // SAFETY: V, by the caller: so many initialised bytes, which nobody else uses for `'o`.
    unsafe { std::slice::from_raw_parts_mut(start, bytes) }
}
