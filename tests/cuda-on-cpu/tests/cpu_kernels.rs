//! CUDA kernels compared with those of the CPU, where both give the same bits: integers, random numbers, conversions,
//! and arrays with extents of 0 and 1.

use cuda_on_cpu::kernel;
use dahl::ops;
use dahl::ops::{CastTo, Conv2dGeometry, Philox, Pool2dGeometry, Transposed};
use dahl::prelude::*;
use dahl::testing::submit_to;
use dahl::{bf16, f16};

/// Runs a task by the codelet's own kernel and by its CUDA kernel, on outputs with the same initial values, and
/// compares the bits.
macro_rules! assert_same {
    ($kernel:literal $types:expr, $out:ident: $begin:expr, $task:expr) => {{
        let types: &[&str] = &$types;
        let mut $out = $begin;
        $task.submit().unwrap();
        let expected = $out.to_vec().unwrap();
        let mut $out = $begin;
        submit_to($task, &kernel($kernel, types)[0]).unwrap();
        let got = $out.to_vec().unwrap();
        assert!(bits(&expected) == bits(&got), "{} {types:?}: expected {expected:?}, got {got:?}", $kernel);
    }};
}

/// The bytes of elements, with all NaN made equal.
fn bits<T: Element>(elements: &[T]) -> Vec<Vec<u8>> {
    #[allow(clippy::eq_op, reason = "NaN is what differs from itself")]
    let bits =
        |element: &T| if element == element { bytemuck::bytes_of(element).to_vec() } else { Vec::new() };
    elements.iter().map(bits).collect()
}

fn runtime() -> Runtime {
    Runtime::builder().cpu_workers(1).build().unwrap()
}

/// Small numbers, whose sums and products are exact: as floats, powers of two.
fn small<T: CastFrom, const N: usize>(rt: &Runtime, shape: [usize; N]) -> Array<'static, T, N> {
    let len = shape.iter().product();
    rt.from_vec(shape, (0..len).map(|i| T::cast_from((7 * i + 3) % 11)).collect()).unwrap()
}

/// An element made of a small number.
trait CastFrom: Element {
    fn cast_from(number: usize) -> Self;
}

macro_rules! impl_cast_from {
    ($($ty:ty: $make:expr),*) => {$(
        impl CastFrom for $ty {
            fn cast_from(number: usize) -> Self {
                $make(number)
            }
        }
    )*};
}

impl_cast_from!(
    f32: |n: usize| [1.0, -2.0, 0.5, 4.0, -0.25, -1.0, 2.0, -0.5, 0.25, -4.0, 1.0][n % 11], u8: |n| n as u8, u32: |n| (n as u32) << 20, i32: |n| n as i32 - 5, i64: |n| (n as i64 - 5) << 40
);

fn integers<T: CastFrom>() {
    let rt = runtime();
    let name = [T::NAME];
    let input = small::<T, 2>(&rt, [9, 13]);
    let vector = small::<T, 1>(&rt, [9]);
    let index = rt.from_vec([9, 5], (0..45).map(|i| 7 * i % 13).collect::<Vec<u32>>()).unwrap();
    let indices = rt.from_vec([6], vec![8, 0, 3, 3, 1, 8_u32]).unwrap();
    assert_same!("max" name, out: small::<T, 0>(&rt, []), ops::codelets::Max::task(&input, &mut out));
    assert_same!("min" name, out: small::<T, 0>(&rt, []), ops::codelets::Min::task(&input, &mut out));
    assert_same!("max_axis" name, out: small::<T, 2>(&rt, [1, 13]), ops::codelets::MaxAxis::task(&input, &mut out, 0));
    assert_same!("min_axis" name, out: small::<T, 2>(&rt, [9, 1]), ops::codelets::MinAxis::task(&input, &mut out, 1));
    assert_same!("arg_max" name, out: small::<u32, 2>(&rt, [9, 1]), ops::codelets::ArgMax::task(&input, &mut out, 1));
    assert_same!("arg_min" name, out: small::<u32, 2>(&rt, [1, 13]), ops::codelets::ArgMin::task(&input, &mut out, 0));
    assert_same!("copy" name, out: rt.zeros([9, 13]).unwrap(), ops::codelets::Copy::task(&input, &mut out));
    assert_same!("fill" name, out: rt.zeros::<T, 2>([9, 13]).unwrap(), ops::codelets::Fill::task(&mut out, T::cast_from(7)));
    assert_same!("transpose" name, out: rt.zeros([13, 9]).unwrap(), ops::codelets::Transpose::task(&input, &mut out));
    assert_same!("rotate_180" name, out: rt.zeros([9, 13]).unwrap(), ops::codelets::Rotate180::task(&input, &mut out));
    assert_same!("diag" name, out: small::<T, 2>(&rt, [9, 9]), ops::codelets::Diag::task(&vector, &mut out));
    assert_same!("diagonal" name, out: rt.zeros([9]).unwrap(), ops::codelets::Diagonal::task(&input, &mut out));
    assert_same!("diagonal_backward" name, out: small::<T, 2>(&rt, [9, 13]), ops::codelets::DiagonalBackward::task(&vector, &mut out));
    assert_same!("slice" name, out: rt.zeros([9, 4]).unwrap(), ops::codelets::Slice::task(&input, &mut out, 1, 2, 4));
    assert_same!("slice_backward" name, out: small::<T, 2>(&rt, [9, 17]), ops::codelets::SliceBackward::task(&input, &mut out, 1, 3));
    assert_same!("tile" name, out: rt.zeros([27, 13]).unwrap(), ops::codelets::Tile::task(&input, &mut out, 0, 3));
    assert_same!("gather" name, out: rt.zeros([9, 5]).unwrap(), ops::codelets::Gather::task(&input, &index, &mut out, 1));
    assert_same!("gather_rows" name, out: rt.zeros([6, 13]).unwrap(), ops::codelets::GatherRows::task(&input, &indices, &mut out));
    assert_same!("index_select" name, out: rt.zeros([9, 6]).unwrap(), ops::codelets::IndexSelect::task(&input, &indices, &mut out, 1));
}

