//! The kernels of the programs in CUDA, as `dahl-build` would write them.

use dahl_core::__private::{
    CudaArgument, CudaElement, CudaImage, CudaKernel, CudaLen, CudaPass, CudaStep, CudaView,
};

static IMAGE: CudaImage = CudaImage::Source(include_str!("kernels.cu"));

const ONE: &[CudaStep] = &[CudaStep::Number(1)];
const NO_BYTES: &[CudaStep] = &[CudaStep::Number(0)];

const fn view(is_const: bool, element: &'static str, rank: Option<usize>) -> CudaView {
    CudaView { is_const, element: CudaElement::Fixed(element), rank }
}

const fn argument(element: &'static str) -> CudaArgument {
    CudaArgument { element: CudaElement::Fixed(element), len: CudaLen::One }
}

const fn pass(function: &'static str, blocks: &'static [CudaStep]) -> CudaPass {
    CudaPass { function, grid: [blocks, ONE, ONE], block: [32, 1, 1], shared_bytes: NO_BYTES }
}

/// A kernel whose loop strides over all elements of its view number `$last`.
macro_rules! kernel {
    ($constant:ident, $function:literal, [$($view:expr),*], $last:literal, [$($argument:expr),*]) => {
        pub(crate) static $constant: CudaKernel = CudaKernel::new($function, "kernels.cu", &IMAGE)
            .takes(&[$($view),*], &[$($argument),*])
            .passes(&[pass($function, &[CudaStep::Len($last), CudaStep::Number(32), CudaStep::Blocks])]);
    };
}

const READ: CudaView = view(true, "i64", None);
const WRITTEN: CudaView = view(false, "i64", None);
const TOTAL: CudaView = view(false, "f32", None);

kernel!(
    MIX,
    "random_mix",
    [view(true, "i64", Some(2)), view(true, "i64", Some(2)), view(false, "i64", Some(2))],
    2,
    []
);
kernel!(MAP, "random_map", [READ, READ, WRITTEN], 2, []);
kernel!(ADD, "random_add", [READ, WRITTEN], 1, []);
kernel!(FILL, "random_fill", [view(false, "i64", Some(2))], 0, [argument("i64")]);
kernel!(FILL_TOTAL, "random_fill_total", [TOTAL], 0, [argument("f32")]);
kernel!(SUM, "random_sum", [READ, TOTAL], 1, [argument("f32")]);
kernel!(MAX, "random_max", [READ, TOTAL], 1, [argument("f32")]);
kernel!(MIN, "random_min", [READ, TOTAL], 1, [argument("f32")]);

/// A kernel that reports its own failure.
pub(crate) static SCALE: CudaKernel = CudaKernel::new("random_scale", "kernels.cu", &IMAGE)
    .takes(&[WRITTEN], &[argument("i64")])
    .task(NO_BYTES)
    .passes(&[pass("random_scale", &[CudaStep::Len(0), CudaStep::Number(32), CudaStep::Blocks])]);
