//! Layers of features: linear maps, embeddings, norms, dropout, activations.

use dahl::ops;
use dahl::prelude::*;
use dahl_nn::layer::{
    Celu, Elu, Gelu, GeluTanh, Glu, HardShrink, HardSigmoid, HardSwish, HardTanh, LeakyRelu, LogSigmoid,
    LogSoftmax, Mish, PRelu, RRelu, Relu, Relu6, Selu, Sigmoid, Silu, SoftShrink, Softmax, Softmin, Softplus,
    Softsign, Tanh, TanhShrink, Threshold,
};
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

/// An embedding, under PyTorch's name of it.
#[derive(Module)]
struct Embedded<'m, T: Real> {
    embedding: Embedding<'m, T>,
}

pub(super) fn all<T: Real>(rt: &Runtime, table: &mut Check<'_>) -> dahl::Result<()> {
    let arena = rt.arena();
    let init = &mut Init::new(&arena, 1);
    check!(table, rt, init,
        "linear": 3, Linear::<T>::new(init, 5, 3)?;
        "linear_without_bias": 2, Linear::<T>::without_bias(init, 5, 3)?;
        "batch_norm": 3, BatchNorm::<T>::new(init, 3)?;
        "batch_norm_of_images": 4, BatchNorm::<T>::new(init, 3)?;
        "batch_norm_of_volumes": 5, BatchNorm::<T>::new(init, 3)?;
        "batch_norm_without_weight": 3, BatchNorm::<T>::new(init, 3)?.without_weight();
        "layer_norm": 3, LayerNorm::<T>::new(init, 5)?;
        "layer_norm_without_bias": 3, LayerNorm::<T>::new(init, 5)?.without_bias();
        "layer_norm_without_weight": 3, LayerNorm::<T>::new(init, 5)?.without_weight();
        "rms_norm": 3, RmsNorm::<T>::new(init, 5)?;
        "rms_norm_without_weight": 3, RmsNorm::<T>::new(init, 5)?.without_weight();
        "group_norm": 4, GroupNorm::<T>::new(init, 2, 6)?;
        "group_norm_without_weight": 4, GroupNorm::<T>::new(init, 2, 6)?.epsilon(1e-3).without_weight();
        "instance_norm": 3, InstanceNorm::new();
        "instance_norm_of_images": 4, InstanceNorm::new();
    );
    let mut norm = BatchNorm::<T>::new(init, 3)?;
    *norm.running_mean.value_mut() = rt.from_vec([3], [0.5, -0.25, 0.125].map(T::from_f64).to_vec())?;
    *norm.running_var.value_mut() = rt.from_vec([3], [2.0, 0.75, 1.5].map(T::from_f64).to_vec())?;
    let mut evaluating = Step::under(rt.tape());
    evaluating.set_training(false);
    table.check_under(&evaluating, rt, init, "batch_norm_evaluating", norm, |step, model| {
        model.module.forward(step, &*input::<T, 4>(&model.x)?)
    });
    table.check(rt, init, "dropout", Dropout::new(0.375), |step, model| {
        model.module.forward(step, &*input::<T, 2>(&model.x)?)
    });
    let tokens = rt.from_vec([2, 3], vec![1_u32, 0, 2, 4, 2, 0])?;
    let (all, padded) = (Embedding::new(init, 5, 4)?, Embedding::with_padding(init, 5, 4, 2)?);
    for (name, embedding) in [("embedding", all), ("embedding_padded", padded)] {
        table.check(rt, init, name, Embedded::<T> { embedding }, |step, model| {
            ops::mul_init(step, &*input(&model.x)?, &model.module.embedding.forward(step, &tokens)?)
        });
    }
    let shared = Embedded::<T> { embedding: Embedding::new(init, 5, 4)? };
    table.check(rt, init, "embedding_scores", shared, |step, model| {
        model.module.embedding.scores(step, &*input::<T, 3>(&model.x)?)
    });
    Ok(())
}

pub(super) fn activations<T: Real>(rt: &Runtime, table: &mut Check<'_>) -> dahl::Result<()> {
    let arena = rt.arena();
    let init = &mut Init::new(&arena, 1);
    check!(table, rt, init,
        "relu": 2, Relu::default();
        "leaky_relu": 2, LeakyRelu::default();
        "elu": 2, Elu::default();
        "selu": 2, Selu::default();
        "sigmoid": 2, Sigmoid::default();
        "log_sigmoid": 2, LogSigmoid::default();
        "softplus": 2, Softplus::default();
        "softplus_scaled": 2, Softplus { beta: 3.0, threshold: 2.5 };
        "silu": 2, Silu::default();
        "gelu": 2, Gelu::default();
        "gelu_tanh": 2, GeluTanh::default();
        "tanh": 2, Tanh::default();
        "hard_sigmoid": 2, HardSigmoid::default();
        "hard_swish": 2, HardSwish::default();
        "hard_tanh": 2, HardTanh::default();
        "softmax": 3, Softmax::new(1);
        "log_softmax": 3, LogSoftmax::new(2);
        "softmin": 3, Softmin::new(1);
        "hard_tanh_within": 2, HardTanh { low: -0.25, high: 0.75 };
        "threshold": 2, Threshold::new(0.25, 2.0);
        "hard_shrink": 2, HardShrink::default();
        "soft_shrink": 2, SoftShrink::default();
        "tanh_shrink": 2, TanhShrink::default();
        "softsign": 2, Softsign::default();
        "mish": 2, Mish::default();
        "celu": 2, Celu { alpha: 0.75 };
        "glu": 3, Glu::new(1);
        "prelu": 2, PRelu::<T>::new(init, 1)?;
        "prelu_of_channels": 4, PRelu::<T>::new(init, 4)?;
    );
    // So that elements are above 6.
    table.check(rt, init, "relu6", Relu6::default(), |step, model| {
        model.module.forward(step, &ops::scale_init(step, &*input::<T, 2>(&model.x)?, T::from_f64(4.0))?)
    });
    let mut evaluating = Step::under(rt.tape());
    evaluating.set_training(false);
    table.check_under(&evaluating, rt, init, "rrelu_evaluating", RRelu::default(), |step, model| {
        model.module.forward(step, &*input::<T, 2>(&model.x)?)
    });
    Ok(())
}

#[test]
fn rrelu_draws_slopes_in_training() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let x = rt.from_vec([1000], [vec![-1.0_f64; 999], vec![2.0]].concat())?;
    let slopes = |seed| -> dahl::Result<Vec<f64>> {
        let mut step = Step::evaluating(&rt).seed(seed);
        step.set_training(true);
        let out = RRelu::new(0.25, 0.75).forward(&step, &x)?.to_vec()?;
        assert_eq!(out[999], 2.0);
        Ok(out[..999].iter().map(|out| -out).collect())
    };
    let drawn = slopes(1)?;
    assert!(drawn.iter().all(|slope| (0.25..=0.75).contains(slope)), "{drawn:?}");
    let mean = drawn.iter().sum::<f64>() / 999.0;
    // The standard deviation of the mean is 0.0046.
    assert!((mean - 0.5).abs() < 0.025, "{mean}");
    let variance = drawn.iter().map(|slope| (slope - mean).powi(2)).sum::<f64>() / 999.0;
    assert!((variance - 0.25 / 12.0).abs() < 0.004, "{variance}");
    assert_eq!(slopes(1)?, drawn);
    assert_ne!(slopes(2)?, drawn);
    Ok(())
}
