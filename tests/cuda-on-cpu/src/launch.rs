//! Launching a kernel on a task's views, in several orders of its threads.

use std::ffi::{CStr, c_void};

use dahl::testing::{RawOperand, Views};

use crate::parameters::{Parameters, view};
use crate::{dahl_on_cpu_failure, dahl_on_cpu_set_schedule};

/// A kernel for given element types.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) kernel: &'static str,
    pub(crate) entry: unsafe extern "C" fn(*mut *mut c_void, *mut Plan),
    /// Of its views; -1 for any.
    pub(crate) ranks: &'static [i32],
    pub(crate) takes_task: bool,
}

/// `dahl::on_cpu::Plan`.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Plan {
    scratch_bytes: u64,
    passes: [[u32; 6]; 8],
    /// Whether only `scratch_bytes` is asked for.
    only_asks: bool,
}

/// Threads forwards, backwards, and in an order drawn from the seed 2.
const SCHEDULES: [u64; 3] = [0, 1, 2];

/// What the memory of passes holds first: NaN in every type.
const UNKNOWN: u64 = u64::MAX;

/// Runs the kernel on the views that are left.
///
/// # Panics
/// With what went wrong: the task fails.
pub(crate) fn run(instance: &Instance, views: &mut Views<'_>) {
    let (operands, arguments) = views.take_raw_operands();
    assert_eq!(operands.len(), instance.ranks.len(), "{}: the number of arrays", instance.kernel);
    let before: Vec<Vec<u8>> = operands.iter().map(content).collect();
    let mut first: Option<Vec<Vec<u8>>> = None;
    for schedule in SCHEDULES {
        for (operand, bytes) in operands.iter().zip(&before).filter(|(operand, _)| operand.writes) {
            restore(operand, bytes);
        }
        // SAFETY: the function only sets a number of this thread's.
        unsafe { dahl_on_cpu_set_schedule(schedule) };
        launch(instance, &operands, arguments);
        let after: Vec<Vec<u8>> = operands.iter().map(content).collect();
        match &first {
            None => first = Some(after),
            Some(first) => {
                let differs = first.iter().zip(&after).position(|(first, after)| first != after);
                if let Some(array) = differs {
                    panic!(
                        "{}: array {array} has other bits when the threads run in another order (schedule {schedule})",
                        instance.kernel
                    );
                }
            }
        }
    }
}

fn launch(instance: &Instance, operands: &[RawOperand], arguments: &[u8]) {
    let views = operands.iter().zip(instance.ranks).map(|(operand, &rank)| view(operand, rank)).collect();
    let mut parameters = Parameters::new(views, arguments);
    let mut plan = Plan { scratch_bytes: 0, passes: [[1; 6]; 8], only_asks: true };
    let mut failure = u64::MAX;
    if instance.takes_task {
        parameters.push(vec![0, (&raw mut failure) as u64]);
    }
    let mut pointers = parameters.pointers(instance.ranks.len());
    // SAFETY: the parameters are those that the table says, in their layout.
    unsafe { (instance.entry)(pointers.as_mut_ptr(), &raw mut plan) };
    let mut scratch = vec![UNKNOWN; plan.scratch_bytes.div_ceil(8) as usize];
    if instance.takes_task {
        let task = pointers.last().expect("the last parameter").cast::<u64>();
        // SAFETY: the last parameter is two words, the first of which is the pointer to scratch memory.
        unsafe { task.write(scratch.as_mut_ptr() as u64) };
    }
    plan.only_asks = false;
    // SAFETY: as above; the views span memory that is the task's, exclusively where the kernel writes, and the kernel
    // stays within their extents: views are checked.
    unsafe { (instance.entry)(pointers.as_mut_ptr(), &raw mut plan) };
    // SAFETY: the function only returns a pointer.
    let what = unsafe { dahl_on_cpu_failure() };
    // SAFETY: it is a string that stays until the next launch of this thread.
    let what = unsafe { CStr::from_ptr(what) }.to_string_lossy();
    assert!(what.is_empty(), "{what}");
    assert!(failure == u64::MAX, "{}: the index or label at {failure} is out of range", instance.kernel);
}

/// The places of all elements, from the first on, in row-major order.
fn places(operand: &RawOperand) -> impl Iterator<Item = isize> + '_ {
    let len: usize = operand.extents.iter().product();
    (0..len).map(|mut i| {
        let axes = operand.extents.iter().zip(&operand.strides).rev();
        axes.fold(0, |place, (extent, stride)| {
            let index = i % extent;
            i /= extent;
            place + index as isize * stride
        })
    })
}

fn size_bytes(operand: &RawOperand) -> usize {
    match operand.element {
        "f16" | "bf16" => 2,
        "f32" | "u32" | "i32" => 4,
        "f64" | "i64" => 8,
        "u8" => 1,
        other => panic!("no kernel is of {other}"),
    }
}

/// The bytes of all elements.
fn content(operand: &RawOperand) -> Vec<u8> {
    let size = size_bytes(operand);
    let element = |place: isize| {
        // SAFETY: an element of a view of a running task, which is initialised and which this task may read.
        unsafe { std::slice::from_raw_parts(operand.start.wrapping_offset(place * size as isize), size) }
    };
    places(operand).flat_map(element).copied().collect()
}

/// Puts `bytes` back.
fn restore(operand: &RawOperand, bytes: &[u8]) {
    let size = size_bytes(operand);
    for (place, element) in places(operand).zip(bytes.chunks_exact(size)) {
        let to = operand.start.wrapping_offset(place * size as isize);
        // SAFETY: an element of a view to which this task writes, and which nobody else reads.
        unsafe { std::ptr::copy_nonoverlapping(element.as_ptr(), to, size) };
    }
}
