//! Layers: modules of this crate, one file for each. Each has a `forward` that takes a [`Step`](crate::Step), but for those that
//! run no operation (`reshape`).
//!
//! Not here: layers that know the shape of their input, for [`Sequential`](crate::Sequential) (`sequential`).

mod activation;
mod affine;
mod attention;
mod batch_norm;
mod conv2d;
mod convolution;
mod dropout;
mod embedding;
mod glu;
mod graph;
mod group_norm;
mod layer_norm;
mod linear;
mod pad;
mod pixel_shuffle;
mod pool;
mod pool2d;
mod prelu;
mod recurrent;
mod reshape;
mod softmax;
mod tensor_parallel;
mod transformer;
mod upsample;

pub use activation::{
    Celu, Elu, Gelu, GeluTanh, HardShrink, HardSigmoid, HardSwish, HardTanh, LeakyRelu, LogSigmoid, Mish,
    Relu, Relu6, Selu, Sigmoid, Silu, SoftShrink, Softplus, Softsign, Tanh, TanhShrink, Threshold,
};
pub use attention::{AttentionMask, KeyValueCache, MultiHeadAttention};
pub use batch_norm::BatchNorm;
pub use conv2d::{Conv2d, Conv2dOptions};
pub use convolution::{
    Conv1d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d, Convolution, TransposedConvolution,
};
pub use dropout::Dropout;
pub use embedding::Embedding;
pub use glu::Glu;
pub use graph::{Graph, GraphAttention, GraphConvolution};
pub use group_norm::{GroupNorm, InstanceNorm};
pub use layer_norm::{LayerNorm, RmsNorm};
pub use linear::Linear;
pub use pad::{CircularPad, ConstantPad, ReflectionPad, ReplicationPad};
pub use pixel_shuffle::{PixelShuffle, PixelUnshuffle};
pub use pool::{
    AdaptiveAvgPool, AdaptiveMaxPool, AvgPool, AvgPool1d, AvgPool3d, FractionalMaxPool, MaxPool, MaxPool1d,
    MaxPool3d,
};
pub use pool2d::{AvgPool2d, MaxPool2d};
pub use prelu::{PRelu, RRelu};
pub use recurrent::{Gru, GruCell, Lstm, LstmCell, Packed, Recurrent, RecurrentCell, Rnn, RnnCell};
pub use reshape::{Flatten, Reshape};
pub use softmax::{LogSoftmax, Softmax, Softmin};
pub use tensor_parallel::{ColumnLinear, RowLinear, on_parts};
pub use transformer::{
    FeedForward, Transformer, TransformerActivation, TransformerDecoder, TransformerDecoderLayer,
    TransformerEncoder, TransformerEncoderLayer, TransformerMasks, TransformerOptions,
};
pub use upsample::{Upsample, UpsampleMode};
