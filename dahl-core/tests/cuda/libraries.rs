//! Kernels that call a library: what cuBLAS is told, when its work runs, and what is done without it.

use std::process::Command;

use dahl_core::__private::{
    CudaArgument, CudaArrayMut, CudaCall, CudaCallError, CudaElement, CudaImage, CudaKernel, CudaLibrary,
    CudaPass, CudaStep, CudaView, Kernel, Parameter, Views,
};
use dahl_core::ndarray::{ArrayView2, Ix2};
use dahl_core::{
    AccessMode, Codelet, Element, ElementType, Matrix, Real, Result, Ruling, Runtime, RuntimeBuilder, Task,
    bf16, f16,
};

use crate::bed::{Bed, builder, cuda, in_seeds};

fn oriented<T>(matrix: ArrayView2<'_, T>, transpose: bool) -> ArrayView2<'_, T> {
    if transpose { matrix.reversed_axes() } else { matrix }
}

/// `out = a x b`, each factor transposed first if its flag is set; added to what is there if `keep`.
fn on_cpu<T: Real, O: Real>(views: &mut Views<'_>) {
    let (a, b, mut out) = (views.view::<T, Ix2>(), views.view::<T, Ix2>(), views.view_mut::<O, Ix2>());
    let [transpose_a, transpose_b, keep] = [(); 3].map(|()| views.argument::<bool>());
    let (a, b) = (oriented(a, transpose_a), oriented(b, transpose_b));
    for ((row, col), out) in out.indexed_iter_mut() {
        let products = (0..a.ncols()).map(|i| a[(row, i)].widen() * b[(i, col)].widen());
        let sum: T::Compute = products.sum();
        let sum: f64 = sum.to_string().parse().expect("a number");
        let before: f64 = if keep { out.to_string().parse().expect("a number") } else { 0.0 };
        *out = O::from_f64(before + sum);
    }
}

fn by_cublas<T: Real, O: Element>(call: &mut CudaCall<'_>) -> std::result::Result<(), CudaCallError> {
    let (a, b) = (call.array::<T, 2>(), call.array::<T, 2>());
    let mut out: CudaArrayMut<'_, O, 2> = call.array_mut();
    let [transpose_a, transpose_b, keep] = [(); 3].map(|()| call.argument::<bool>());
    let a = if transpose_a { a.reversed_axes() } else { a };
    let b = if transpose_b { b.reversed_axes() } else { b };
    call.gemm(1.0, a, b, f64::from(u8::from(keep)), &mut out)
}

const fn parameters<T: Element, O: Element>() -> [Parameter; 3] {
    [
        Parameter::new("a", AccessMode::R, ElementType::of::<T>()),
        Parameter::new("b", AccessMode::R, ElementType::of::<T>()),
        Parameter::new("out", AccessMode::RW, ElementType::of::<O>()),
    ]
}

const ARGUMENTS: &[&str] = &["transpose_a", "transpose_b", "keep"];

/// The product of any types, which on a device cuBLAS alone has.
fn product<T: Real, O: Real>() -> &'static Codelet {
    const {
        &Codelet::new("product", module_path!(), 20)
            .parameters(const { &parameters::<T, O>() })
            .arguments(ARGUMENTS)
            .kernels(const { &[Some(Kernel::new("rust", on_cpu::<T, O>))] })
            .cuda_calls(const { &[Kernel::call("by_cublas", Some(CudaLibrary::Cublas), by_cublas::<T, O>)] })
    }
}

static IMAGE: CudaImage = CudaImage::Source(include_str!("product.cu"));
const VIEW: CudaView = CudaView { is_const: true, element: CudaElement::Fixed("f32"), rank: Some(2) };
const BOOL: CudaArgument = CudaArgument { element: CudaElement::Fixed("bool"), len: None };
const ONE: &[CudaStep] = &[CudaStep::Number(1)];

static KERNEL: CudaKernel = CudaKernel::new("product", "product.cu", &IMAGE)
    .takes(&[VIEW, VIEW, CudaView { is_const: false, ..VIEW }], &[BOOL; 3])
    .passes(&[CudaPass {
        function: "product",
        grid: [ONE, ONE, ONE],
        block: [32, 1, 1],
        shared_bytes: &[CudaStep::Number(0)],
    }]);

