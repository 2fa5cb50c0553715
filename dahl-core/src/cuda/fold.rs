//! The kernels of a reduction's own tasks: one combines partial results, one puts the last of them into the array.

use dahl_cuda::{CudaImage, CudaProgram, CudaTexts};
use half::{bf16, f16};

use super::element::{CudaArgument, CudaElement, CudaLen, CudaTypeParameter, CudaView};
use super::kernel::{CudaInstance, CudaKernel, CudaPass};
use super::step::CudaStep;
use crate::access::Reduction;
use crate::element::ElementType;

static TEXTS: CudaTexts = CudaTexts::plain(&[("fold.cu", include_str!("fold.cu"))]);
static IMAGE: CudaImage = CudaImage::Program(CudaProgram::new(&TEXTS, &["fold.cu"]));

/// An array's element type, and that of its private buffers.
static TYPES: [[ElementType; 2]; 7] = [
    [ElementType::of::<f32>(); 2],
    [ElementType::of::<f64>(); 2],
    [ElementType::of::<u32>(); 2],
    [ElementType::of::<i32>(); 2],
    [ElementType::of::<i64>(); 2],
    [ElementType::of::<f16>(), ElementType::of::<f32>()],
    [ElementType::of::<bf16>(), ElementType::of::<f32>()],
];

const BUFFERS: CudaTypeParameter =
    CudaTypeParameter { name: "A", types: &["f32", "f64", "u32", "i32", "i64"] };
const ARRAYS: CudaTypeParameter =
    CudaTypeParameter { name: "T", types: &["f32", "f64", "u32", "i32", "i64", "f16", "bf16"] };

const fn view(is_const: bool, parameter: usize) -> CudaView {
    CudaView { is_const, element: CudaElement::Parameter(parameter), rank: None }
}

/// The two kernels of a reduction.
struct Kernels {
    fold: CudaKernel,
    finish: CudaKernel,
}

const ONE: &[CudaStep] = &[CudaStep::Number(1)];
const BLOCKS: &[CudaStep] = &[CudaStep::Len(0), CudaStep::Number(256), CudaStep::Blocks];
const NO_BYTES: &[CudaStep] = &[CudaStep::Number(0)];

/// A launch for the elements of the first array.
const fn pass(function: &'static str) -> CudaPass {
    CudaPass { function, grid: [BLOCKS, ONE, ONE], block: [256, 1, 1], shared_bytes: NO_BYTES }
}

macro_rules! kernels {
    ($fold:literal, $finish:literal) => {
        Kernels {
            fold: CudaKernel::new($fold, "fold.cu", &IMAGE)
                .types(&[BUFFERS])
                .takes(&[view(false, 0), view(true, 0)], &[])
                .passes(&[pass($fold)]),
            finish: CudaKernel::new($finish, "fold.cu", &IMAGE)
                .types(&[ARRAYS, BUFFERS])
                .takes(
                    &[view(false, 0), view(true, 1)],
                    &[CudaArgument { element: CudaElement::Fixed("bool"), len: CudaLen::One }],
                )
                .passes(&[pass($finish)]),
        }
    };
}

static SUM: Kernels = kernels!("fold_sum", "finish_sum");
static MAX: Kernels = kernels!("fold_max", "finish_max");
static MIN: Kernels = kernels!("fold_min", "finish_min");

fn of(reduction: Reduction) -> Option<&'static Kernels> {
    match reduction {
        Reduction::Sum => Some(&SUM),
        Reduction::Max => Some(&MAX),
        Reduction::Min => Some(&MIN),
        Reduction::Custom => None,
    }
}

/// The kernel that combines a partial result into an earlier one, of these elements: `fold(earlier, later)`.
pub(crate) fn fold(reduction: Reduction, element: ElementType) -> Option<CudaInstance> {
    let types = TYPES.iter().find(|[_, buffer]| *buffer == element)?;
    of(reduction)?.fold.instance(&types[1..])
}

/// The kernel that puts the result into the array: `finish(target, total, keep_old)`.
pub(crate) fn finish(reduction: Reduction, target: ElementType, total: ElementType) -> Option<CudaInstance> {
    let types = TYPES.iter().find(|types| **types == [target, total])?;
    of(reduction)?.finish.instance(types)
}
