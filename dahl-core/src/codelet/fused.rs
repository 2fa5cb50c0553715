//! [`Fused`]: several tasks as one codelet, made at run time, and a reduction of what they compute. Its kernel runs their own
//! kernels tile by tile ([`tile_run`](super::tile_run)), so what they pass on to each other stays in the second-level cache, and
//! every bit is that of the tasks one after the other. Maps of one shape have a kernel in CUDA too (`fused_cuda`).
//!
//! Maps of one shape have any tiles. Other steps, and maps of several shapes, have tiles of rows ([`FusedRows`]).

use std::collections::HashMap;
use std::ptr;
use std::sync::{LazyLock, Mutex, PoisonError};

use arrayvec::ArrayVec;

use super::accumulator::Accumulator;
use super::declaration::{Codelet, Parameter};
use super::fused_cuda;
use super::kernel::Kernel;
use super::reducer::FusedReduction;
use crate::access::AccessMode;
use crate::element::ElementType;
use crate::footprint;
use crate::shape::MAX_RANK;

/// Bytes of a tile of all operands and of all that the maps pass on: they stay in the second-level cache. Tiles of the first level
/// are so short that the calls of the kernels take as long as their work (docs/measurements/fused-sums.md).
pub const TILE_BYTES: usize = 192 << 10;

/// Steps that run one after the other on a tile.
#[derive(Debug)]
pub(super) struct Fused {
    pub(super) steps: Vec<FusedStep>,
    /// What is done with the output of one of them; its own output is the last operand.
    pub(super) reduction: Option<FusedReduction>,
    /// The element types of what the steps pass on.
    pub(super) passed: Vec<ElementType>,
    /// Bytes of one element of each operand, and of all that the steps pass on.
    pub(super) element_bytes: usize,
    /// How tiles are cut; none if all steps are maps of one shape.
    pub(super) rows: Option<FusedRows>,
}

/// Tiles of rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FusedRows {
    /// The leading axes along which tiles are cut; all is one tile if there are none.
    pub(crate) axes: usize,
    /// The fewest rows of a tile, if there are so many.
    pub(crate) least: usize,
    /// Of each operand, whether it is cut: the others are read whole by each tile.
    pub(crate) is_cut: Vec<bool>,
    /// The extents of a row of what the steps pass on.
    pub(crate) passed: Vec<Vec<usize>>,
}

/// One of the steps: a map, another kernel, or the end of a reduction.
#[derive(Clone, Debug)]
pub(crate) struct FusedStep {
    /// The codelet; for the end of a reduction, that of the contributions.
    pub(crate) codelet: &'static Codelet,
    /// The kernel that its submitter named.
    pub(crate) kernel: Option<&'static Kernel>,
    /// For the end of a reduction: how a buffer becomes elements of this type.
    pub(crate) finish: Option<(&'static Accumulator, ElementType)>,
    /// Its operands, in order; the last one is its output.
    pub(crate) operands: Vec<FusedOperand>,
    /// Bytes of its arguments.
    pub(crate) arguments: usize,
}

/// An operand of one of the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FusedOperand {
    /// An operand of the fused codelet.
    Given(usize),
    /// The output of an earlier step, of this number, which stays in the cache.
    Passed(usize),
}

/// What distinguishes fused codelets: for each step its codelet, its kernel or what it ends, and its operands; the reduction;
/// and how tiles are cut.
type Key = (Vec<(usize, usize, usize, Vec<FusedOperand>)>, Option<(usize, usize)>, Option<FusedRows>);

/// All that were made: a program that is recorded again finds its own.
static MADE: LazyLock<Mutex<HashMap<Key, &'static Codelet>>> = LazyLock::new(Mutex::default);

impl FusedStep {
    pub(super) fn output(&self) -> FusedOperand {
        *self.operands.last().expect("a step has an output")
    }

    pub(super) fn kernel(&self) -> &Kernel {
        self.kernel.or(self.codelet.cpu_kernel()).expect("what is fused has a kernel on CPUs")
    }

    /// If its output is a contribution to a reduction: how it begins.
    pub(crate) fn contributes(&self) -> Option<&'static Accumulator> {
        let parameters: &'static [Parameter] = self.codelet.parameters;
        parameters.last().and_then(|output| output.accumulator.as_ref()).filter(|_| self.finish.is_none())
    }

    /// The element type of an operand.
    pub(super) fn element(&self, index: usize) -> ElementType {
        match self.finish {
            Some((accumulator, _)) if index == 0 => accumulator.element(),
            Some((_, element)) => element,
            None => self.codelet.parameters[index].kernel_element(),
        }
    }
}

