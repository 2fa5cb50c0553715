//! Layers of sequences, images and volumes: convolutions, pooling, padding, upsampling, and other shapes.

use dahl::ops::{self, ConvolutionGeometry, PoolGeometry};
use dahl::prelude::*;
use dahl_nn::layer::{AvgPool1d, AvgPool3d, Convolution, MaxPool1d, MaxPool3d, UpsampleMode};
use dahl_nn::prelude::*;

use super::{Check, input};

/// Checks layers whose `forward` takes a step and an array of the given rank.
macro_rules! check {
    ($table:ident, $rt:ident, $init:ident, $($name:literal: $rank:literal, $layer:expr;)+) => {$(
        let layer = $layer;
        $table.check($rt, $init, $name, layer, |step, model| {
            model.module.forward(step, &*input::<T, $rank>(&model.x)?)
        });
    )+};
}

pub(super) fn convolutions<T: Real>(rt: &Runtime, table: &mut Check<'_>) -> dahl::Result<()> {
    let arena = rt.arena();
    let init = &mut Init::new(&arena, 1);
    let options = Conv2dOptions { kernel: [3, 2], stride: [1, 2], padding: [1, 0] };
    let square = Conv2dOptions::square(3);
    let one = ConvolutionGeometry::<1>::default();
    let two = ConvolutionGeometry::<2>::default().stride([2; 2]);
    let three = ConvolutionGeometry::<3>::default();
    let dilated = one.stride([2]).padding([2]).dilation([2]).groups(2);
    let grouped =
        ConvolutionGeometry::<2>::default().stride([2; 2]).padding([2; 2]).dilation([2; 2]).groups(2);
    let volumes = three.stride([1, 2, 1]).padding([0, 1, 0]);
    let apart = one.stride([3]).dilation([2]).groups(2);
    check!(table, rt, init,
        "conv1d": 3, Conv1d::<T>::new(init, 4, 6, [3], dilated)?;
        "conv2d": 4, Conv2d::<T>::new(init, 4, 3, options)?;
        "conv2d_without_bias": 4, Conv2d::<T>::without_bias(init, 4, 3, square)?;
        "conv2d_in_groups": 4, Convolution::<T, 2>::new(init, 4, 6, [3; 2], grouped)?;
        "conv3d": 5, Conv3d::<T>::new(init, 2, 3, [2; 3], three)?;
        "conv3d_without_bias": 5, Conv3d::<T>::without_bias(init, 2, 2, [2; 3], three)?;
        "conv_transpose1d": 3, ConvTranspose1d::<T>::new(init, 4, 6, [3], apart)?;
        "conv_transpose2d": 4, ConvTranspose2d::<T>::new(init, 4, 3, [3; 2], two.padding([1; 2]))?.output_padding([1; 2]);
        "conv_transpose2d_without_bias": 4, ConvTranspose2d::<T>::without_bias(init, 4, 3, [2; 2], two)?;
        "conv_transpose3d": 5, ConvTranspose3d::<T>::new(init, 2, 3, [2; 3], volumes)?.output_padding([0, 1, 0]);
    );
    Ok(())
}

