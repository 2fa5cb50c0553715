//! Layers: modules of this crate, one file for each. Each has a `forward` that takes a [`Step`](crate::Step).
//!
//! Not here: layers that know the shape of their input, for [`Sequential`](crate::Sequential) (`sequential`).

mod activation;
mod attention;
mod batch_norm;
mod conv2d;
mod convolution;
mod dropout;
mod embedding;
mod group_norm;
mod layer_norm;
mod linear;
mod pool2d;
mod recurrent;

pub use activation::{
    Elu, Gelu, GeluTanh, HardSigmoid, HardSwish, HardTanh, LeakyRelu, LogSigmoid, Relu, Selu, Sigmoid, Silu,
    Softplus, Tanh,
};
pub use attention::{KeyValueCache, MultiHeadAttention};
pub use batch_norm::BatchNorm;
pub use conv2d::{Conv2d, Conv2dOptions};
pub use convolution::{
    Conv1d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d, Convolution, TransposedConvolution,
};
pub use dropout::Dropout;
pub use embedding::Embedding;
pub use group_norm::{GroupNorm, InstanceNorm};
pub use layer_norm::{LayerNorm, RmsNorm};
pub use linear::Linear;
pub use pool2d::{AvgPool2d, MaxPool2d};
pub use recurrent::{Gru, GruCell, Lstm, LstmCell, Packed, Recurrent, RecurrentCell, Rnn, RnnCell};
