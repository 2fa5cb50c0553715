//! [`Fused`]: several maps as one codelet, made at run time, and a reduction of what they compute. Its kernel runs the maps'
//! own kernels tile by tile, so what they pass on to each other stays in the second-level cache, and every bit is that of the
//! maps one after the other.
#![allow(unsafe_code, reason = "cuts operands into tiles")]

use std::cell::Cell;
use std::collections::HashMap;
use std::ptr;
use std::sync::{LazyLock, Mutex, PoisonError};

use super::declaration::{Codelet, Parameter};
use super::kernel::{Kernel, Maps};
use super::kernel_memory::KernelMemory;
use super::operand::Operand;
use super::packs::Packs;
use super::reducer::{FusedReduction, Reducer};
use super::views::{Line, Views};
use crate::access::AccessMode;
use crate::element::ElementType;
use crate::footprint;
use crate::shape::Layout;

/// Bytes of a tile of all operands and of all that the maps pass on: they stay in the second-level cache. Tiles of the first level
/// are so short that the calls of the kernels take as long as their work (docs/measurements/fused-sums.md).
const TILE_BYTES: usize = 192 << 10;
/// The fewest elements of a tile: the cost of a call is small beside them.
const LEAST_TILE: usize = 256;

/// Maps that run one after the other on a tile.
#[derive(Debug)]
pub(super) struct Fused {
    steps: Vec<FusedStep>,
    /// What is done with the output of one of them; its own output is the last operand.
    reduction: Option<FusedReduction>,
    /// The element types of what the maps pass on.
    passed: Vec<ElementType>,
    /// Bytes of one element of each operand, and of all that the maps pass on.
    element_bytes: usize,
}

/// One of the maps.
#[derive(Clone, Debug)]
pub struct FusedStep {
    /// The map.
    pub codelet: &'static Codelet,
    /// The kernel that its submitter named.
    pub kernel: Option<&'static Kernel>,
    /// Its operands, in order; the last one is its output.
    pub operands: Vec<FusedOperand>,
    /// Bytes of its arguments.
    pub arguments: usize,
}

/// An operand of one of the maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FusedOperand {
    /// An operand of the fused codelet.
    Given(usize),
    /// The output of an earlier map, of this number, which stays in the cache.
    Passed(usize),
}

/// What distinguishes fused codelets: for each map its codelet and kernel, and its operands; and the reduction.
type Key = (Vec<(usize, usize, Vec<FusedOperand>)>, Option<(usize, usize)>);

/// All that were made: a program that is recorded again finds its own.
static MADE: LazyLock<Mutex<HashMap<Key, &'static Codelet>>> = LazyLock::new(Mutex::default);

std::thread_local! {
    /// The tiles of what maps pass on. Taken out while it is in use.
    static TILES: Cell<KernelMemory> = Cell::default();
}

impl FusedStep {
    fn output(&self) -> FusedOperand {
        *self.operands.last().expect("a map has an output")
    }

    fn kernel(&self) -> &Kernel {
        self.kernel.or(self.codelet.cpu_kernel()).expect("a map that is fused has a kernel on CPUs")
    }
}

/// The shape to which arrays of these shapes stretch; none if they have several ranks, or do not fit each other.
pub fn stretched<'e>(shapes: impl IntoIterator<Item = &'e [usize]>) -> Option<Vec<usize>> {
    let mut shapes = shapes.into_iter();
    let mut all = shapes.next()?.to_vec();
    for shape in shapes {
        if shape.len() != all.len() {
            return None;
        }
        for (all, &extent) in all.iter_mut().zip(shape) {
            match (*all, extent) {
                (1, _) => *all = extent,
                (_, 1) => {}
                (one, other) if one == other => {}
                _ => return None,
            }
        }
    }
    Some(all)
}

/// The codelet that runs these maps and the reduction. Its operands are the inputs, then the outputs that are not only
/// passed on, then the output of the reduction. It is made once and never freed.
pub(crate) fn fuse(
    steps: &[FusedStep],
    inputs: usize,
    reduction: Option<FusedReduction>,
) -> &'static Codelet {
    let address = |kernel: Option<&'static Kernel>| kernel.map_or(0, |kernel| ptr::from_ref(kernel).addr());
    let key =
        |step: &FusedStep| (ptr::from_ref(step.codelet).addr(), address(step.kernel), step.operands.clone());
    let reduces = reduction.map(|reduction| (ptr::from_ref(reduction.codelet).addr(), reduction.passed));
    let key: Key = (steps.iter().map(key).collect(), reduces);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry(key).or_insert_with(|| make(steps, inputs, reduction))
}

