//! Several maps as one task.

use crate::access::AccessMode;
use crate::codelet::{self, FusedOperand, FusedStep};
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

/// The shape of a map's output.
fn output_extents(desc: &TaskDesc) -> &[usize] {
    desc.access(desc.accesses().len() - 1).extents()
}

/// One task that does what these maps do one after the other, with the same bits. Its accesses are the `inputs` inputs, and
/// then the outputs that are not only passed on.
///
/// # Panics
/// If one of them is no [map](is_map), has another number of operands, or their outputs have several shapes.
pub fn fuse(maps: &[Map<'_>], inputs: usize) -> TaskDesc {
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
    let last = maps.last().expect("there are maps").desc;
    let mut fused = TaskDesc::new();
    fused.begin(Action::Kernel(Call::new(codelet::fuse(&steps, inputs), None)), last.location());
    for (index, access) in accesses.into_iter().enumerate() {
        let (desc, position) = access.expect("every access is some map's");
        let (access, mode) =
            (desc.access(position), if index < inputs { AccessMode::R } else { AccessMode::W });
        fused.push(access.array(), access.whole(), mode, |layout: &mut Layout| layout.assign(&access.layout));
    }
    for map in maps {
        let arguments = map.desc.arguments();
        fused.push_argument(arguments.len()).copy_from_slice(arguments);
    }
    fused
}