pub(super) fn pools<T: Real>(rt: &Runtime, table: &mut Check<'_>) -> dahl::Result<()> {
    let arena = rt.arena();
    let init = &mut Init::new(&arena, 1);
    let one = PoolGeometry::new([3]).stride([2]).padding([1]);
    let two = PoolGeometry::new([2, 3]).stride([3, 2]).padding([1, 1]).dilation([2, 1]).ceil();
    let square = PoolGeometry::new([3; 2]).stride([2; 2]).padding([1; 2]).ceil().without_padding();
    let three = PoolGeometry::new([2; 3]).stride([1; 3]);
    check!(table, rt, init,
        "max_pool2d": 4, MaxPool2d::new(2)?;
        "max_pool2d_overlapping": 4, MaxPool2d::new(3)?.stride([2; 2]).padding([1; 2]);
        "avg_pool2d": 4, AvgPool2d::new(2)?;
        "avg_pool2d_overlapping": 4, AvgPool2d::new(3)?.stride([2, 1]).padding([1; 2]);
        "max_pool1d_dilated": 3, MaxPool1d::new(one.dilation([2]).ceil());
        "max_pool2d_ceil": 4, MaxPool::new(two);
        "max_pool3d": 5, MaxPool3d::new(three);
        "avg_pool1d": 3, AvgPool1d::new(one.ceil());
        "avg_pool2d_without_padding": 4, AvgPool::new(square);
        "avg_pool3d": 5, AvgPool3d::new(three.padding([1; 3]));
        "adaptive_max_pool": 4, AdaptiveMaxPool::new([4, 2]);
        "adaptive_avg_pool": 4, AdaptiveAvgPool::new([4, 2]);
        "adaptive_max_pool_of_sequences": 3, AdaptiveMaxPool::new([4]);
        "adaptive_avg_pool_of_volumes": 5, AdaptiveAvgPool::new([2, 3, 2]);
    );
    Ok(())
}

pub(super) fn shapes<T: Real>(rt: &Runtime, table: &mut Check<'_>) -> dahl::Result<()> {
    let arena = rt.arena();
    let init = &mut Init::new(&arena, 1);
    // PyTorch's paddings begin with the last axis.
    let (before, after) = ([0, 1], [3, 2]);
    check!(table, rt, init,
        "constant_pad": 4, ConstantPad::sides(before, after, 0.5);
        "reflection_pad": 4, ReflectionPad::sides(before, after);
        "replication_pad": 4, ReplicationPad::sides(before, after);
        "circular_pad": 4, CircularPad::sides(before, after);
        "reflection_pad_of_sequences": 3, ReflectionPad::sides([1], [3]);
        "replication_pad_of_volumes": 5, ReplicationPad::sides([1, 0, 1], [1, 3, 2]);
        "upsample_nearest": 4, Upsample::by([2, 3]);
        "upsample_nearest_to": 4, Upsample::to([4, 7]);
        "upsample_linear": 3, Upsample::by([2]).mode(UpsampleMode::Linear);
        "upsample_bilinear": 4, Upsample::to([4, 8]).mode(UpsampleMode::Linear);
        "upsample_bilinear_aligned": 4, Upsample::by([2; 2]).mode(UpsampleMode::LinearAligned);
        "upsample_trilinear": 5, Upsample::by([2; 3]).mode(UpsampleMode::Linear);
        "pixel_shuffle": 4, PixelShuffle::new(2)?;
        "pixel_unshuffle": 4, PixelUnshuffle::new(2)?;
    );
    table.check(rt, init, "flatten", Flatten, |step, model| {
        model.module.forward(ops::copy_init(step, &*input::<T, 4>(&model.x)?)?)
    });
    table.check(rt, init, "reshape", Reshape::new([3, -1, 4]), |step, model| {
        model.module.forward(ops::copy_init(step, &*input::<T, 2>(&model.x)?)?)
    });
    Ok(())
}

/// Random windows are those of the operation, with the numbers of the step.
#[test]
fn fractional_pooling_draws_new_windows() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let x = rt.from_vec([2, 3, 9, 8], (0..432).map(|i| (i as f64 * 0.7).sin()).collect())?;
    let pool = FractionalMaxPool::new([2, 3], [5, 4])?;
    let step = Step::evaluating(&rt).seed(5);
    let numbers = step.numbers(0);
    let expected = |numbers| -> dahl::Result<_> {
        ops::fractional_max_pool_init(&step, &x, [2, 3], [5, 4], numbers)?.0.to_vec()
    };
    // Two numbers, one for each axis, of each of six channels.
    let (first, second) = (expected(numbers)?, expected(numbers.skip(12))?);
    assert_ne!(first, second);
    assert_eq!(pool.forward(&step, &x)?.to_vec()?, first);
    assert_eq!(pool.forward(&step, &x)?.to_vec()?, second);
    Ok(())
}

