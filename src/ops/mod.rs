//! The operations, each declared with [`#[codelet]`](macro@crate::codelet) as a user's would be.
//!
//! Each declaration generates a function that writes into a given output (`matmul`), one that creates its output in an
//! arena (`matmul_init`), and, where the output can take the place of an input, one that overwrites it (`add_self`).
//! All take arrays, submit a task and return. A wrong shape is an error of the call.
//!
//! Images are `[batch, channels, rows, cols]`, filters `[out_channels, in_channels, kernel rows, kernel cols]`, signals
//! and volumes have one and three spatial axes in place of rows and columns, and matrices of samples
//! `[batch, features]`, as in PyTorch. Half-precision types compute and accumulate in `f32` and round once. An
//! operation on a batch is one task. Several tasks on parts of a batch give the same result, and the operations that
//! sum over a batch add to their output (mode `REDUX`), so the results of the parts add up. Only
//! [`batch_norm`](batch_norm()) needs the whole batch, whose statistics it uses.
//!
//! The types of the codelets are in [`codelets`]; the traits and the argument structs of the functions are here.
//!
//! Not here: layers, losses and optimizers, which use these operations (`dahl-nn`), and the packing and matrix products
//! under them (`cpu`).

mod activation;
mod adaptive_pool;
mod arg_extreme;
mod arithmetic;
mod attention;
mod attention_backward;
mod attention_gradients;
mod attention_masked;
mod batch_norm;
mod bias;
mod binary_cross_entropy;
mod cast;
mod comparison;
mod concat;
mod conv2d;
mod conv2d_relu;
mod convolution;
mod copy;
mod cross_entropy;
mod cross_entropy_weighted;
mod ctc;
mod cumulative_sum;
mod diag;
mod divergence;
mod dot;
mod dropout;
mod embedding_loss;
mod error_function;
mod exponential;
mod fill;
mod fractional_pool;
mod gather;
mod geometry;
mod group_norm;
mod gru_cell;
mod hard_activation;
mod heads;
mod huber;
mod hyperbolic;
mod label;
mod label_weight;
mod layer_norm;
mod lstm_cell;
mod matmul;
mod matmul_batched;
mod nll;
mod norm;
mod normalised;
mod one_hot;
mod pad;
mod permute;
mod pool;
mod pool2d;
mod product;
mod random;
mod reduce;
mod reduce_backward;
mod regression;
mod rms_norm;
mod rotary;
mod rotate;
mod rounding;
mod sampling;
mod segment;
mod shuffle;
mod slice;
mod softmax;
mod softmax_backward;
mod sort;
mod split;
mod sum_axes;
mod tile;
mod transpose;
mod transposed;
mod tree_sum;
mod trigonometric;
mod upsample;
mod variance;

pub use activation::*;
pub use adaptive_pool::*;
pub use arg_extreme::*;
pub use arithmetic::*;
pub use attention::*;
pub use attention_backward::*;
pub use attention_masked::*;
pub use batch_norm::*;
pub use bias::*;
pub use binary_cross_entropy::*;
pub use cast::*;
pub use comparison::*;
pub use concat::*;
pub use conv2d::*;
pub use conv2d_relu::*;
pub use convolution::*;
pub use copy::*;
pub use cross_entropy::*;
pub use cross_entropy_weighted::*;
pub use ctc::*;
pub use cumulative_sum::*;
pub use diag::*;
pub use divergence::*;
pub use dot::*;
pub use dropout::*;
pub use embedding_loss::*;
pub use error_function::*;
pub use exponential::*;
pub use fill::*;
pub use fractional_pool::*;
pub use gather::*;
pub use geometry::*;
pub use group_norm::*;
pub use gru_cell::*;
pub use hard_activation::*;
pub use heads::*;
pub use huber::*;
pub use hyperbolic::*;
pub use label::*;
pub use label_weight::*;
pub use layer_norm::*;
pub use lstm_cell::*;
pub use matmul::*;
pub use matmul_batched::*;
pub use nll::*;
pub use norm::*;
pub use one_hot::*;
pub use pad::*;
pub use permute::*;
pub use pool::*;
pub use pool2d::*;
pub use product::*;
pub use random::*;
pub use reduce::*;
pub use reduce_backward::*;
pub use regression::*;
pub use rms_norm::*;
pub use rotary::*;
pub use rotate::*;
pub use rounding::*;
pub use sampling::*;
pub use segment::*;
pub use shuffle::*;
pub use slice::*;
pub use softmax::*;
pub use softmax_backward::*;
pub use sort::*;
pub use split::*;
pub use sum_axes::*;
pub use tile::*;
pub use transpose::*;
pub use transposed::*;
pub use tree_sum::*;
pub use trigonometric::*;
pub use upsample::*;
pub use variance::*;