/// The same of `f32`, with a kernel of its own besides.
static PRODUCT: Codelet = Codelet::new("product_with_kernel", module_path!(), 21)
    .parameters(&parameters::<f32, f32>())
    .arguments(ARGUMENTS)
    .kernels(&[Some(Kernel::new("rust", on_cpu::<f32, f32>))])
    .cuda(KERNEL.instance(&[]))
    .cuda_calls(&[Kernel::call("by_cublas", Some(CudaLibrary::Cublas), by_cublas::<f32, f32>)]);

struct Factors<'m, T: Element, O: Element> {
    a: Matrix<'m, T>,
    b: Matrix<'m, T>,
    out: Matrix<'m, O>,
}

/// Small whole numbers, whose sums of products are exact in every type.
fn number(i: usize) -> f64 {
    [1.0, -2.0, 3.0, 0.0, -1.0, 2.0, 0.0][i * i % 7]
}

fn numbers<T: Real>(rt: &Runtime, [rows, cols]: [usize; 2], first: usize) -> Result<Matrix<'static, T>> {
    rt.from_vec([rows, cols], (first..first + rows * cols).map(|i| T::from_f64(number(i))).collect())
}

impl<T: Real, O: Real> Factors<'static, T, O> {
    fn new(rt: &Runtime, [rows, inner, cols]: [usize; 3], transposed: [bool; 2]) -> Result<Self> {
        let turned = |[rows, cols]: [usize; 2], turn| if turn { [cols, rows] } else { [rows, cols] };
        let a = numbers(rt, turned([rows, inner], transposed[0]), 0)?;
        let b = numbers(rt, turned([inner, cols], transposed[1]), 5)?;
        Ok(Self { a, b, out: numbers(rt, [rows, cols], 2)? })
    }
}

#[track_caller]
fn task<'t, T: Real, O: Real>(
    codelet: &'static Codelet,
    of: &'t mut Factors<'_, T, O>,
    transposed: [bool; 2],
    keep: bool,
) -> Task<'t> {
    let mut task = Task::new(codelet);
    task.read(&of.a);
    task.read(&of.b);
    task.write(&mut of.out);
    transposed.into_iter().chain([keep]).for_each(|flag| task.argument(flag));
    task
}

/// Whether the machine has no cuBLAS, where its own driver is used. With the stand-in there is one.
fn is_absent(rt: &Runtime) -> bool {
    let mut factors = Factors::<f32, f32>::new(rt, [1, 1, 1], [false; 2]).expect("it can be had");
    let refused = task(&PRODUCT, &mut factors, [false; 2], false).kernel("by_cublas").submit().err();
    if let Some(refused) = &refused {
        assert_eq!(std::env::var("CUDA_STAND_IN").as_deref(), Ok("0"), "{refused}");
        eprintln!("not tested: {refused}");
    }
    refused.is_some()
}

const FORMS: [[bool; 2]; 4] = [[false, false], [false, true], [true, false], [true, true]];
const SHAPES: [[usize; 3]; 4] = [[3, 4, 5], [1, 6, 2], [5, 1, 1], [1, 1, 7]];

/// Every form on the device and on the CPU.
fn compare<T: Real, O: Real>(rt: &Runtime) -> Result<()> {
    for (shape, transposed, keep) in SHAPES
        .into_iter()
        .flat_map(|shape| FORMS.map(|form| (shape, form)))
        .flat_map(|(shape, form)| [(shape, form, false), (shape, form, true)])
    {
        let [mut expected, mut found] =
            [Factors::<T, O>::new(rt, shape, transposed)?, Factors::new(rt, shape, transposed)?];
        task(product::<T, O>(), &mut expected, transposed, keep).on(0).submit()?;
        task(product::<T, O>(), &mut found, transposed, keep).on(cuda(0)).submit()?;
        assert_eq!(
            found.out.to_vec()?,
            expected.out.to_vec()?,
            "{} {shape:?} {transposed:?} {keep}",
            T::NAME
        );
    }
    Ok(())
}

#[test]
fn every_form_and_type() {
    in_seeds(1, || {
        let rt = builder().build().expect("it can be had");
        if is_absent(&rt) {
            return;
        }
        compare::<f32, f32>(&rt).expect("nothing failed");
        compare::<f64, f64>(&rt).expect("nothing failed");
        compare::<f16, f16>(&rt).expect("nothing failed");
        compare::<bf16, bf16>(&rt).expect("nothing failed");
        compare::<f16, f32>(&rt).expect("nothing failed");
        compare::<bf16, f32>(&rt).expect("nothing failed");
    });
}