#[test]
fn elements_that_are_integers() {
    integers::<u8>();
    integers::<u32>();
    integers::<i32>();
    integers::<i64>();
}

/// One more label type than in the tests of numerics.
fn labels_of<L: CastFrom + ops::Label, T: Real>() {
    let rt = runtime();
    let labels = rt.from_vec([4], [3, 0, 2, 3].map(|class| cast_label::<L>(class)).to_vec()).unwrap();
    let logits = rt.from_vec([4, 5], (0..20).map(|i| T::from_f64(f64::from(7 * i % 11))).collect()).unwrap();
    assert_same!("one_hot" [L::NAME, T::NAME], out: rt.zeros::<T, 2>([4, 5]).unwrap(), ops::codelets::OneHot::task(&labels, &mut out, 5));
    assert_same!(
        "count_correct" [T::NAME, L::NAME],
        out: small::<u32, 0>(&rt, []),
        ops::codelets::CountCorrect::task(&logits, &labels, &mut out)
    );
}

fn cast_label<L: Element>(class: u8) -> L {
    let mut bytes = vec![0; size_of::<L>()];
    bytes[0] = class;
    bytemuck::pod_read_unaligned(&bytes)
}

#[test]
fn labels() {
    labels_of::<u8, f32>();
    labels_of::<u32, f16>();
    labels_of::<i32, bf16>();
    labels_of::<i64, f64>();
    labels_of::<u8, f64>();
}

fn converts<T: CastTo<U>, U: Element>(values: &[T]) {
    let rt = runtime();
    let input = rt.from_vec([values.len()], values.to_vec()).unwrap();
    assert_same!("cast" [T::NAME, U::NAME], out: rt.zeros::<U, 1>([values.len()]).unwrap(), ops::codelets::Cast::task(&input, &mut out));
}

/// Numbers at and between the limits of all types.
const EDGES: [f64; 31] = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    255.0,
    255.5,
    256.0,
    -1.0,
    65504.0,
    65519.9,
    65520.0,
    1e-8,
    6e-8,
    3e-5,
    1e-40,
    2147483647.0,
    2147483648.0,
    -2147483649.0,
    4294967295.0,
    4294967296.0,
    9.3e18,
    -9.3e18,
    3.4e38,
    3.5e38,
    1e300,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

const INTEGERS: [i64; 18] = [
    0,
    1,
    -1,
    127,
    128,
    255,
    256,
    2049,
    2051,
    65_519,
    65_520,
    16_777_217,
    16_777_219,
    i64::MAX,
    i64::MIN,
    i64::MAX - 600,
    (1 << 53) + 1,
    (1 << 60) + (1 << 52) + 1,
];