fn make(steps: &[FusedStep], inputs: usize, reduction: Option<FusedReduction>) -> &'static Codelet {
    let (mut given, mut passed) = (Vec::new(), Vec::new());
    for step in steps {
        for (parameter, operand) in step.codelet.parameters.iter().zip(&step.operands) {
            match *operand {
                FusedOperand::Given(index) => {
                    if given.len() <= index {
                        given.resize(index + 1, None);
                    }
                    given[index] = Some(parameter.element);
                }
                FusedOperand::Passed(index) if step.output() == *operand => {
                    debug_assert_eq!(index, passed.len(), "outputs are numbered in order");
                    passed.push(parameter.element);
                }
                FusedOperand::Passed(_) => {}
            }
        }
    }
    let element_bytes = given.iter().flatten().chain(&passed).map(|element| element.size_bytes).sum();
    let codelets = || steps.iter().map(|step| step.codelet).chain(reduction.map(|it| it.codelet));
    let name: Vec<_> = codelets().map(|codelet| codelet.name).collect();
    let name: &'static str = name.join("+").leak();
    let declarations = codelets().map(|codelet| codelet.declaration as usize);
    let shape: Vec<usize> = declarations
        .chain(steps.iter().flat_map(|step| &step.operands).map(|operand| match operand {
            FusedOperand::Given(index) => 2 * index,
            FusedOperand::Passed(index) => 2 * index + 1,
        }))
        .chain(reduction.map(|reduction| reduction.passed))
        .collect();
    let parameters = given.iter().enumerate().map(|(index, element)| {
        let (name, mode) = if index < inputs { ("input", AccessMode::R) } else { ("out", AccessMode::W) };
        Parameter::new(name, mode, element.expect("every operand is some map's"))
    });
    let parameters = parameters.chain(reduction.map(|reduction| reduction.codelet.parameters[1]));
    let arguments: usize = steps.iter().map(|step| step.codelet.arguments.len()).sum();
    let fused: &'static Fused =
        Box::leak(Box::new(Fused { steps: steps.to_vec(), reduction, passed, element_bytes }));
    let codelet = Codelet::new(name, "dahl::fused", footprint::hash_after(0, [&shape[..]].into_iter()))
        .parameters(parameters.collect::<Vec<_>>().leak())
        .arguments(vec!["argument"; arguments].leak())
        .kernels(vec![Some(Kernel::fused(fused))].leak())
        .no_cuda("it consists of maps that were fused for CPUs")
        .broadcasts();
    Box::leak(Box::new(if reduction.is_none() { codelet.map() } else { codelet }))
}

impl Maps for Fused {
    fn run(&self, views: &mut Views<'_>) {
        let (operands, arguments, packs) = views.take_operands();
        let (operands, total) = match operands.split_last() {
            Some((total, operands)) if self.reduction.is_some() => (operands, Some(total)),
            _ => (operands, None),
        };
        // The outputs have the shape to which the inputs stretch.
        let Some(extents) = stretched(operands.iter().map(|operand| operand.layout.extents())) else {
            return;
        };
        let mut tile = (TILE_BYTES / self.element_bytes.max(1)).max(LEAST_TILE);
        if let Some(reduction) = &self.reduction {
            tile = reduction.unit(tile);
        }
        let mut tiles = TILES.take();
        let widest = self.passed.iter().map(|element| element.size_bytes).max().unwrap_or(0);
        let lines = (tile * widest).div_ceil(size_of::<Line>());
        let start: *mut u8 = tiles.lines(lines * (self.passed.len() + 1)).as_mut_ptr().cast();
        let passed_bytes = lines * size_of::<Line>();
        let pending = start.wrapping_add(self.passed.len() * passed_bytes);
        let mut run = TileRun {
            fused: self,
            arguments,
            passed: start,
            passed_bytes,
            given: operands.to_vec(),
            operands: Vec::new(),
            // SAFETY: it is the last of the tiles, which no map uses: a unit of elements that are at most the widest.
            reducer: self.reduction.map(|reduction| unsafe { Reducer::new(reduction, tile, pending) }),
            packs,
        };
        let is_like_output =
            |operand: &Operand| operand.layout.is_contiguous() && *operand.layout.extents() == *extents;
        if operands.iter().all(is_like_output) {
            let len = extents.iter().product();
            for begin in (0..len).step_by(tile) {
                let count = tile.min(len - begin);
                for (own, operand) in run.given.iter_mut().zip(operands) {
                    own.layout.set_contiguous(&[count]);
                    own.layout.offset = operand.layout.offset + begin;
                }
                run.maps(&[count]);
            }
        } else {
            run.boxes(operands, &extents, tile, 0);
        }
        if let (Some(reducer), Some(total)) = (run.reducer.take(), total) {
            let bytes = total.element.size_bytes;
            let start = total.pointer.wrapping_add(total.layout.offset * bytes);
            // SAFETY: invariant V: it is one initialised element, which only this task uses; no view of it is left.
            let total = unsafe { std::slice::from_raw_parts_mut(start, bytes) };
            reducer.finish(total, run.packs);
        }
        TILES.set(tiles);
    }
}