#[test]
fn cublas_is_told_types_modes_and_the_transpose() {
    let Some(bed) = Bed::new("") else { return };
    let rt = builder().build().expect("it can be had");
    let shape = [3, 4, 5];
    let mut single = Factors::<f32, f32>::new(&rt, shape, [false, true]).expect("it can be had");
    let mut half = Factors::<bf16, f32>::new(&rt, shape, [true, false]).expect("it can be had");
    let mut double = Factors::<f64, f64>::new(&rt, shape, [false, false]).expect("it can be had");
    task(product::<f32, f32>(), &mut single, [false, true], false).on(cuda(0)).submit().expect("it is right");
    task(product::<bf16, f32>(), &mut half, [true, false], true).on(cuda(0)).submit().expect("it is right");
    task(product::<f64, f64>(), &mut double, [false, false], false)
        .on(cuda(0))
        .submit()
        .expect("it is right");
    rt.wait().expect("nothing failed");
    // 68 is f32 without TF32, 70 is f64; mode 16: no reductions in less than the compute type; no atomics.
    let told = "workspace given, math 16, atomics 0";
    assert_eq!(
        bed.products(),
        format!(
            "TN 5x3x4, leading 4 4 5, f32 to f32 in 68, beta 0, {told}\n\
             NT 5x3x4, leading 5 3 5, bf16 to f32 in 68, beta 1, {told}\n\
             NN 5x3x4, leading 5 4 5, f64 to f64 in 70, beta 0, {told}\n"
        )
    );
}

#[test]
fn tf32_is_for_who_asks_for_it() {
    let Some(bed) = Bed::new("") else { return };
    // 2^-12 below 1 has no place among 10 bits of fraction.
    let fine = 1.0 - 1.0 / 4096.0;
    for (allowed, expected, compute) in [(false, fine, 68), (true, 1.0 - 1.0 / 2048.0, 77)] {
        let rt = builder().cuda_tf32(allowed).build().expect("it can be had");
        let a = rt.from_vec([1, 1], vec![fine]).expect("it can be had");
        let b = rt.from_vec([1, 1], vec![1.0]).expect("it can be had");
        let mut of = Factors::<f32, f32> { a, b, out: rt.zeros([1, 1]).expect("it can be had") };
        task(product::<f32, f32>(), &mut of, [false; 2], false).on(cuda(0)).submit().expect("it is right");
        assert_eq!(of.out.to_vec().expect("nothing failed"), [expected]);
        let told = bed.products();
        assert!(told.contains(&format!("f32 to f32 in {compute}")), "{told}");
    }
}

#[test]
fn its_work_is_in_the_order_of_the_stream() {
    in_seeds(2, || {
        let rt = builder().build().expect("it can be had");
        if is_absent(&rt) {
            return;
        }
        let square = [4, 4, 4];
        let [mut expected, mut found] =
            [(); 2].map(|()| Factors::<f32, f32>::new(&rt, square, [false; 2]).expect("it can be had"));
        for (step, keep) in [false, true, true, false, true].into_iter().enumerate() {
            // From device to device, by cuBLAS and by the kernel, each on what the one before made.
            task(&PRODUCT, &mut expected, [false, true], keep).on(0).submit().expect("it is right");
            let name = ["by_cublas", "cuda"][usize::from(step == 2)];
            task(&PRODUCT, &mut found, [false, true], keep)
                .kernel(name)
                .on(cuda(step % 2))
                .submit()
                .expect("it is right");
            std::mem::swap(&mut expected.a, &mut expected.out);
            std::mem::swap(&mut found.a, &mut found.out);
        }
        assert_eq!(found.a.to_vec().expect("nothing failed"), expected.a.to_vec().expect("nothing failed"));
    });
}

#[test]
fn parts_of_a_matrix() {
    in_seeds(1, || {
        let rt = builder().build().expect("it can be had");
        if is_absent(&rt) {
            return;
        }
        let wide = numbers::<f32>(&rt, [4, 6], 0).expect("it can be had");
        let parts = wide.partition(dahl_core::ndarray::Axis(1), 3).expect("it can be cut");
        let mut out = rt.zeros::<f32, 2>([3, 3]).expect("it can be had");
        let mut task = Task::new(&PRODUCT);
        task.read(&parts[0]);
        task.read(&parts[1]);
        task.write(&mut out);
        [true, false, false].into_iter().for_each(|flag| task.argument(flag));
        task.kernel("by_cublas").on(cuda(0)).submit().expect("it is right");
        let at = |row: usize, col: usize| number(6 * row + col);
        let sum = |row: usize, col: usize| (0..4).map(|i| at(i, row) * at(i, 3 + col)).sum::<f64>() as f32;
        let expected: Vec<f32> = (0..9).map(|i| sum(i / 3, i % 3)).collect();
        assert_eq!(out.to_vec().expect("nothing failed"), expected);
    });
}