macro_rules! converts_to_all {
    ($values:expr) => {{
        let values = $values;
        converts::<_, f16>(&values);
        converts::<_, bf16>(&values);
        converts::<_, f32>(&values);
        converts::<_, f64>(&values);
        converts::<_, u8>(&values);
        converts::<_, u32>(&values);
        converts::<_, i32>(&values);
        converts::<_, i64>(&values);
    }};
}

#[test]
fn conversions() {
    converts_to_all!(EDGES.map(<f16 as Real>::from_f64));
    converts_to_all!(EDGES.map(<bf16 as Real>::from_f64));
    converts_to_all!(EDGES.map(|x| x as f32));
    converts_to_all!(EDGES);
    converts_to_all!(INTEGERS.map(|x| x as u8));
    converts_to_all!(INTEGERS.map(|x| x as u32));
    converts_to_all!(INTEGERS.map(|x| x as i32));
    converts_to_all!(INTEGERS);
}

/// Every number of 16 bits to float, and floats near all of them back.
#[test]
fn all_numbers_of_16_bits() {
    converts::<f16, f32>(&(0..=u16::MAX).map(f16::from_bits).collect::<Vec<_>>());
    converts::<bf16, f32>(&(0..=u16::MAX).map(bf16::from_bits).collect::<Vec<_>>());
    let near = |value: f32| [value.next_down(), value, value.next_up(), value * (1.0 + 1.0 / 2048.0)];
    let halves: Vec<f32> = (0..=u16::MAX).flat_map(|bits| near(f16::from_bits(bits).to_f32())).collect();
    converts::<f32, f16>(&halves);
    let brains: Vec<f32> = (0..=u16::MAX).flat_map(|bits| near(bf16::from_bits(bits).to_f32())).collect();
    converts::<f32, bf16>(&brains);
}

fn drawn<T: Real>() {
    let rt = runtime();
    for (len, offset) in [(0, 0), (1, 0), (1, 5), (257, 0), (1000, 7)] {
        assert_same!("uniform" [T::NAME], out: rt.zeros::<T, 1>([len]).unwrap(), ops::codelets::Uniform::task(&mut out, -3.0, 5.0, Philox::new(42).skip(offset)));
        assert_same!("normal" [T::NAME], out: rt.zeros::<T, 1>([len]).unwrap(), ops::codelets::Normal::task(&mut out, 1.0, 2.0, Philox::new(1 << 40).skip(offset)));
    }
}

#[test]
fn random_numbers() {
    drawn::<f16>();
    drawn::<bf16>();
    drawn::<f32>();
    drawn::<f64>();
}

#[test]
fn permutations() {
    let rt = runtime();
    for len in [0, 1, 2, 1000] {
        assert_same!("permutation" [], out: rt.zeros::<u32, 1>([len]).unwrap(), ops::codelets::Permutation::task(&mut out, 9));
    }
}

