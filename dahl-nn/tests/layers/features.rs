//! Layers of features: linear maps, embeddings, norms, recurrent layers, activations.

use dahl::ops;
use dahl::prelude::*;
use dahl_nn::layer::{
    Elu, Gelu, GeluTanh, HardSigmoid, HardSwish, HardTanh, LeakyRelu, LogSigmoid, Relu, Selu, Sigmoid, Silu,
    Softplus, Tanh,
};
use dahl_nn::prelude::*;

use super::{Table, input};

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

pub(super) fn all<T: Real>(rt: &Runtime, table: &mut Table) -> dahl::Result<()> {
    let arena = rt.arena();
    let init = &mut Init::new(&arena, 1);
    check!(table, rt, init,
        "linear": 3, Linear::<T>::new(init, 5, 3)?;
        "linear_without_bias": 2, Linear::<T>::without_bias(init, 5, 3)?;
        "batch_norm": 3, BatchNorm::<T>::new(init, 3)?;
        "layer_norm": 3, LayerNorm::<T>::new(init, 5)?;
        "rms_norm": 3, RmsNorm::<T>::new(init, 5)?;
        "group_norm": 4, GroupNorm::<T>::new(init, 2, 6)?;
        "instance_norm": 3, InstanceNorm::new();
        "rnn": 3, Rnn::<T>::new(init, 3, 4, 2)?;
        "lstm": 3, Lstm::<T>::new(init, 3, 4, 2)?;
        "gru": 3, Gru::<T>::new(init, 3, 4, 2)?;
    );
    let tokens = rt.from_vec([2, 3], vec![1_u32, 0, 2, 4, 2, 0])?;
    let embedded = Embedded::<T> { embedding: Embedding::new(init, 5, 4)? };
    table.check(rt, init, "embedding", embedded, |step, model| {
        ops::mul_init(step, &*input(&model.x)?, &model.module.embedding.forward(step, &tokens)?)
    });
    Ok(())
}

pub(super) fn activations<T: Real>(rt: &Runtime, table: &mut Table) {
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
        "silu": 2, Silu::default();
        "gelu": 2, Gelu::default();
        "gelu_tanh": 2, GeluTanh::default();
        "tanh": 2, Tanh::default();
        "hard_sigmoid": 2, HardSigmoid::default();
        "hard_swish": 2, HardSwish::default();
        "hard_tanh": 2, HardTanh::default();
    );
}