/// Runs `count` products on the device, one after the other, whose results are right.
fn run(rt: &Runtime, count: usize) -> Result<()> {
    let mut expected = Factors::<f32, f32>::new(rt, [3, 4, 5], [false; 2])?;
    task(&PRODUCT, &mut expected, [false; 2], false).on(0).submit()?;
    let expected = expected.out.to_vec()?;
    for _ in 0..count {
        let mut found = Factors::<f32, f32>::new(rt, [3, 4, 5], [false; 2])?;
        task(&PRODUCT, &mut found, [false; 2], false).on(cuda(0)).submit()?;
        assert_eq!(found.out.to_vec()?, expected);
    }
    rt.wait()
}

/// The kernels of the product that were measured on the device.
fn measured(rt: &Runtime) -> Vec<String> {
    let models = rt.performance_models();
    let on_device = models.iter().filter(|row| row.worker_kind != "cpu");
    let mut kernels: Vec<_> = on_device.map(|row| row.kernel.to_string()).collect();
    kernels.sort();
    kernels
}

fn with(kernels: &str) -> RuntimeBuilder {
    builder().kernels(kernels)
}

#[test]
fn the_library_comes_first_where_bits_are_not_to_depend_on_measurements() {
    for policy in ["equal", "first"] {
        let Some(bed) = Bed::new("") else { return };
        let rt = with(policy).build().expect("it can be had");
        run(&rt, 20).expect("nothing failed");
        assert_eq!(bed.products().lines().count(), 20);
        assert_eq!(measured(&rt), ["by_cublas"]);
    }
}

#[test]
fn measurements_decide_between_the_library_and_the_kernel() {
    let Some(bed) = Bed::new("") else { return };
    let rt = with("measured").build().expect("it can be had");
    run(&rt, 30).expect("nothing failed");
    let choices = rt.kernel_choices();
    let row =
        choices.rows.iter().find(|row| row.worker_kind != "cpu").expect("there was something to choose");
    assert_eq!(row.ruling, Ruling::Measured);
    let tried: Vec<_> = row.trials.iter().map(|trial| (trial.kernel, trial.team)).collect();
    assert_eq!(tried, [("by_cublas", false), ("cuda", false)]);
    assert!(row.trials.iter().all(|trial| trial.first_us.is_some()), "{choices}");
    let kernel = row.kernel.expect("it is settled after thirty tasks");
    let best = row.trials.iter().min_by(|a, b| a.median_us.partial_cmp(&b.median_us).expect("numbers"));
    assert_eq!(kernel, best.expect("there are two").kernel, "{choices}");
    // Two to six to try each, and the rest as was chosen.
    let called = bed.products().lines().count();
    let expected = if kernel == "by_cublas" { 24..=28 } else { 2..=6 };
    assert!(expected.contains(&called), "{called} of 30: {choices}");
    assert_eq!(measured(&rt), ["by_cublas", "cuda"], "performance models see both");
}

#[test]
fn a_table_pins_the_kernel_of_a_device_and_that_of_the_cpu() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("kernels.toml");
    let rows = "version = 1\n[[kernel]]\ncodelet = \"product_with_kernel\"\nkernel = \"rust\"\n\
                [[kernel]]\ncodelet = \"product_with_kernel\"\nkernel = \"cuda\"\n";
    std::fs::write(&file, rows).expect("it can be written");
    let Some(bed) = Bed::new("") else { return };
    let rt = with(file.to_str().expect("a name")).build().expect("it can be had");
    run(&rt, 3).expect("nothing failed");
    assert_eq!(bed.products(), "");
    assert_eq!(rt.kernel_choices().warnings, Vec::<String>::new());
    assert_eq!(measured(&rt), ["cuda"]);
}

