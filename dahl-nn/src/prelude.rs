//! What a program that trains a network needs: `use dahl_nn::prelude::*`.

pub use crate::checkpoint::{
    load_checkpoint, load_checkpoint_with_average, save_checkpoint, save_checkpoint_with_average,
};
pub use crate::dataset::{ArrayDataset, Cifar10, Dataset, FashionMnist, Mnist, Synthetic, TokenWindows};
pub use crate::layer::{
    AdaptiveAvgPool, AdaptiveMaxPool, AttentionMask, AvgPool, AvgPool2d, BatchNorm, CircularPad, ConstantPad,
    Conv1d, Conv2d, Conv2dOptions, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d, Dropout,
    Embedding, Flatten, FractionalMaxPool, Graph, GraphAttention, GraphConvolution, GroupNorm, Gru,
    InstanceNorm, KeyValueCache, LayerNorm, Linear, Lstm, MaxPool, MaxPool2d, MultiHeadAttention,
    PixelShuffle, PixelUnshuffle, ReflectionPad, ReplicationPad, Reshape, RmsNorm, Rnn, Transformer,
    TransformerDecoder, TransformerDecoderLayer, TransformerEncoder, TransformerEncoderLayer,
    TransformerMasks, TransformerOptions, Upsample,
};
pub use crate::loader::DataLoader;
pub use crate::loss::{CrossEntropy, Loss};
pub use crate::module::{Buffer, Init, Initializer, Module, Parameter};
pub use crate::optimizer::{
    Adadelta, Adagrad, Adam, AdamW, Lamb, Lion, LossScaler, Optimizer, RmsProp, Sgd, WeightAverage,
    clip_gradient_norm, clip_gradient_value,
};
pub use crate::schedule::{
    Cosine, CosineRestarts, ExponentialDecay, Lambda, OneCycle, Plateau, Schedule, StepDecay,
};
pub use crate::sequential::{Evaluation, Layer, Sequential};
pub use crate::step::Step;
pub use crate::tokenizer::CharacterTokenizer;
pub use crate::training::{Callback, Checkpoints, EarlyStop, History, Monitor, Parallel, Progress, Trainer};
