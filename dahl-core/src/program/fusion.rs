//! Several tasks as one, and a reduction of what they compute.

use super::part::Part;
use crate::access::{AccessMode, Reduction};
use crate::codelet::{self, FusedOperand, FusedReduction, FusedRows, FusedStep, stretched};
use crate::description::{Action, Call, Placement, TaskDesc};
use crate::shape::Layout;

/// A step of a fused task.
#[derive(Clone, Debug)]
pub struct FusedTask<'t> {
    /// The task that it was.
    pub part: &'t Part<'t>,
    /// For each of its accesses, inputs first: an access of the fused task, or what an earlier step passes on. The last one is
    /// its output.
    pub operands: Vec<FusedOperand>,
}

/// Whether a task is a map that can be fused: it runs on any CPU, writes one array that it does not read, and its submitter
/// set no option.
pub fn is_map(desc: &TaskDesc) -> bool {
    let Action::Kernel(call) = desc.action() else { return false };
    let is_free = call.options.place == Placement::Any
        && call.options.priority == 0
        && call.options.prefetch.is_none()
        && call.kernel.is_none_or(|kernel| !kernel.is_on_cuda());
    let modes = call.codelet.parameters.split_last().is_some_and(|(output, inputs)| {
        output.mode == AccessMode::W && inputs.iter().all(|input| input.mode == AccessMode::R)
    });
    call.codelet.is_map
        && call.over.is_none()
        && call.codelet.cpu_kernel().is_some()
        && is_free
        && modes
        && desc.operand_count() == desc.accesses().len()
}

/// Whether a [map](is_map) can be fused where there are devices: a kernel in CUDA of it and of others can be made.
pub fn is_map_on_devices(desc: &TaskDesc) -> bool {
    is_map(desc) && desc.kernel().is_none() && codelet::joins_in_cuda(desc.codelet())
}

/// Whether a task is a reduction that can be fused with the map that makes its input: a sum of a whole array, whose order is
/// declared, into a buffer that begins with it; it runs on any CPU.
pub fn is_reduction(desc: &TaskDesc) -> bool {
    let Action::Kernel(call) = desc.action() else { return false };
    let is_free =
        call.options.place == Placement::Any && call.options.priority == 0 && call.options.prefetch.is_none();
    let modes = call.codelet.parameters.iter().map(|parameter| parameter.mode);
    let is_sum = modes.eq([AccessMode::R, AccessMode::REDUX(Reduction::Sum)])
        && call.codelet.parameters[1].accumulator.is_some();
    is_sum
        && is_free
        && call.codelet.blocks.is_some()
        && call.codelet.cpu_kernel().is_some()
        && (call.over.is_none() && call.kernel.is_none())
        && desc.operand_count() == desc.accesses().len()
        && desc.arguments().is_empty()
        && desc.access(0).layout.is_contiguous()
        && desc.access(0).layout.offset == 0
        && desc.access(1).begins
        && desc.access(1).layout.len() == 1
}

/// One task that does what these tasks do one after the other, and then the reduction of what is passed on with this number,
/// with the same bits. Its accesses are the `inputs` inputs, then the outputs that are not only passed on, and then that of
/// the reduction. Its tiles are cut along so many leading axes, or along all if that is none: then all tasks are maps of one
/// shape.
///
/// # Panics
/// If one of them has another number of operands, their shapes are not those of what they are [cut](Part) into, or the other
/// one is no [reduction](is_reduction) of something that is passed on.
pub fn fuse(
    tasks: &[FusedTask<'_>],
    inputs: usize,
    reduction: Option<(&TaskDesc, usize)>,
    axes: Option<usize>,
) -> TaskDesc {
    let given = Given::of(tasks, axes);
    let reduces = reduction.map(|(desc, passed)| {
        let maker = tasks.iter().find(|task| task.operands.last() == Some(&FusedOperand::Passed(passed)));
        let maker = maker.expect("what is reduced is passed on").part;
        let is_its = maker.element_of(maker.output()) == desc.element_of(0)
            && maker.extents(maker.output()).iter().product::<usize>() == desc.access(0).layout.len();
        assert!(is_reduction(desc) && is_its, "only a reduction of what is passed on is fused");
        FusedReduction { codelet: desc.codelet(), passed }
    });
    let steps = tasks.iter().map(|task| task.part.step(task.operands.clone()));
    let steps: Vec<FusedStep> = steps.collect();
    let codelet = codelet::fuse(&steps, inputs, reduces, given.rows(tasks, inputs, axes));
    let last = reduction.map_or(tasks.last().expect("there are tasks").part.desc(), |(desc, _)| desc);
    let mut fused = TaskDesc::new();
    fused.begin(Action::Kernel(Call::new(codelet, None)), last.location());
    for (index, &(part, position)) in given.accesses.iter().enumerate() {
        let access = part.desc().access(part.access(position));
        let mode = if index < inputs { AccessMode::R } else { AccessMode::W };
        fused.push(access.array(), access.whole(), mode, |layout: &mut Layout| layout.assign(&access.layout));
    }
    if let Some((desc, _)) = reduction {
        let access = desc.access(1);
        fused.push(access.array(), access.whole(), access.mode, |layout: &mut Layout| {
            layout.assign(&access.layout);
        });
        // It is the first contribution to its buffer.
        let index = fused.operand_count() - 1;
        fused.set_begins(index);
    }
    for task in tasks {
        let arguments = task.part.desc().arguments();
        fused.push_argument(arguments.len()).copy_from_slice(arguments);
    }
    fused
}

/// The accesses of a fused task, and what its steps pass on.
struct Given<'t> {
    /// Of each access, the first task that has it, and the number of its operand.
    accesses: Vec<(&'t Part<'t>, usize)>,
    /// The extents along which all is cut.
    extents: Vec<usize>,
    /// The extents of what is passed on.
    passed: Vec<Vec<usize>>,
}