#[test]
fn a_submitter_names_a_kernel() {
    let Some(bed) = Bed::new("") else { return };
    let rt = with("measured").build().expect("it can be had");
    let mut factors = Factors::<f32, f32>::new(&rt, [2, 2, 2], [false; 2]).expect("it can be had");
    for (name, calls) in [("by_cublas", 1), ("cuda", 0), ("rust", 0)] {
        task(&PRODUCT, &mut factors, [false; 2], false).kernel(name).submit().expect("it is right");
        rt.wait().expect("nothing failed");
        assert_eq!(bed.products().lines().count(), calls, "{name}");
    }
    let unknown = task(&PRODUCT, &mut factors, [false; 2], false).kernel("other").submit();
    let unknown = unknown.expect_err("there is none").to_string();
    assert!(unknown.contains("rust, by_cublas, cuda"), "{unknown}");
}

#[test]
fn without_a_device_its_kernels_are_refused() {
    let Some(_bed) = Bed::new("devices=0") else { return };
    let rt = builder().build().expect("it can be had");
    let mut factors = Factors::<f32, f32>::new(&rt, [2, 2, 2], [false; 2]).expect("it can be had");
    let refused = task(&PRODUCT, &mut factors, [false; 2], false).kernel("by_cublas").submit();
    let refused = refused.expect_err("no worker has it").to_string();
    assert!(refused.contains("worker with the kernel `by_cublas`"), "{refused}");
    task(&PRODUCT, &mut factors, [false; 2], false).submit().expect("a CPU runs it");
    rt.wait().expect("nothing failed");
}

/// Set for the process in which there is no library.
const WITHOUT: &str = "TEST_WITHOUT_CUBLAS";