#[test]
fn extents_of_0_and_1() {
    let rt = runtime();
    let zeros = |shape| rt.zeros::<f32, 2>(shape).unwrap();
    for [rows, cols] in [[0, 0], [0, 3], [3, 0], [1, 1], [1, 33], [33, 1], [1, 1025]] {
        let input = small::<f32, 2>(&rt, [rows, cols]);
        let column = small::<f32, 1>(&rt, [rows]);
        let row = small::<f32, 1>(&rt, [cols]);
        assert_same!("sum" ["f32"], out: small::<f32, 0>(&rt, []), ops::codelets::Sum::task(&input, &mut out));
        assert_same!("mean" ["f32"], out: small::<f32, 0>(&rt, []), ops::codelets::Mean::task(&input, &mut out));
        assert_same!("product" ["f32"], out: small::<f32, 0>(&rt, []), ops::codelets::Product::task(&input, &mut out));
        assert_same!("norm_l1" ["f32"], out: small::<f32, 0>(&rt, []), ops::codelets::NormL1::task(&input, &mut out));
        assert_same!("max" ["f32"], out: small::<f32, 0>(&rt, []), ops::codelets::Max::task(&input, &mut out));
        assert_same!("dot" ["f32"], out: small::<f32, 0>(&rt, []), ops::codelets::Dot::task(&input, &input, &mut out));
        for (axis, shape) in [(0, [1, cols]), (1, [rows, 1])] {
            assert_same!("sum_axis" ["f32"], out: small(&rt, shape), ops::codelets::SumAxis::task(&input, &mut out, axis));
            assert_same!("mean_axis" ["f32"], out: small(&rt, shape), ops::codelets::MeanAxis::task(&input, &mut out, axis));
            assert_same!("max_axis" ["f32"], out: small(&rt, shape), ops::codelets::MaxAxis::task(&input, &mut out, axis));
            assert_same!("product_axis" ["f32"], out: small(&rt, shape), ops::codelets::ProductAxis::task(&input, &mut out, axis));
            assert_same!("norm_l1_axis" ["f32"], out: small(&rt, shape), ops::codelets::NormL1Axis::task(&input, &mut out, axis));
            let gradient = small::<f32, 2>(&rt, shape);
            assert_same!("sum_axis_backward" ["f32"], out: zeros([rows, cols]), ops::codelets::SumAxisBackward::task(&gradient, &mut out, axis));
            assert_same!("max_axis_backward" ["f32"], out: zeros([rows, cols]), ops::codelets::MaxAxisBackward::task(&input, &gradient, &mut out, axis));
        }
        assert_same!("bias" ["f32"], out: zeros([rows, cols]), ops::codelets::Bias::task(&input, &row, &mut out, 1));
        assert_same!("bias_backward" ["f32"], out: small(&rt, [cols]), ops::codelets::BiasBackward::task(&input, &mut out, 1));
        assert_same!("bias_backward" ["f32"], out: small(&rt, [rows]), ops::codelets::BiasBackward::task(&input, &mut out, 0));
        assert_same!("transpose" ["f32"], out: zeros([cols, rows]), ops::codelets::Transpose::task(&input, &mut out));
        assert_same!("slice" ["f32"], out: zeros([rows, 0]), ops::codelets::Slice::task(&input, &mut out, 1, cols, 0));
        assert_same!("tile" ["f32"], out: zeros([0, cols]), ops::codelets::Tile::task(&input, &mut out, 0, 0));
        assert_same!("outer" ["f32"], out: zeros([rows, cols]), ops::codelets::Outer::task(&column, &row, &mut out));
        assert_same!("matvec" ["f32"], out: small(&rt, [rows]), ops::codelets::Matvec::task(&input, &row, &mut out, false));
        assert_same!("matmul" ["f32"], out: zeros([rows, rows]), ops::codelets::Matmul::task(&input, &input, &mut out, Transposed::RIGHT));
        assert_same!("matmul_add" ["f32"], out: small(&rt, [cols, cols]), ops::codelets::MatmulAdd::task(&input, &input, &mut out, Transposed::LEFT));
        assert_same!("softmax" ["f32"], out: zeros([rows, 1]), ops::codelets::Softmax::task(&small(&rt, [rows, 1]), &mut out, 1));
    }
}

#[test]
fn images_of_extents_0_and_1() {
    let rt = runtime();
    for (batch, channels, image, kernel) in
        [(0, 2, [5, 5], [3, 3]), (1, 1, [1, 1], [1, 1]), (2, 0, [3, 4], [2, 2]), (1, 3, [7, 1], [2, 1])]
    {
        let input = small::<f32, 4>(&rt, [batch, channels, image[0], image[1]]);
        let filters = small::<f32, 4>(&rt, [2, channels, kernel[0], kernel[1]]);
        let rest = [image[0] - kernel[0] + 1, image[1] - kernel[1] + 1];
        let gradient = small::<f32, 4>(&rt, [batch, 2, rest[0], rest[1]]);
        let (one, none) = ([1, 1], [0, 0]);
        assert_same!("conv2d" ["f32"], out: rt.zeros([batch, 2, rest[0], rest[1]]).unwrap(), ops::codelets::Conv2d::task(&input, &filters, &mut out, Conv2dGeometry { stride: one, padding: none }));
        assert_same!(
            "conv2d_backward_input" ["f32"],
            out: rt.zeros([batch, channels, image[0], image[1]]).unwrap(),
            ops::codelets::Conv2dBackwardInput::task(&gradient, &filters, &mut out, Conv2dGeometry { stride: one, padding: none })
        );
        assert_same!(
            "conv2d_backward_filters" ["f32"],
            out: small(&rt, [2, channels, kernel[0], kernel[1]]),
            ops::codelets::Conv2dBackwardFilters::task(&input, &gradient, &mut out, Conv2dGeometry { stride: one, padding: none })
        );
        assert_same!(
            "avg_pool2d_backward" ["f32"],
            out: rt.zeros([batch, 2, image[0], image[1]]).unwrap(),
            ops::codelets::AvgPool2dBackward::task(&gradient, &mut out, Pool2dGeometry::new(kernel).stride(one).padding(none))
        );
    }
}
