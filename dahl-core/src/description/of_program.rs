//! What a program asks of the description of one of its tasks.

use std::ptr;

use super::{Action, Placement, Step, TaskDesc};
use crate::array_id::ArrayId;
use crate::codelet::{Kernel, Parameter};
use crate::element::ElementType;
use crate::shape::Layout;

impl TaskDesc {
    /// Names another array in access `index`, with its private buffer, for a program's task.
    pub(crate) fn rebind(&mut self, index: usize, array: ArrayId, buffer: Option<ArrayId>) {
        let access = self.accesses.get_mut(index);
        (access.array, access.buffer, access.whole) = (Some(array), buffer, None);
    }

    /// Sets the layout of access `index`, for a program's task.
    pub(crate) fn set_layout(&mut self, index: usize, layout: Layout) {
        self.accesses.get_mut(index).layout = layout;
    }

    /// The bytes of the plain arguments, for a program's task.
    pub(crate) fn arguments_mut(&mut self) -> &mut [u8] {
        &mut self.arguments
    }

    /// Makes accesses that commute exclusive ones, for a program's task: its order is that of the recording.
    pub(crate) fn fix_order(&mut self) {
        self.accesses.fix_order();
    }

    /// Whether it calls a codelet, with no array of a reduction and no option that says where or when.
    #[doc(hidden)]
    pub fn is_plain_call(&self) -> bool {
        let Action::Kernel(call) = &self.action else { return false };
        call.options.place == Placement::Any && call.options.prefetch.is_none() && self.tags == 0
    }

    /// What distinguishes the codelet and the kernel from others.
    #[doc(hidden)]
    pub fn call_id(&self) -> (usize, usize) {
        let codelet = self.codelet_if_any().map_or(0, |codelet| ptr::from_ref(codelet).addr());
        (codelet, self.kernel().map_or(0, |kernel| ptr::from_ref(kernel).addr()))
    }

    /// The name of the kernel that the submitter named, if any.
    #[doc(hidden)]
    pub fn kernel_name(&self) -> Option<&'static str> {
        self.kernel().map(Kernel::name)
    }

    /// The number of the worker on which it is to run, and whether any other of its kind does as well; none for any worker.
    #[doc(hidden)]
    pub fn placed_on(&self) -> Option<(usize, bool)> {
        match self.place() {
            Placement::Any => None,
            Placement::Worker(worker) => Some((worker, false)),
            Placement::KindOf(worker) | Placement::Prefers(worker) => Some((worker, true)),
        }
    }

    /// Whether it combines the total of a reduction with the array.
    #[doc(hidden)]
    pub fn is_last_of_reduction(&self) -> bool {
        self.combination().is_some_and(|combination| matches!(combination.step, Step::Finish(_)))
    }

    /// The element type of access `position` as its kernel sees it; none if no kernel does.
    pub(crate) fn element_of(&self, position: usize) -> Option<ElementType> {
        match &self.action {
            Action::Kernel(call) => {
                let parameter = call.over.map_or(position, |over| over.parameter_of(position));
                let is_operand = position < self.operand_count();
                call.codelet.parameters.get(parameter).filter(|_| is_operand).map(Parameter::kernel_element)
            }
            Action::Combine(combination) => Some(combination.element_of(position)),
            _ => None,
        }
    }
}