/// The shape to which arrays of these shapes stretch; none if they have several ranks, or do not fit each other.
pub fn stretched<'e>(shapes: impl IntoIterator<Item = &'e [usize]>) -> Option<ArrayVec<usize, MAX_RANK>> {
    let mut shapes = shapes.into_iter();
    let mut all: ArrayVec<_, MAX_RANK> = shapes.next()?.iter().copied().collect();
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

/// The codelet that runs these steps and the reduction. Its operands are the inputs, then the outputs that are not only
/// passed on, then the output of the reduction. It is made once and never freed.
pub(crate) fn fuse(
    steps: &[FusedStep],
    inputs: usize,
    reduction: Option<FusedReduction>,
    rows: Option<FusedRows>,
) -> &'static Codelet {
    let address = |kernel: Option<&'static Kernel>| kernel.map_or(0, |kernel| ptr::from_ref(kernel).addr());
    let key = |step: &FusedStep| {
        let ends = step.finish.map_or(0, |(accumulator, _)| ptr::from_ref(accumulator).addr());
        (ptr::from_ref(step.codelet).addr(), address(step.kernel), ends, step.operands.clone())
    };
    let reduces = reduction.map(|reduction| (ptr::from_ref(reduction.codelet).addr(), reduction.passed));
    let key: Key = (steps.iter().map(key).collect(), reduces, rows.clone());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry(key).or_insert_with(|| make(steps, inputs, reduction, rows))
}

fn make(
    steps: &[FusedStep],
    inputs: usize,
    reduction: Option<FusedReduction>,
    rows: Option<FusedRows>,
) -> &'static Codelet {
    let (mut given, mut passed) = (Vec::new(), Vec::new());
    for step in steps {
        for (position, operand) in step.operands.iter().enumerate() {
            match *operand {
                FusedOperand::Given(index) => {
                    if given.len() <= index {
                        given.resize(index + 1, None);
                    }
                    given[index] = Some(step.element(position));
                }
                FusedOperand::Passed(index) if step.output() == *operand => {
                    debug_assert_eq!(index, passed.len(), "outputs are numbered in order");
                    passed.push(step.element(position));
                }
                FusedOperand::Passed(_) => {}
            }
        }
    }
    let element_bytes = given.iter().flatten().chain(&passed).map(|element| element.size_bytes).sum();
    let kernels = steps.iter().filter(|step| step.finish.is_none()).map(|step| step.codelet);
    let codelets: Vec<_> = kernels.chain(reduction.map(|reduction| reduction.codelet)).collect();
    let name: Vec<_> = codelets.iter().map(|codelet| codelet.name).collect();
    let name: &'static str = name.join("+").leak();
    let declarations = codelets.iter().map(|codelet| codelet.declaration as usize);
    let operands = steps.iter().flat_map(|step| &step.operands).map(|operand| match operand {
        FusedOperand::Given(index) => 2 * index,
        FusedOperand::Passed(index) => 2 * index + 1,
    });
    let shape: Vec<usize> = declarations
        .chain(operands)
        .chain(reduction.map(|reduction| reduction.passed))
        .chain(rows.as_ref().map(|rows| rows.axes))
        .collect();
    let given: Vec<_> =
        given.into_iter().map(|element| element.expect("every operand is some step's")).collect();
    let parameters = given.iter().enumerate().map(|(index, element)| {
        let (name, mode) = if index < inputs { ("input", AccessMode::R) } else { ("out", AccessMode::W) };
        Parameter::new(name, mode, *element)
    });
    let parameters = parameters.chain(reduction.map(|reduction| reduction.codelet.parameters[1]));
    let arguments: usize = codelets.iter().map(|codelet| codelet.arguments.len()).sum();
    let is_map = reduction.is_none() && rows.is_none();
    let cuda = if is_map {
        fused_cuda::kernel(name, steps, &given, inputs)
    } else {
        Err("it consists of tasks that were fused for CPUs")
    };
    let fused: &'static Fused =
        Box::leak(Box::new(Fused { steps: steps.to_vec(), reduction, passed, element_bytes, rows }));
    let codelet = Codelet::new(name, "dahl::fused", footprint::hash_after(0, [&shape[..]].into_iter()))
        .parameters(parameters.collect::<Vec<_>>().leak())
        .arguments(vec!["argument"; arguments].leak())
        .kernels(vec![Some(Kernel::fused(fused))].leak())
        .broadcasts();
    let codelet = match cuda {
        Ok(cuda) => codelet.cuda(Some(cuda)),
        Err(reason) => codelet.no_cuda(reason),
    };
    Box::leak(Box::new(if is_map { codelet.map() } else { codelet }))
}