/// The maps on one tile after the other.
struct TileRun<'f> {
    fused: &'f Fused,
    arguments: &'f [u8],
    /// The tiles of what the maps pass on, each of as many bytes.
    passed: *mut u8,
    passed_bytes: usize,
    /// The operands, cut to the tile.
    given: Vec<Operand>,
    /// Those of one map.
    operands: Vec<Operand>,
    reducer: Option<Reducer>,
    packs: &'f mut Packs,
}

impl TileRun<'_> {
    /// Cuts `operands` into boxes of at most `tile` elements, from the first axis on, along `axis` and those after it.
    fn boxes(&mut self, operands: &[Operand], extents: &[usize], tile: usize, axis: usize) {
        let inner: usize = extents[axis.min(extents.len())..].iter().skip(1).product();
        if extents.iter().product::<usize>() <= tile || axis == extents.len() {
            self.given.clear();
            self.given.extend_from_slice(operands);
            return self.maps(extents);
        }
        let step = (tile / inner.max(1)).max(1);
        for begin in (0..extents[axis]).step_by(step) {
            let count = step.min(extents[axis] - begin);
            let mut cut = extents.to_vec();
            cut[axis] = count;
            let part = |operand: &Operand| {
                let is_stretched = operand.layout.extents()[axis] == 1 && extents[axis] != 1;
                let layout =
                    if is_stretched { operand.layout } else { operand.layout.part(axis, begin, count) };
                Operand { layout, ..*operand }
            };
            let operands: Vec<_> = operands.iter().map(part).collect();
            self.boxes(&operands, &cut, tile, axis + 1);
        }
    }

    /// Runs all maps on the tile that `given` is.
    fn maps(&mut self, extents: &[usize]) {
        let mut arguments = self.arguments;
        for step in &self.fused.steps {
            let (own, rest) = arguments.split_at(step.arguments);
            arguments = rest;
            self.operands.clear();
            for operand in &step.operands {
                self.operands.push(match *operand {
                    FusedOperand::Given(index) => self.given[index],
                    FusedOperand::Passed(index) => {
                        let mut layout = Layout::EMPTY;
                        layout.set_contiguous(extents);
                        let writes = step.output() == *operand;
                        Operand {
                            pointer: self.passed.wrapping_add(index * self.passed_bytes),
                            layout,
                            element: self.fused.passed[index],
                            writes,
                            reads: !writes,
                        }
                    }
                });
            }
            let FusedStep { operands: slots, .. } = step;
            for (operand, slot) in self.operands.iter_mut().zip(slots) {
                // An output that a later map reads is an input there.
                if *slot != step.output() {
                    (operand.writes, operand.reads) = (false, true);
                }
            }
            self.packs.restart();
            // SAFETY: invariant V: the operands of the fused codelet are such, and a tile of one is a part of it; a map
            // writes its own output, which it does not read, and the tiles of what is passed on are this run's, initialised,
            // aligned to a line, and apart. Maps run one after the other.
            let mut views = unsafe { Views::new(&self.operands, own, self.packs) };
            step.kernel().run(&mut views, false);
            // SAFETY: the same operands, and the views are gone.
            unsafe { self.packs.unpack(&self.operands) };
        }
        if let Some(reducer) = &mut self.reducer {
            let index = self.fused.reduction.map_or(0, |reduction| reduction.passed);
            let from = self.passed.wrapping_add(index * self.passed_bytes);
            // SAFETY: a map has written that tile in row-major order, and no view of it is left.
            unsafe { reducer.push(from, extents.iter().product(), self.packs) };
        }
    }
}