/// Exports the types of the codelets from [`codelets`] and hides them here: an import by name takes precedence over a
/// glob import, and these imports by name are private.
macro_rules! codelet_types {
    ($($module:ident: $($name:ident),+;)+) => {
        /// The types of the codelets, for the functions of the same names: `Relu::task(..)` for `relu(..)`.
        ///
        /// They are in a module of their own so that `use dahl::ops::*` imports no name that a layer or a loss has too:
        /// `CrossEntropy` is a loss of `dahl_nn`, and here the codelet of
        /// [`cross_entropy`](crate::ops::cross_entropy()).
        ///
        /// ```
        /// use dahl::ops::codelets::Relu;
        /// use dahl::prelude::*;
        ///
        /// # fn main() -> dahl::Result<()> {
        /// let rt = Runtime::new()?;
        /// let x = rt.from_vec([2], vec![-1.0_f32, 1.0])?;
        /// let mut out = rt.zeros([2])?;
        /// Relu::task(&x, &mut out).priority(1).submit()?;
        /// assert_eq!(out.to_vec()?, [0.0, 1.0]);
        /// # Ok(())
        /// # }
        /// ```
        pub mod codelets {
            $(pub use super::$module::{$($name),+};)+
        }

        $(
            #[allow(unused_imports, hidden_glob_reexports, reason = "they hide what `*` would export")]
            use $module::{$($name),+};
        )+
    };
}