#[test]
fn without_the_library_the_kernel_runs() {
    if std::env::var_os(WITHOUT).is_none() {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", "libraries::without_the_library_the_kernel_runs"]);
        let output = command.env(WITHOUT, "1").env("DAHL_CUBLAS", "0").output().expect("it can be started");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let Some(bed) = Bed::new("") else { return };
    let rt = with("measured").build().expect("it can be had");
    run(&rt, 20).expect("nothing failed");
    assert_eq!(bed.products(), "");
    assert_eq!(measured(&rt), ["cuda"]);
    let mut factors = Factors::<f32, f32>::new(&rt, [2, 2, 2], [false; 2]).expect("it can be had");
    let refused = task(&PRODUCT, &mut factors, [false; 2], false).kernel("by_cublas").submit();
    assert!(refused.is_err(), "the library is not there");
    // What the library alone can do on a device is done by the CPU.
    let codelet = product::<f32, f32>();
    assert!(task(codelet, &mut factors, [false; 2], false).on(cuda(0)).submit().is_err());
    task(codelet, &mut factors, [false; 2], false).submit().expect("a CPU runs it");
    rt.wait().expect("nothing failed");
}

#[test]
fn a_library_that_does_not_want_the_device_is_left_out() {
    // Status 1: not initialised. The first call makes the handle.
    let Some(bed) = Bed::new("fail=library:1=1") else { return };
    let rt = with("measured").build().expect("it can be had");
    run(&rt, 5).expect("nothing failed");
    assert_eq!(bed.products(), "");
    // Nor is it asked again.
    let mut factors = Factors::<f32, f32>::new(&rt, [2, 2, 2], [false; 2]).expect("it can be had");
    assert!(task(&PRODUCT, &mut factors, [false; 2], false).kernel("by_cublas").submit().is_err());
}

#[test]
fn what_was_to_be_the_librarys_alone_goes_to_the_cpu() {
    let Some(_bed) = Bed::new("fail=library:1=1") else { return };
    let rt = builder().build().expect("it can be had");
    let mut found = Factors::<f64, f64>::new(&rt, [2, 3, 2], [false; 2]).expect("it can be had");
    let mut expected = Factors::<f64, f64>::new(&rt, [2, 3, 2], [false; 2]).expect("it can be had");
    let kind = rt.worker_infos()[cuda(0)].kind.clone();
    for _ in 0..8 {
        task(product::<f64, f64>(), &mut found, [false; 2], true).submit().expect("it is right");
        task(product::<f64, f64>(), &mut expected, [false; 2], true)
            .on_kind("cpu")
            .submit()
            .expect("it is right");
    }
    assert_eq!(found.out.to_vec().expect("nothing failed"), expected.out.to_vec().expect("nothing failed"));
    assert_ne!(&*kind, "cpu");
}

#[test]
fn what_the_library_does_not_support_the_kernel_does() {
    // Status 15: not supported.
    let Some(bed) = Bed::new("fail=library:2-3=15") else { return };
    let rt = builder().build().expect("it can be had");
    run(&rt, 4).expect("nothing failed");
    assert_eq!(bed.products().lines().count(), 2);
    assert_eq!(measured(&rt), ["by_cublas", "cuda"]);
}

#[test]
fn a_call_that_fails_fails_its_task_alone() {
    let Some(bed) = Bed::new("fail=library:3=13") else { return };
    let rt = builder().build().expect("it can be had");
    let [mut first, mut second, mut third] =
        [(); 3].map(|()| Factors::<f32, f32>::new(&rt, [2, 2, 2], [false; 2]).expect("it can be had"));
    for of in [&mut first, &mut second, &mut third] {
        task(&PRODUCT, of, [false; 2], false).on(cuda(0)).submit().expect("it is right");
    }
    let error = second.out.to_vec().expect_err("it failed").to_string();
    assert!(error.contains("cublasGemmEx: the function failed to launch on the GPU (13)"), "{error}");
    assert!(error.contains("by_cublas") && error.contains("product_with_kernel"), "{error}");
    assert_eq!(first.out.to_vec().expect("nothing failed"), third.out.to_vec().expect("nothing failed"));
    drop((first, second, third, rt));
    assert_eq!(bed.findings(), "");
}

#[test]
fn a_device_without_room_for_the_workspace_does_without_the_library() {
    let Some(bed) = Bed::new("") else { return };
    // Room for the arrays, and not for the least workspace.
    let rt = builder().cuda_limit_mb(0.03).build().expect("it can be had");
    run(&rt, 3).expect("nothing failed");
    assert_eq!(bed.products(), "");
}

/// What a library of one's own would be lent.
static LENT: Codelet = Codelet::new("lent", module_path!(), 22)
    .parameters(&parameters::<f32, f32>())
    .arguments(ARGUMENTS)
    .kernels(&[Some(Kernel::new("rust", on_cpu::<f32, f32>))])
    .cuda_calls(&[Kernel::call("of_its_own", None, |call| {
        let first = call.workspace(1000)?;
        let second = call.workspace(64)?;
        assert!(first != second && first % 256 == 0 && second % 256 == 0);
        assert_eq!(call.stream(), call.stream());
        by_cublas::<f32, f32>(call)
    })]);

#[test]
fn a_call_is_lent_memory_in_order_of_the_stream() {
    in_seeds(1, || {
        let rt = builder().build().expect("it can be had");
        if is_absent(&rt) {
            return;
        }
        let mut found = Factors::<f32, f32>::new(&rt, [2, 3, 2], [false; 2]).expect("it can be had");
        let mut expected = Factors::<f32, f32>::new(&rt, [2, 3, 2], [false; 2]).expect("it can be had");
        for _ in 0..3 {
            task(&LENT, &mut found, [false; 2], true).on(cuda(0)).submit().expect("it is right");
            task(&LENT, &mut expected, [false; 2], true).on(0).submit().expect("it is right");
        }
        assert_eq!(
            found.out.to_vec().expect("nothing failed"),
            expected.out.to_vec().expect("nothing failed")
        );
        drop((found, expected));
        let left: Vec<_> = rt.memory()[1].holders.iter().map(|holder| holder.what).collect();
        assert_eq!(left, ["workspace of cuBLAS"]);
    });
}

#[test]
fn a_call_that_panics_fails_its_task_alone() {
    static PANICS: Codelet = Codelet::new("panics", module_path!(), 23)
        .parameters(&parameters::<f32, f32>())
        .arguments(ARGUMENTS)
        .kernels(&[Some(Kernel::new("rust", on_cpu::<f32, f32>))])
        .cuda_calls(&[Kernel::call("panics", None, |_| panic!("not today"))]);
    let Some(bed) = Bed::new("") else { return };
    let rt = builder().build().expect("it can be had");
    let mut factors = Factors::<f32, f32>::new(&rt, [2, 2, 2], [false; 2]).expect("it can be had");
    task(&PANICS, &mut factors, [false; 2], true).on(cuda(0)).submit().expect("it is right");
    let error = factors.out.to_vec().expect_err("it failed").to_string();
    assert!(error.contains("not today"), "{error}");
    run(&rt, 1).expect("the worker goes on");
    drop((factors, rt));
    assert_eq!(bed.findings(), "");
}
