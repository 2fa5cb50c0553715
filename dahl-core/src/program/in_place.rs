//! Tasks that overwrite one of their inputs.

use super::fusion::is_map;
use crate::access::AccessMode;
use crate::description::{Action, Call, Over, TaskDesc};

/// How a map can overwrite one of its inputs.
#[derive(Clone, Debug)]
pub struct InPlaceMap {
    /// The task in place: without an access to the output, and with an exclusive one to the input.
    pub desc: TaskDesc,
    /// The access of the map to the output.
    pub output: usize,
    /// The access of the map to the input that it overwrites.
    pub target: usize,
}

/// The task that writes the output of a [map](is_map) over one of its inputs, with the same bits: it calls the kernel that
/// the declaration has for that. None if there is none, its submitter named another one, or the input is stretched or has
/// another layout than the output.
pub fn in_place(desc: &TaskDesc) -> Option<InPlaceMap> {
    let call = desc.call().filter(|call| is_map(desc) && call.kernel.is_none())?;
    call.codelet.in_place.as_ref()?.kernel.as_ref()?;
    let over = Over::of(call.codelet)?;
    let (output, target) = (desc.access(over.output), desc.access(over.target));
    if !output.layout.is_same(&target.layout) {
        return None;
    }
    let mut own = TaskDesc::new();
    own.begin(Action::Kernel(Call { over: Some(over), ..call.clone() }), desc.location());
    for (index, access) in desc.accesses().enumerate().filter(|(index, _)| *index != over.output) {
        let mode = if index == over.target { AccessMode::RW } else { access.mode() };
        own.push(access.array(), access.whole(), mode, |layout| layout.assign(&access.layout));
    }
    own.push_argument(desc.arguments().len()).copy_from_slice(desc.arguments());
    Some(InPlaceMap { desc: own, output: over.output, target: over.target })
}