/// The results and gradients of one case of `tests/reference/pooling.json`: exact, since each is a copy or a sum of whole
/// numbers.
fn check_fractional_pooling<T: Real, const D: usize, const N: usize>(
    rt: &Runtime,
    case: &serde_json::Value,
) -> dahl::Result<()> {
    let numbers = |name: &str| -> Vec<f64> { serde_json::from_value(case[name].clone()).expect("numbers") };
    let extents = |name: &str| -> Vec<usize> { serde_json::from_value(case[name].clone()).expect("extents") };
    let [size, to]: [[usize; D]; 2] = ["size", "extents"].map(|name| extents(name).try_into().expect("axes"));
    let shape: [usize; N] = extents("shape").try_into().expect("axes");
    let arena = rt.arena();
    let elements = |name: &str| numbers(name).into_iter().map(T::from_f64).collect::<Vec<_>>();
    let x = elements("x");
    let mut model = Parameter::new(&arena, &shape, arena.from_vec([x.len()], x)?)?;
    let pool = FractionalMaxPool::new(size, to)?;
    let step = Step::under(rt.tape()).seed(case["seed"].as_u64().expect("a seed"));
    let out = pool.forward(&step, &*input::<T, N>(&model)?)?;
    assert_eq!(out.to_vec()?, elements("out"), "{}", T::NAME);
    let by_out = rt.from_vec(out.shape(), elements("by_out"))?;
    step.accumulate(&ops::sum_init(&step, &ops::mul_init(&step, &out, &by_out)?)?, &mut model)?;
    assert_eq!(model.gradient.to_vec()?, elements("by_x"), "{}", T::NAME);
    Ok(())
}

fn fractional_pooling<T: Real>(rt: &Runtime) -> dahl::Result<()> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/pooling.json");
    let text = std::fs::read_to_string(path).expect("it is in the repository");
    let cases: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    check_fractional_pooling::<T, 2, 4>(rt, &cases["images"])?;
    check_fractional_pooling::<T, 3, 5>(rt, &cases["volumes"])
}

#[test]
fn fractional_pooling_is_pytorchs_with_the_same_numbers() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    fractional_pooling::<f16>(&rt)?;
    fractional_pooling::<bf16>(&rt)?;
    fractional_pooling::<f32>(&rt)?;
    fractional_pooling::<f64>(&rt)
}

#[test]
fn layers_refuse_what_does_not_fit() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let step = Step::evaluating(&rt);
    let images = rt.zeros::<f32, 4>([2, 3, 5, 4])?;
    assert!(PixelShuffle::new(0).is_err() && PixelUnshuffle::new(0).is_err());
    assert!(FractionalMaxPool::new([2, 0], [3, 3]).is_err());
    assert!(FractionalMaxPool::new([2, 2], [5, 4])?.forward(&step, &images).is_err());
    assert!(PixelShuffle::new(2)?.forward(&step, &images).unwrap_err().to_string().contains("3 channels"));
    assert!(PixelUnshuffle::new(2)?.forward(&step, &images).unwrap_err().to_string().contains("5 by 4"));
    assert!(MaxPool::new(PoolGeometry::new([2])).forward(&step, &images).is_err());
    assert!(MaxPool2d::new(2)?.stride([0, 1]).forward(&step, &images).is_err());
    assert!(ReflectionPad::new([5, 0]).forward(&step, &images).is_err());
    assert!(
        ConstantPad::new([1; 5], 0.0).forward(&step, &images).unwrap_err().to_string().contains("5 axes")
    );
    assert!(Upsample::by([2; 3]).forward(&step, &images).is_err());
    assert!(Upsample::by([usize::MAX; 2]).forward(&step, &images).is_err());
    let rows = || rt.zeros::<f32, 2>([3, 4]);
    assert!(Reshape::new([-1, -1]).forward(rows()?).unwrap_err().to_string().contains("Reshape: shape"));
    assert!(Reshape::new([5, -1]).forward(rows()?).unwrap_err().to_string().contains("12 elements"));
    assert!(Reshape::new([0, -1]).forward(rows()?).is_err());
    assert!(Reshape::new([5, 2]).forward(rows()?).is_err());
    Ok(())
}
