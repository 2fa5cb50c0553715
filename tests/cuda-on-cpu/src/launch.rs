//! Launches a kernel on a task's views, in several orders of its threads.

use std::ffi::{CStr, c_void};

use dahl::cuda::CudaInstance;
use dahl::testing::{RawOperand, Views};

use crate::parameters::Parameters;
use crate::{dahl_on_cpu_failure, dahl_on_cpu_set_schedule};

/// An entry point: the blocks, the threads of a block, its dynamic shared memory, and a pointer to each parameter.
pub(crate) type Entry = unsafe extern "C" fn(*const u32, *const u32, usize, *mut *mut c_void);

/// Threads forwards, backwards, and in an order drawn from the seed 2.
const SCHEDULES: [u64; 3] = [0, 1, 2];

/// The initial content of scratch memory: NaN in every type.
const UNKNOWN: u64 = u64::MAX;

/// Runs the kernel on the views that are left.
///
/// # Panics
/// With the error of the kernel: the task fails.
pub(crate) fn run(instance: &CudaInstance, entries: &[(&str, Entry)], views: &mut Views<'_>) {
    let (operands, arguments) = views.take_raw_operands();
    let before: Vec<Vec<u8>> = operands.iter().map(content).collect();
    let mut first: Option<Vec<Vec<u8>>> = None;
    for schedule in SCHEDULES {
        for (operand, bytes) in operands.iter().zip(&before).filter(|(operand, _)| operand.writes) {
            restore(operand, bytes);
        }
        // SAFETY: the function only sets a number of this thread's.
        unsafe { dahl_on_cpu_set_schedule(schedule) };
        launch(instance, entries, &operands, arguments);
        let after: Vec<Vec<u8>> = operands.iter().map(content).collect();
        match &first {
            None => first = Some(after),
            Some(first) => {
                let differs = first.iter().zip(&after).position(|(first, after)| first != after);
                if let Some(array) = differs {
                    panic!(
                        "{}: array {array} has other bits when the threads run in another order (schedule {schedule})",
                        instance.kernel.name
                    );
                }
            }
        }
    }
}

fn launch(instance: &CudaInstance, entries: &[(&str, Entry)], operands: &[RawOperand], arguments: &[u8]) {
    let shapes: Vec<&[usize]> = operands.iter().map(|operand| &*operand.extents).collect();
    let plan = instance.launches(&shapes, arguments).unwrap_or_else(|fact| panic!("{fact}"));
    let mut parameters = Parameters::new(instance, operands, arguments);
    let mut scratch = vec![UNKNOWN; plan.scratch_bytes.div_ceil(8) as usize];
    let mut failure = u64::MAX;
    if instance.kernel.takes_scratch {
        let failure = instance.kernel.takes_task.then_some(&raw mut failure);
        parameters.push_scratch(scratch.as_mut_ptr(), failure);
    }
    let mut pointers = parameters.pointers();
    for launch in plan.launches.iter().filter(|launch| !launch.grid.contains(&0)) {
        let entry = entries.iter().find(|(name, _)| *name == launch.entry);
        let (_, entry) = entry.unwrap_or_else(|| panic!("there is no entry point {}", launch.entry));
        let (grid, block) = (launch.grid.as_ptr(), launch.block.as_ptr());
        // SAFETY:
        // - the parameters are those in the table, which `dahl-build` read from the kernel, in their layout.
        // - the views span memory that is the task's, exclusively where the kernel writes; scratch memory and failure
        //   are this function's. The kernel stays within the views' extents: they are checked.
        unsafe { entry(grid, block, launch.shared_bytes as usize, pointers.as_mut_ptr()) };
        // SAFETY: the function only returns a pointer.
        let what = unsafe { dahl_on_cpu_failure() };
        // SAFETY: it is a string that stays until the next launch of this thread.
        let what = unsafe { CStr::from_ptr(what) }.to_string_lossy();
        assert!(what.is_empty(), "{what}");
    }
    assert!(failure == u64::MAX, "{}: the index or label at {failure} is out of range", instance.kernel.name);
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

/// Writes `bytes` back.
fn restore(operand: &RawOperand, bytes: &[u8]) {
    let size = size_bytes(operand);
    for (place, element) in places(operand).zip(bytes.chunks_exact(size)) {
        let to = operand.start.wrapping_offset(place * size as isize);
        // SAFETY: an element of a view to which this task writes, and which nobody else reads.
        unsafe { std::ptr::copy_nonoverlapping(element.as_ptr(), to, size) };
    }
}
