//! Several maps as one task, and a reduction of what they compute.

use crate::access::{AccessMode, Reduction};
use crate::codelet::{self, FusedOperand, FusedReduction, FusedStep, stretched};
use crate::description::{Action, Call, Placement, TaskDesc};
use crate::shape::Layout;

/// A map of a fused task.
#[derive(Clone, Debug)]
pub struct Map<'t> {
    /// The task that it was.
    pub desc: &'t TaskDesc,
    /// For each of its accesses: an access of the fused task, or what an earlier map passes on. The last one is its output.
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

/// The shape of a map's output.
fn output_extents(desc: &TaskDesc) -> &[usize] {
    desc.access(desc.accesses().len() - 1).extents()
}

/// One task that does what these maps do one after the other, and then the reduction of what is passed on with this number,
/// with the same bits. Its accesses are the `inputs` inputs, then the outputs that are not only passed on, and then that of
/// the reduction.
///
/// # Panics
/// If one of them is no [map](is_map), has another number of operands, or their outputs have several shapes. If the other one
/// is no [reduction](is_reduction) of such an output, or the inputs do not stretch to its shape.
pub fn fuse(maps: &[Map<'_>], inputs: usize, reduction: Option<(&TaskDesc, usize)>) -> TaskDesc {
    let domain = output_extents(maps.last().expect("there are maps").desc);
    let mut steps = Vec::with_capacity(maps.len());
    let mut accesses: Vec<Option<(&TaskDesc, usize)>> = Vec::new();
    for map in maps {
        assert!(is_map(map.desc) && map.operands.len() == map.desc.accesses().len(), "only maps are fused");
        assert!(output_extents(map.desc) == domain, "maps that are fused have one shape");
        for (index, operand) in map.operands.iter().enumerate() {
            let extents = map.desc.access(index).extents();
            let is_stretched = matches!(operand, FusedOperand::Given(_))
                && extents.len() == domain.len()
                && extents.iter().zip(domain).all(|(&own, &common)| own == common || own == 1);
            assert!(extents == domain || is_stretched, "maps that are fused have one shape");
            let FusedOperand::Given(given) = *operand else { continue };
            if accesses.len() <= given {
                accesses.resize(given + 1, None);
            }
            accesses[given].get_or_insert((map.desc, index));
        }
        let call = map.desc.call().expect("a map is a call");
        steps.push(FusedStep {
            codelet: call.codelet,
            kernel: call.kernel,
            operands: map.operands.clone(),
            arguments: map.desc.arguments().len(),
        });
    }
    let reduces = reduction.map(|(desc, passed)| {
        let outputs = maps.iter().filter_map(|map| Some((map.operands.last()?, map.desc)));
        let maker = outputs.into_iter().find(|(output, _)| **output == FusedOperand::Passed(passed));
        let (_, maker) = maker.expect("what is reduced is passed on");
        let made = maker.access(maker.accesses().len() - 1);
        let is_its = maker.element_of(maker.accesses().len() - 1) == desc.element_of(0)
            && made.layout.len() == desc.access(0).layout.len();
        assert!(is_reduction(desc) && is_its, "only a reduction of what is passed on is fused");
        let given = accesses.iter().flatten().map(|(desc, position)| desc.access(*position).extents());
        assert!(stretched(given).is_some_and(|all| all == domain), "the inputs stretch to what is reduced");
        FusedReduction { codelet: desc.codelet(), passed }
    });
    let last = reduction.map_or(maps.last().expect("there are maps").desc, |(desc, _)| desc);
    let mut fused = TaskDesc::new();
    fused.begin(Action::Kernel(Call::new(codelet::fuse(&steps, inputs, reduces), None)), last.location());
    for (index, access) in accesses.into_iter().enumerate() {
        let (desc, position) = access.expect("every access is some map's");
        let (access, mode) =
            (desc.access(position), if index < inputs { AccessMode::R } else { AccessMode::W });
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
    for map in maps {
        let arguments = map.desc.arguments();
        fused.push_argument(arguments.len()).copy_from_slice(arguments);
    }
    fused
}
