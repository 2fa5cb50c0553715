//! The launch configuration of a CUDA kernel for a task, computed from extents and arguments.

use dahl_core::cuda::{
    CudaArgument, CudaElement, CudaImage, CudaKernel, CudaLaunch, CudaLen, CudaPass, CudaStep,
    CudaTypeParameter, CudaView,
};
use dahl_core::{ElementType, bf16, f16};

const REALS: &[CudaTypeParameter] = &[CudaTypeParameter { name: "T", types: &["bf16", "f32"] }];
const INPUT: CudaView = CudaView { is_const: true, element: CudaElement::Parameter(0), rank: None };
const OUT: CudaView = CudaView { is_const: false, element: CudaElement::Compute(0), rank: Some(1) };
const ALPHA: CudaArgument = CudaArgument { element: CudaElement::Parameter(0), len: CudaLen::One };
const AXIS: CudaArgument = CudaArgument { element: CudaElement::Fixed("i32"), len: CudaLen::One };
const SIZE: CudaArgument = CudaArgument { element: CudaElement::Fixed("usize"), len: CudaLen::Items(2) };

const PARTS: CudaPass = CudaPass {
    function: "parts",
    grid: [
        &[CudaStep::Len(0), CudaStep::Number(256), CudaStep::Blocks],
        // input.extent(axis)
        &[CudaStep::Argument(1), CudaStep::Extent(0)],
        // ceil_div(size[1], 4)
        &[CudaStep::Number(1), CudaStep::Item(2), CudaStep::Number(4), CudaStep::CeilDiv],
    ],
    block: [256, 1, 1],
    shared_bytes: &[CudaStep::SizeOf(CudaElement::Parameter(0)), CudaStep::Number(32), CudaStep::Multiply],
};
const LAST: CudaPass = CudaPass {
    function: "sum",
    // max(1, len - rank)
    grid: [
        &[CudaStep::Number(1), CudaStep::Len(1), CudaStep::Rank(0), CudaStep::Subtract, CudaStep::Max],
        &[CudaStep::Number(1)],
        &[CudaStep::Number(1)],
    ],
    block: [32, 8, 1],
    shared_bytes: &[CudaStep::Number(0)],
};
static KERNEL: CudaKernel =
    CudaKernel::new("sum", "kernels/sum.cu:3", &CudaImage::Missing("no device code is needed"))
        .types(REALS)
        .takes(&[INPUT, OUT], &[ALPHA, AXIS, SIZE])
        .task(&[CudaStep::SizeOf(CudaElement::Compute(0)), CudaStep::Len(0), CudaStep::Multiply])
        .passes(&[PARTS, LAST]);

static OF_BF16: [ElementType; 1] = [ElementType::of::<bf16>()];
static OF_F64: [ElementType; 1] = [ElementType::of::<f64>()];

/// The encodings of `alpha: bf16`, `axis: i32`, `size: [usize; 2]`.
fn arguments(axis: i32, size: [usize; 2]) -> Vec<u8> {
    let size = size.map(usize::to_ne_bytes);
    [&[0x80, 0x3f][..], &axis.to_ne_bytes(), &size[0], &size[1]].concat()
}

#[test]
fn a_compute_type_is_that_of_its_type() {
    const OF: &[CudaTypeParameter] = &[
        CudaTypeParameter { name: "T", types: &["f16", "f64"] },
        CudaTypeParameter { name: "L", types: &["f32", "f64"] },
    ];
    static KERNEL: CudaKernel = CudaKernel::new("a", "kernels/a.cu:1", &CudaImage::Missing("none is needed"))
        .types(OF)
        .compute_types(&[(1, 0)]);
    const F16: ElementType = ElementType::of::<f16>();
    const F32: ElementType = ElementType::of::<f32>();
    const F64: ElementType = ElementType::of::<f64>();
    assert!(KERNEL.instance(const { &[F16, F32] }).is_some());
    assert!(KERNEL.instance(const { &[F64, F64] }).is_some());
    assert!(KERNEL.instance(const { &[F16, F64] }).is_none());
    assert!(KERNEL.instance(const { &[F64, F32] }).is_none());
}

