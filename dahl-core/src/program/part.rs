//! [`Part`]: a task that can be a step of a fused one, and how its arrays can be cut.

use super::fusion::is_map;
use crate::access::AccessMode;
use crate::codelet::{FusedOperand, FusedStep, Kernel, ShapeOf, WorkInputs};
use crate::description::{Action, Placement, Step, TaskDesc};
use crate::element::ElementType;

/// A task that can be a step of a fused one. Its operands are its accesses, of which the last one is its output.
#[derive(Clone, Debug)]
pub struct Part<'t> {
    desc: &'t TaskDesc,
    kind: Kind,
    /// The leading axes along which it can be cut.
    axes: usize,
    least: usize,
    /// Of each operand, whether it is cut with the output.
    is_cut: Vec<bool>,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Computes each element from those at the same place of its inputs.
    Map,
    /// Becomes the elements of a reduction from its buffer. Its first access is the output.
    Finish,
    /// Computes rows apart from each other, from rows of its inputs.
    Rows,
    /// Anything else: a product, whose rows need a whole factor, or a kernel that cannot be cut.
    Whole,
}

impl<'t> Part<'t> {
    /// A task as a step: a [map](is_map), or another call of a kernel on whole arrays that runs on any CPU, reads all but its last
    /// one, and overwrites that or begins a reduction in it; or the last task of a reduction, whose array had no value.
    pub fn of(desc: &'t TaskDesc) -> Option<Self> {
        let operands = desc.accesses().len();
        if is_map(desc) {
            let axes = desc.access(operands - 1).extents().len();
            return Some(Self { desc, kind: Kind::Map, axes, least: 1, is_cut: vec![true; operands] });
        }
        let is_plain =
            desc.accesses().all(|access| access.layout.is_contiguous() && access.layout.offset == 0);
        if !is_plain || desc.operand_count() != operands {
            return None;
        }
        if let Some(combination) = desc.combination() {
            let ends = matches!(combination.step, Step::Finish(_)) && desc.access(0).begins;
            let is_free = combination.place == Placement::Any && combination.accumulator.is_built_in();
            let axes = desc.access(0).extents().len();
            let is_like = desc.access(0).extents() == desc.access(1).extents();
            let part = Self { desc, kind: Kind::Finish, axes, least: 1, is_cut: vec![true; 2] };
            return (ends && is_free && is_like && operands == 2).then_some(part);
        }
        let Action::Kernel(call) = desc.action() else { return None };
        let is_free = call.options.place == Placement::Any
            && call.options.priority == 0
            && call.options.prefetch.is_none();
        // A kernel that is parallel in its only entry needs the pool of its worker.
        let is_sequential = call.codelet.cpu_kernel().is_some_and(|kernel| !kernel.makes_jobs(false));
        let has_kernel = call.kernel.is_none() && call.over.is_none() && is_sequential;
        let modes = call.codelet.parameters.split_last().is_some_and(|(output, inputs)| {
            let begins = output.accumulator.as_ref().is_some_and(|accumulator| accumulator.is_built_in())
                && desc.access(operands - 1).begins;
            (output.mode == AccessMode::W || matches!(output.mode, AccessMode::REDUX(_)) && begins)
                && inputs.iter().all(|input| input.mode == AccessMode::R)
        });
        if !(is_free && has_kernel && modes && operands == call.codelet.parameters.len()) {
            return None;
        }
        let mut part = Self { desc, kind: Kind::Whole, axes: 0, least: 1, is_cut: vec![false; operands] };
        if let Some(rows) = &call.codelet.rows {
            let shapes: Vec<ShapeOf> = desc.extents().map(ShapeOf::new).collect();
            part.axes = rows.axes(&mut WorkInputs::new(&shapes, desc.arguments()));
            part.least = rows.least();
            part.is_cut = (0..operands).map(|index| !rows.is_whole(index)).collect();
            let lead = desc.access(operands - 1).extents().get(..part.axes)?;
            let fits = |index: usize| {
                !part.is_cut[index] || desc.access(index).extents().get(..part.axes) == Some(lead)
            };
            if !(0..operands).all(fits) {
                return None;
            }
            let is_light =
                part.least == 1 && (0..operands).all(|index| part.is_cut[index] || part.is_vector(index));
            part.kind = if is_light { Kind::Rows } else { Kind::Whole };
        }
        Some(part)
    }

