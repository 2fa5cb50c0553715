//! Kernels that NVRTC compiles at first use, entry point by entry point, and kernels that it refuses.

use dahl_core::__private::{
    CudaElement, CudaImage, CudaKernel, CudaPass, CudaProgram, CudaStep, CudaTexts, CudaView, Kernel,
    Parameter,
};
use dahl_core::{AccessMode, Codelet, ElementType, Task};

use crate::runtime::bed::{Bed, M, builder, cuda, in_seeds};

const I64: ElementType = ElementType::of::<i64>();

/// A file with two kernels, as `dahl-build` writes it.
const ENTRIES: &str = "#include \"dahl.cuh\"
#include \"compiled.cuh\"
using namespace dahl;
namespace dahl_entries {
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_double_all)
extern \"C\" __global__ void double_all(View<int64_t, ANY> out) { twice(out); }
#endif
#if !defined(DAHL_ONE_ENTRY) || defined(DAHL_ENTRY_broken_all)
extern \"C\" __global__ void broken_all(View<int64_t, ANY> out) { no_such_function(out); }
#endif
} // namespace dahl_entries
";

const HEADER: &str = "#pragma once
DAHL_DEVICE void twice(const dahl::View<int64_t, dahl::ANY> &out) {
    for (size_t i = dahl::first_index(); i < out.len(); i += dahl::grid_threads()) out.element(i) *= 2;
}
";

static TEXTS: CudaTexts = CudaTexts::plain(&[("compiled.cuh", HEADER), ("compiled_entries.cu", ENTRIES)]);
static IMAGE: CudaImage =
    CudaImage::Program(CudaProgram::new(&TEXTS, &["compiled_entries.cu", "compiled.cuh"]));

const ONE: &[CudaStep] = &[CudaStep::Number(1)];

macro_rules! codelet {
    ($codelet:ident, $kernel:ident, $function:literal, $line:literal, $rust:expr) => {
        static $kernel: CudaKernel = CudaKernel::new($function, "compiled.cu", &IMAGE)
            .takes(&[CudaView { is_const: false, element: CudaElement::Fixed("i64"), rank: None }], &[])
            .passes(&[CudaPass {
                function: $function,
                grid: [ONE, ONE, ONE],
                block: [32, 1, 1],
                shared_bytes: &[CudaStep::Number(0)],
            }]);
        static $codelet: Codelet = Codelet::new($function, module_path!(), $line)
            .parameters(&[Parameter::new("out", AccessMode::RW, I64)])
            .kernels(&[$rust])
            .cuda($kernel.instance(&[]));
    };
}

const TWICE: Option<Kernel> =
    Some(Kernel::new("rust", |views| views.slice_mut::<i64>().iter_mut().for_each(|x| *x *= 2)));

codelet!(DOUBLE, DOUBLE_IN_CUDA, "double_all", 1, TWICE);
codelet!(BROKEN, BROKEN_IN_CUDA, "broken_all", 2, TWICE);

fn submit(codelet: &'static Codelet, out: &mut M<'_>, worker: Option<usize>) -> dahl_core::Result<()> {
    let mut task = Task::new(codelet);
    task.write(out);
    match worker {
        Some(worker) => task.on(worker).submit(),
        None => task.submit(),
    }
}

#[test]
fn one_entry_point_is_compiled_though_another_is_broken() {
    in_seeds(1, || {
        let rt = builder().build().expect("it can be had");
        let mut x = rt.from_vec([1, 4], vec![1, 2, 3, 4]).expect("it can be had");
        submit(&DOUBLE, &mut x, Some(cuda(0))).expect("it is right");
        assert_eq!(x.to_vec().expect("nothing failed"), [2, 4, 6, 8]);
    });
}

#[test]
fn a_task_that_only_the_device_may_run_fails_with_the_compilers_messages() {
    let Some(bed) = Bed::new("") else { return };
    let rt = builder().build().expect("it can be had");
    let mut x = rt.from_vec([1, 4], vec![1; 4]).expect("it can be had");
    let mut y = rt.from_vec([1, 4], vec![1; 4]).expect("it can be had");
    submit(&BROKEN, &mut x, Some(cuda(0))).expect("nobody knows yet");
    let error = x.to_vec().expect_err("it was not compiled").to_string();
    assert!(error.contains("compiled.cu") && error.contains("no_such_function"), "{error}");
    // From now on the error is known.
    let refused = submit(&BROKEN, &mut y, Some(cuda(0))).expect_err("it is known").to_string();
    assert!(refused.contains("cannot run it"), "{refused}");
    submit(&BROKEN, &mut y, None).expect("the CPU can run it");
    // The other kernel of the file is not affected.
    submit(&DOUBLE, &mut y, Some(cuda(0))).expect("it is right");
    assert_eq!(y.to_vec().expect("nothing failed"), [4; 4]);
    while rt.wait().is_err() {}
    drop((x, y, rt));
    assert_eq!(bed.findings(), "");
}

#[test]
fn the_cpu_runs_what_is_not_compiled() {
    let Some(bed) = Bed::new("") else { return };
    let rt = builder().build().expect("it can be had");
    let mut arrays: Vec<_> =
        (0..200).map(|i| rt.from_vec([1, 4], vec![i; 4]).expect("it can be had")).collect();
    for x in &mut arrays {
        submit(&BROKEN, x, None).expect("somebody can run it");
    }
    for (i, x) in (0..).zip(&arrays) {
        assert_eq!(x.to_vec().expect("the CPU runs it"), [2 * i; 4]);
    }
    rt.wait().expect("nothing failed");
    drop((arrays, rt));
    assert_eq!(bed.findings(), "");
}