#[test]
fn numbers_come_from_extents_and_arguments() {
    let instance = KERNEL.instance(&OF_BF16).unwrap();
    let launches = instance.launches(&[&[300, 5], &[9]], &arguments(1, [8, 10])).unwrap();
    assert_eq!(launches.scratch_bytes, 4 * 1500);
    let parts =
        CudaLaunch { entry: "parts_bf16".to_owned(), grid: [6, 5, 3], block: [256, 1, 1], shared_bytes: 64 };
    let last =
        CudaLaunch { entry: "sum_bf16".to_owned(), grid: [7, 1, 1], block: [32, 8, 1], shared_bytes: 0 };
    assert_eq!(launches.launches, [parts, last]);
}

#[test]
fn few_blocks_for_long_loops_and_one_for_none() {
    let instance = KERNEL.instance(&OF_BF16).unwrap();
    let blocks = |rows: usize| {
        instance.launches(&[&[rows, 2], &[9]], &arguments(1, [1, 1])).unwrap().launches[0].grid[0]
    };
    assert_eq!([blocks(0), blocks(1), blocks(129), blocks(1 << 30)], [1, 1, 2, 1024]);
}

#[test]
fn what_has_no_value_is_named() {
    let instance = KERNEL.instance(&OF_BF16).unwrap();
    let error = |out: usize, axis, size| {
        instance.launches(&[&[300, 5], &[out]], &arguments(axis, [1, size])).unwrap_err()
    };
    let start = "CUDA kernel `sum` (kernels/sum.cu:3): grid: ";
    assert_eq!(error(9, 2, 1), format!("{start}extent(2) of an array of shape [300, 5]"));
    assert_eq!(error(9, -1, 1), format!("{start}extent({}) of an array of shape [300, 5]", u64::MAX));
    assert_eq!(error(1, 0, 1), format!("{start}Subtract of 1 and 2"));
    assert_eq!(error(9, 0, 1 << 20), format!("{start}262144 blocks along z, and at most 65535 are possible"));
}

#[test]
fn there_are_kernels_for_the_types_that_it_says() {
    assert!(KERNEL.instance(&OF_F64).is_none());
    assert!(KERNEL.instance(&[]).is_none());
}

#[test]
fn the_header_says_the_same_of_blocks() {
    let header = include_str!("../../dahl-cuda/include/dahl.cuh");
    assert!(header.contains("constexpr uint64_t MAX_BLOCKS = 1024;"));
}

/// A kernel that takes arguments of any length, between others.
static ANY: CudaKernel =
    CudaKernel::new("pad", "kernels/pad.cu:3", &CudaImage::Missing("no device code is needed"))
        .types(REALS)
        .takes(
            &[INPUT],
            &[
                CudaArgument { element: CudaElement::Fixed("usize"), len: CudaLen::Any },
                ALPHA,
                CudaArgument { element: CudaElement::Fixed("usize"), len: CudaLen::Any },
            ],
        )
        .passes(&[CudaPass {
            function: "pad",
            // before[1] * after[0]
            grid: [
                &[
                    CudaStep::Number(1),
                    CudaStep::Item(0),
                    CudaStep::Number(0),
                    CudaStep::Item(2),
                    CudaStep::Multiply,
                ],
                &[CudaStep::Number(1)],
                &[CudaStep::Number(1)],
            ],
            block: [256, 1, 1],
            shared_bytes: &[CudaStep::Number(0)],
        }]);

#[test]
fn arguments_of_any_length_share_it() {
    let instance = ANY.instance(&OF_BF16).unwrap();
    let encoded = |before: &[usize], after: &[usize]| {
        let bytes =
            |numbers: &[usize]| numbers.iter().flat_map(|number| number.to_ne_bytes()).collect::<Vec<_>>();
        [bytes(before), vec![0x80, 0x3f], bytes(after)].concat()
    };
    let of_two = encoded(&[2, 3], &[5, 7]);
    assert_eq!(instance.arguments(&of_two).iter().map(|bytes| bytes.len()).collect::<Vec<_>>(), [16, 2, 16]);
    assert_eq!(instance.launches(&[&[4]], &of_two).unwrap().launches[0].grid, [15, 1, 1]);
    let error = instance.launches(&[&[4]], &encoded(&[2], &[5])).unwrap_err();
    assert!(error.contains("an index outside of an array of 1"), "{error}");
    assert!(std::panic::catch_unwind(|| instance.arguments(&[0; 10])).is_err());
}
