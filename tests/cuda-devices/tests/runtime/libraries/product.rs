//! The product of two matrices, on the CPU, by cuBLAS, and by a kernel.

use dahl_core::__private::{
    CudaArgument, CudaArrayMut, CudaCall, CudaCallError, CudaElement, CudaImage, CudaKernel, CudaLen,
    CudaLibrary, CudaPass, CudaStep, CudaView, Kernel, Parameter, Views,
};
use dahl_core::ndarray::{ArrayView2, Ix2};
use dahl_core::{
    AccessMode, Codelet, Element, ElementType, Matrix, Real, Result, Runtime, RuntimeBuilder, Task,
};

use crate::runtime::bed::{builder, cuda};

fn oriented<T>(matrix: ArrayView2<'_, T>, transpose: bool) -> ArrayView2<'_, T> {
    if transpose { matrix.reversed_axes() } else { matrix }
}

/// `out = a x b`, each factor transposed first if its flag is set; added to the old `out` if `keep`.
pub(super) fn on_cpu<T: Real, O: Real>(views: &mut Views<'_>) {
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

pub(super) fn by_cublas<T: Real, O: Element>(
    call: &mut CudaCall<'_>,
) -> std::result::Result<(), CudaCallError> {
    let (a, b) = (call.array::<T, 2>(), call.array::<T, 2>());
    let mut out: CudaArrayMut<'_, O, 2> = call.array_mut();
    let [transpose_a, transpose_b, keep] = [(); 3].map(|()| call.argument::<bool>());
    let a = if transpose_a { a.reversed_axes() } else { a };
    let b = if transpose_b { b.reversed_axes() } else { b };
    call.gemm(1.0, a, b, f64::from(u8::from(keep)), &mut out)
}

pub(super) const fn parameters<T: Element, O: Element>() -> [Parameter; 3] {
    [
        Parameter::new("a", AccessMode::R, ElementType::of::<T>()),
        Parameter::new("b", AccessMode::R, ElementType::of::<T>()),
        Parameter::new("out", AccessMode::RW, ElementType::of::<O>()),
    ]
}

pub(super) const ARGUMENTS: &[&str] = &["transpose_a", "transpose_b", "keep"];

/// The product of any types, for which cuBLAS is the only kernel on a device.
pub(super) fn product<T: Real, O: Real>() -> &'static Codelet {
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
const BOOL: CudaArgument = CudaArgument { element: CudaElement::Fixed("bool"), len: CudaLen::One };
const ONE: &[CudaStep] = &[CudaStep::Number(1)];

static KERNEL: CudaKernel = CudaKernel::new("product", "product.cu", &IMAGE)
    .takes(&[VIEW, VIEW, CudaView { is_const: false, ..VIEW }], &[BOOL; 3])
    .passes(&[CudaPass {
        function: "product",
        grid: [ONE, ONE, ONE],
        block: [32, 1, 1],
        shared_bytes: &[CudaStep::Number(0)],
    }]);

/// The same for `f32`, with a CUDA kernel as well.
pub(super) static PRODUCT: Codelet = Codelet::new("product_with_kernel", module_path!(), 21)
    .parameters(&parameters::<f32, f32>())
    .arguments(ARGUMENTS)
    .kernels(&[Some(Kernel::new("rust", on_cpu::<f32, f32>))])
    .cuda(KERNEL.instance(&[]))
    .cuda_calls(&[Kernel::call("by_cublas", Some(CudaLibrary::Cublas), by_cublas::<f32, f32>)]);

pub(super) struct Factors<'m, T: Element, O: Element> {
    pub(super) a: Matrix<'m, T>,
    pub(super) b: Matrix<'m, T>,
    pub(super) out: Matrix<'m, O>,
}

/// Small whole numbers, whose sums of products are exact in every type.
pub(super) fn number(i: usize) -> f64 {
    [1.0, -2.0, 3.0, 0.0, -1.0, 2.0, 0.0][i * i % 7]
}

pub(super) fn numbers<T: Real>(
    rt: &Runtime,
    [rows, cols]: [usize; 2],
    first: usize,
) -> Result<Matrix<'static, T>> {
    rt.from_vec([rows, cols], (first..first + rows * cols).map(|i| T::from_f64(number(i))).collect())
}

impl<T: Real, O: Real> Factors<'static, T, O> {
    pub(super) fn new(rt: &Runtime, [rows, inner, cols]: [usize; 3], transposed: [bool; 2]) -> Result<Self> {
        let turned = |[rows, cols]: [usize; 2], turn| if turn { [cols, rows] } else { [rows, cols] };
        let a = numbers(rt, turned([rows, inner], transposed[0]), 0)?;
        let b = numbers(rt, turned([inner, cols], transposed[1]), 5)?;
        Ok(Self { a, b, out: numbers(rt, [rows, cols], 2)? })
    }
}

#[track_caller]
pub(super) fn task<'t, T: Real, O: Real>(
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

/// Whether there is no cuBLAS, on a machine whose own driver is used. With the fake driver there is one.
pub(super) fn is_absent(rt: &Runtime) -> bool {
    let mut factors = Factors::<f32, f32>::new(rt, [1, 1, 1], [false; 2]).expect("it can be had");
    let refused = task(&PRODUCT, &mut factors, [false; 2], false).kernel("by_cublas").submit().err();
    if let Some(refused) = &refused {
        assert_eq!(std::env::var("FAKE_CUDA").as_deref(), Ok("0"), "{refused}");
        eprintln!("not tested: {refused}");
    }
    refused.is_some()
}

/// Runs `count` products on the device, one after the other, and checks the results.
pub(super) fn run(rt: &Runtime, count: usize) -> Result<()> {
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
pub(super) fn measured(rt: &Runtime) -> Vec<String> {
    let models = rt.performance_models();
    let on_device = models.iter().filter(|row| row.worker_kind != "cpu");
    let mut kernels: Vec<_> = on_device.map(|row| row.kernel.to_string()).collect();
    kernels.sort();
    kernels
}

pub(super) fn with(kernels: &str) -> RuntimeBuilder {
    builder().kernels(kernels)
}