impl<'t> Given<'t> {
    /// Those of these tasks, cut along so many leading axes.
    ///
    /// # Panics
    /// If the shapes do not fit: [`Part::require_cut`]; or the tasks read something else than an earlier one wrote.
    fn of(tasks: &[FusedTask<'t>], axes: Option<usize>) -> Self {
        let last = tasks.last().expect("there are tasks").part;
        let all = last.extents(last.output());
        let extents = all[..axes.unwrap_or(all.len())].to_vec();
        let mut accesses: Vec<Option<(&Part<'_>, usize)>> = Vec::new();
        let mut made: Vec<(FusedOperand, &[usize])> = Vec::new();
        let mut passed = Vec::new();
        for task in tasks {
            let part = task.part;
            assert!(task.operands.len() == part.operands(), "a task has an operand for each access");
            part.require_cut(&extents, axes.is_none());
            for (position, operand) in task.operands.iter().enumerate() {
                let own = part.extents(position);
                if position == part.output() {
                    assert!(made.iter().all(|(other, _)| other != operand), "two tasks write one operand");
                    made.push((*operand, own));
                    if let FusedOperand::Passed(index) = operand {
                        assert_eq!(*index, passed.len(), "outputs are numbered in order");
                        passed.push(own.to_vec());
                    }
                } else if let Some((_, written)) = made.iter().find(|(other, _)| other == operand) {
                    let is_by_rows = part.is_cut(position) || extents.is_empty();
                    assert!(own == *written && is_by_rows, "a task reads rows as they were written");
                } else {
                    assert!(matches!(operand, FusedOperand::Given(_)), "what is read was passed on before");
                }
                let FusedOperand::Given(given) = *operand else { continue };
                if accesses.len() <= given {
                    accesses.resize(given + 1, None);
                }
                let (first, at) = *accesses[given].get_or_insert((part, position));
                let is_alike = first.extents(at) == own
                    && (extents.is_empty() || first.is_cut(at) == part.is_cut(position));
                assert!(is_alike, "an access has one shape, and is cut or not");
            }
        }
        let accesses: Vec<_> =
            accesses.into_iter().map(|access| access.expect("an access is a task's")).collect();
        let cut = accesses.iter().filter(|(part, position)| part.is_cut(*position));
        let leads = cut.map(|(part, position)| &part.extents(*position)[..extents.len()]);
        let is_known = extents.is_empty() || stretched(leads).is_some_and(|all| *all == *extents);
        assert!(is_known, "the accesses stretch to what is computed");
        Self { accesses, extents, passed }
    }

    /// How tiles are cut into rows, along so many axes.
    fn rows(&self, tasks: &[FusedTask<'_>], inputs: usize, axes: Option<usize>) -> Option<FusedRows> {
        let axes = axes?;
        debug_assert!(inputs <= self.accesses.len() && self.extents.len() == axes);
        let is_cut = |(part, position): &(&Part<'_>, usize)| axes > 0 && part.is_cut(*position);
        Some(FusedRows {
            axes,
            least: tasks.iter().map(|task| task.part.least()).max().unwrap_or(1),
            is_cut: self.accesses.iter().map(is_cut).collect(),
            passed: self.passed.iter().map(|extents| extents[axes..].to_vec()).collect(),
        })
    }
}