codelet_types! {
    activation: Celu, Elu, Gelu, GeluBackward, GeluTanh, GeluTanhBackward, Glu, LeakyRelu, LogSigmoid, LogSigmoidBackward, Mish, MishBackward, Prelu, Relu, ReluBackward, Selu, Sigmoid, SigmoidBackward, Silu, SiluBackward, Softplus, SoftplusBackward, SoftplusScaled, SoftplusScaledBackward, Softsign, SoftsignBackward, TanhShrink, TanhShrinkBackward;
    adaptive_pool: AdaptiveAvgPool, AdaptiveAvgPoolBackward, AdaptiveMaxPool;
    arg_extreme: ArgMax, ArgMin;
    arithmetic: Abs, Add, AddValue, Axpy, Div, Mul, Neg, Power, PowerValue, Recip, Scale, Sign, Sqrt, Square, Sub;
    attention: Attention;
    attention_backward: AttentionBackward;
    attention_masked: AttentionMasked, AttentionMaskedBackward;
    batch_norm: BatchNorm, BatchNormBackward, BatchNormInference;
    bias: Bias, BiasBackward;
    binary_cross_entropy: BinaryCrossEntropy, BinaryCrossEntropyBackward, BinaryCrossEntropyBackwardTarget, BinaryCrossEntropyWithLogits, BinaryCrossEntropyWithLogitsWeighted;
    cast: Cast;
    concat: Concat, Stack;
    comparison: Clip, Equal, Greater, GreaterEqual, Less, LessEqual, LogicalAnd, Maximum, Minimum, NotEqual, Select;
    conv2d: Conv2d, Conv2dBackwardFilters, Conv2dBackwardInput;
    conv2d_relu: BiasReluMaxPool2dBackward, Conv2dRelu, Conv2dReluBackward, Conv2dReluMaxPool2d, Conv2dReluMaxPool2dBackward;
    convolution: Convolution, ConvolutionBackwardFilters, ConvolutionBackwardInput;
    copy: Copy;
    cross_entropy: CountCorrect, CrossEntropy, CrossEntropyBackward;
    cross_entropy_weighted: CrossEntropyEach, CrossEntropyWeighted, CrossEntropyWeightedBackward;
    ctc: Ctc, CtcBackward;
    cumulative_sum: CumulativeSum, CumulativeSumBackward;
    diag: Diag, Diagonal, DiagonalBackward;
    divergence: KlDivergence, KlDivergenceOfLogarithms;
    dot: Dot;
    dropout: Dropout;
    embedding_loss: CosineEmbedding, CosineEmbeddingBackward, HingeEmbedding;
    error_function: Erf;
    exponential: Exp, Exp2, Expm1, Ln, Log10, Log1p, Log2;
    fill: Fill;
    fractional_pool: FractionalMaxPool;
    gather: Gather, GatherBackward, IndexSelect, IndexSelectBackward;
    group_norm: GroupNorm, GroupNormBackward;
    gru_cell: GruCell, GruCellBackward;
    hard_activation: HardShrink, HardSigmoid, HardSwish, HardTanh, Relu6, SoftShrink, Threshold;
    heads: DivideHeads, JoinHeads, MergeHeads, SplitHeads;
    huber: Huber, SmoothL1;
    hyperbolic: Acosh, Asinh, Atanh, Cosh, Sinh, Tanh;
    label_weight: LabelWeight;
    layer_norm: LayerNorm, LayerNormBackwardInput, LayerNormBackwardWeight;
    lstm_cell: LstmCell, LstmCellBackward;
    matmul: Matmul, MatmulAdd, Matvec, Outer;
    matmul_batched: MatmulBatched;
    nll: Nll, NllBackward, NllEach;
    norm: Norm, NormAxis, NormAxisBackward, NormBackward, NormL1, NormL1Axis;
    one_hot: OneHot;
    pad: Pad, PadCopies, PadCopiesBackward;
    permute: Permute;
    pool: AvgPool, AvgPoolBackward, MaxPool, MaxPoolBackward;
    pool2d: AvgPool2d, AvgPool2dBackward, MaxPool2d, MaxPool2dBackward;
    product: Product, ProductAxis, ProductAxisBackward, ProductBackward;
    random: Normal, Uniform;
    reduce: Max, MaxAxis, Mean, MeanAxis, Min, MinAxis, Sum, SumAxis;
    reduce_backward: MaxAxisBackward, MaxBackward, MeanAxisBackward, MeanBackward, MinAxisBackward, MinBackward, SumAxisBackward, SumBackward;
    regression: AbsoluteError, MeanAbsoluteError, MeanAbsoluteErrorBackward, MeanSquaredError, MeanSquaredErrorBackward, SquaredError;
    rms_norm: RmsNorm, RmsNormBackwardInput, RmsNormBackwardWeight;
    rotary: Rotary, RotaryBackward;
    rotate: Rotate180;
    rounding: Ceil, Floor, Round, Trunc;
    sampling: Bernoulli, Categorical, Exponential, Gumbel;
    segment: SegmentSoftmax, SegmentSoftmaxBackward, SegmentSum;
    shuffle: GatherRows, Permutation;
    slice: Slice, SliceBackward;
    softmax: LogSoftmax, Softmax;
    softmax_backward: LogSoftmaxBackward, SoftmaxBackward;
    sort: Sort, TopK;
    split: Split;
    sum_axes: SumAxes, SumAxesBackward;
    tile: Tile, TileBackward;
    transpose: Transpose;
    trigonometric: Acos, Asin, Atan, Atan2, Cos, Sin, Tan;
    upsample: UpsampleLinear, UpsampleLinearBackward, UpsampleNearest, UpsampleNearestBackward;
    variance: Variance, VarianceAxis, VarianceAxisBackward, VarianceBackward;
}