    /// Whether an operand is a number or a vector, such as weights of a norm: not a factor of a product.
    fn is_vector(&self, operand: usize) -> bool {
        self.extents(operand).len() <= 1
    }

    /// The task.
    pub fn desc(&self) -> &'t TaskDesc {
        self.desc
    }

    /// What it does.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The leading axes along which it can be cut.
    pub fn axes(&self) -> usize {
        self.axes
    }

    /// The fewest rows that it can be cut into.
    pub fn least(&self) -> usize {
        self.least
    }

    /// Whether its kernel can use several cores.
    pub fn is_parallel(&self) -> bool {
        self.desc.call().and_then(|call| call.codelet.cpu_kernel()).is_some_and(Kernel::is_parallel)
    }

    /// The number of operands.
    pub fn operands(&self) -> usize {
        self.is_cut.len()
    }

    /// The number of the output among the operands.
    pub fn output(&self) -> usize {
        self.operands() - 1
    }

    /// The access of the task that an operand is.
    pub fn access(&self, operand: usize) -> usize {
        if self.kind == Kind::Finish { self.output() - operand } else { operand }
    }

    /// The extents of an operand.
    pub fn extents(&self, operand: usize) -> &'t [usize] {
        self.desc.access(self.access(operand)).extents()
    }

    /// Whether an operand is cut with the output; otherwise each row reads all of it.
    pub fn is_cut(&self, operand: usize) -> bool {
        self.is_cut[operand]
    }

    /// The bytes of an element of an operand.
    pub fn element_bytes(&self, operand: usize) -> usize {
        self.element_of(operand).map_or(0, |element| element.size_bytes)
    }

    /// The element type of an operand.
    pub(super) fn element_of(&self, operand: usize) -> Option<ElementType> {
        self.desc.element_of(self.access(operand))
    }

    /// Whether it can be cut along the leading axes, which have these extents; for `all` axes, it is a map of this shape.
    pub fn can_be_cut(&self, lead: &[usize], all: bool) -> bool {
        let axes = lead.len();
        let fits = |operand: usize| {
            let extents = self.extents(operand);
            let is_cut = !self.is_cut[operand]
                || axes == 0
                || extents.len() >= axes && {
                    let is_stretched = |(own, common): (&usize, &usize)| {
                        own == common || *own == 1 && operand != self.output() && self.kind == Kind::Map
                    };
                    extents.iter().zip(lead).all(is_stretched)
                };
            is_cut && (!all || extents.len() == axes)
        };
        let is_kind = if all { self.kind == Kind::Map } else { axes <= self.axes };
        is_kind && (0..self.operands()).all(fits)
    }

    /// # Panics
    /// Unless it [can be cut](Self::can_be_cut) so.
    pub(super) fn require_cut(&self, lead: &[usize], all: bool) {
        assert!(self.can_be_cut(lead, all), "`{}` cannot be cut into {lead:?}", self.desc.codelet().name);
    }

    /// The step of a fused task with these operands.
    pub(super) fn step(&self, operands: Vec<FusedOperand>) -> FusedStep {
        let finish = self.desc.combination().and_then(|combination| match combination.step {
            Step::Finish(element) => Some((combination.accumulator, element)),
            Step::Fold => None,
        });
        FusedStep {
            codelet: self.desc.codelet(),
            kernel: self.desc.kernel(),
            finish,
            operands,
            arguments: self.desc.arguments().len(),
        }
    }
}
