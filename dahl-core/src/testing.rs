//! The interface of the core for `dahl-testing`, beyond what every program may use: run a kernel on given memory, give
//! a task a kernel that its codelet lacks, inspect a task without submitting it. It is not for other use, and changes
//! without notice.
#![allow(
    unsafe_code,
    reason = "runs a kernel on memory that its caller lends, and passes on a duty of parts"
)]

use ndarray::Axis;

use crate::access::AccessMode;
use crate::array::Array;
use crate::codelet::{self, Codelet, Kernel, Packs, Parameter, ShapeOf, Views};
use crate::element::{Element, ElementType};
use crate::error::Result;
use crate::shape::Layout;
use crate::submission::Task;

pub use crate::codelet::{Line, RawOperand};
pub use crate::description::{AccessDesc, TaskDesc};

/// The memory of one parameter of a kernel.
#[derive(Debug)]
pub struct Operand<'a> {
    /// The element type.
    pub element: ElementType,
    /// The extents; the elements are in row-major order.
    pub extents: &'a [usize],
    /// Starts with the elements' bytes.
    pub lines: &'a mut [Line],
    /// The access mode of the declaration.
    pub mode: AccessMode,
    /// Whether the elements are the second half of each row of an array whose rows are twice as long.
    pub is_part: bool,
}

/// Runs `kernel` on `operands`, on this thread. Numeric arguments are replaced by their absolute values if `absolute`.
///
/// # Panics
/// If an operand has less memory than its extents need, its element type needs a stricter alignment than lines have, or
/// the kernel panics.
pub fn run(kernel: &Kernel, operands: &mut [Operand<'_>], arguments: &[u8], absolute: bool) {
    let place = |operand: &mut Operand<'_>| {
        let element = operand.element;
        let rows = if operand.is_part { 2 } else { 1 };
        let bytes = rows * operand.extents.iter().product::<usize>() * element.size_bytes;
        assert!(bytes <= size_of_val(&*operand.lines), "{bytes} bytes of {} fit", element.name);
        assert!(element.align_bytes <= align_of::<Line>(), "{} is aligned as lines are", element.name);
        let mut layout = Layout::EMPTY;
        layout.set_contiguous(operand.extents);
        if let (true, Some((last, outer))) = (operand.is_part, operand.extents.split_last()) {
            layout.set_contiguous(&[outer, &[2 * last]].concat());
            layout = layout.part(outer.len(), *last, *last);
        }
        let (writes, reads) = (operand.mode != AccessMode::R, operand.mode != AccessMode::W);
        codelet::Operand { pointer: operand.lines.as_mut_ptr().cast(), layout, element, writes, reads }
    };
    let places: Vec<codelet::Operand> = operands.iter_mut().map(place).collect();
    let mut packs = Packs::new(None);
    // SAFETY: invariant V. Each operand spans lines that are borrowed for it alone until the views are gone; they are
    // initialised, any bytes are elements (`Element` is `Pod`), and size and alignment were checked above.
    let views = unsafe { Views::new(&places, arguments, &mut packs) };
    kernel.run(&mut if absolute { views.absolute() } else { views }, false);
}

/// The task, with a kernel that is not its codelet's, but has the same views and arguments.
pub fn foreign_kernel<'a>(task: Task<'a>, kernel: &'static Kernel) -> Task<'a> {
    task.foreign_kernel(kernel)
}

/// The description that the runtime would get. The task is not submitted.
///
/// # Errors
/// As for [`submit`](Task::submit), as far as they are known now.
pub fn description(task: Task<'_>) -> Result<TaskDesc> {
    task.description()
}

/// Part `index` of the parts of `chunk` indices along `axis`, mutably, without a lifetime.
///
/// # Safety
/// The array is neither used nor dropped before the part is.
#[track_caller]
pub unsafe fn static_part<T: Element, const N: usize>(
    array: &mut Array<'static, T, N>,
    axis: Axis,
    chunk: usize,
    index: usize,
) -> Result<Array<'static, T, N>> {
    // SAFETY: guaranteed by the caller.
    unsafe { array.static_part(axis, chunk, index) }
}

/// The value of an expression of the declaration, for operands with these extents.
pub fn evaluate(
    expression: fn(&mut codelet::WorkInputs<'_>) -> f64,
    extents: &[&[usize]],
    arguments: &[u8],
) -> f64 {
    let shapes: Vec<ShapeOf> = extents.iter().map(|extents| ShapeOf::new(extents)).collect();
    expression(&mut codelet::WorkInputs::new(&shapes, arguments))
}

/// The number of elements of the largest data parameter.
pub fn largest_len(operands: &codelet::WorkInputs<'_>) -> usize {
    operands.largest_len()
}

/// The element type of a parameter that kernels see.
pub fn kernel_element(parameter: &Parameter) -> ElementType {
    parameter.kernel_element()
}

/// Whether the parameter's reduction is a sum, a maximum or a minimum.
pub fn accumulates_by_built_in(parameter: &Parameter) -> bool {
    parameter.accumulator.is_some_and(|accumulator| accumulator.is_built_in())
}

/// For a parameter of a reduction: the element type of its private buffers, and as many elements of the identity.
pub fn identity(parameter: &Parameter, len: usize) -> Option<(ElementType, Vec<Line>)> {
    let accumulator = parameter.accumulator?;
    let bytes = len * accumulator.element.size_bytes;
    let mut lines = vec![Line::default(); bytes.div_ceil(size_of::<Line>())];
    accumulator.fill_identity(&mut bytemuck::cast_slice_mut(&mut lines)[..bytes]);
    Some((accumulator.element, lines))
}

/// The index of the output that `_self` replaces.
pub fn output(codelet: &Codelet) -> Option<usize> {
    codelet.output()
}

/// For a codelet that overwrites one of its inputs: the index of that input, and the kernel for this case.
pub fn in_place(codelet: &Codelet) -> Option<(usize, Option<&Kernel>)> {
    codelet.in_place.as_ref().map(|in_place| (in_place.target, in_place.kernel.as_ref()))
}
