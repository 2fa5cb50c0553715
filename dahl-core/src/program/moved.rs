//! Tasks that only move elements, and tasks that read them where they were.

use crate::access::AccessMode;
use crate::codelet::{Moved, ShapeOf, WorkInputs};
use crate::description::{Action, Placement, TaskDesc};
use crate::shape::Layout;

/// Where a task takes the elements of its output from, if its codelet declares that it only moves those of its one input.
pub fn moved(desc: &TaskDesc) -> Option<Moved> {
    let Action::Kernel(call) = desc.action() else { return None };
    let is_free =
        call.options.place == Placement::Any && call.options.priority == 0 && call.options.prefetch.is_none();
    let modes = call.codelet.parameters.iter().map(|parameter| parameter.mode);
    let is_move = call.kernel.is_none()
        && call.over.is_none()
        && desc.accesses().len() == 2
        && desc.operand_count() == 2
        && modes.eq([AccessMode::R, AccessMode::W]);
    if !(is_free && is_move) {
        return None;
    }
    let shapes: Vec<ShapeOf> = desc.extents().map(ShapeOf::new).collect();
    let moved = (call.codelet.moves?)(&mut WorkInputs::new(&shapes, desc.arguments()));
    (moved.strides.len() == desc.access(1).extents().len()).then_some(moved)
}

/// The task with another layout of an access that it only reads. The caller names the array.
///
/// # Panics
/// If it does not only read, or the layout has another number of axes or of strides.
pub fn reading(desc: &TaskDesc, index: usize, strides: &[usize], offset: usize) -> TaskDesc {
    let access = desc.access(index);
    assert!(access.mode == AccessMode::R && strides.len() == access.extents().len(), "an input is strided");
    let strides: Vec<isize> = strides.iter().map(|&stride| stride as isize).collect();
    let mut layout = Layout::EMPTY;
    layout.set_strided(access.extents(), &strides, offset);
    let mut own = desc.clone();
    own.set_layout(index, layout);
    own
}
