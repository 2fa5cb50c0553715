//! Layers: the trait [`Layer`], one file for each layer of this crate, and their [`Parameter`]s.
//!
//! Layers exchange batches as matrices, `[batch, features]`, with the features of a sample in row-major order. A layer
//! of images reshapes its input, which copies nothing. Not here: sequences of layers (`model`) and their training
//! (`training`).

mod conv2d;
mod dense;
mod flatten;
mod parameter;
mod pool2d;
mod relu;

use dahl::prelude::*;

pub use conv2d::{Conv2d, Conv2dOptions};
pub use dense::Dense;
pub use flatten::Flatten;
pub use parameter::Parameter;
pub use pool2d::{AvgPool2d, MaxPool2d};
pub use relu::Relu;

/// One layer of a network, with explicit forward and backward.
///
/// `'m` is how long its parameters live: as long as the model's arena. Arrays of one step live in `step`, for `'s`.
pub trait Layer<'m, T: Real>: Send {
    /// The name that a model prints: `conv2d`.
    fn name(&self) -> &'static str;

    /// What distinguishes it from others of its kind, for display: `1->4, 3x3`. Empty if nothing does.
    fn detail(&self) -> String {
        String::new()
    }

    /// The shape of a sample that leaves the layer.
    fn output_shape(&self) -> &[usize];

    /// Whether a batch leaves the layer as it entered, but for the shape that the next layer sees. A model then skips
    /// the layer.
    fn is_identity(&self) -> bool {
        false
    }

    /// What the layer computes, if that can be an epilogue of the preceding layer: work that the preceding layer may fuse
    /// into its own kernel.
    fn epilogue(&self) -> Option<Epilogue> {
        None
    }

    /// Fuses the epilogue of the next layer. True if it did: then its output, and the gradient that enters its backward,
    /// are the next layer's, and a model skips that layer.
    fn fuse(&mut self, next: Epilogue) -> bool {
        let _ = next;
        false
    }

    /// Its parameters, in PyTorch's order.
    fn parameters(&self) -> &[Parameter<'m, T>] {
        &[]
    }

    /// Its parameters, in PyTorch's order, to be changed.
    fn parameters_mut(&mut self) -> &mut [Parameter<'m, T>] {
        &mut []
    }

    /// Maps a batch through the layer.
    ///
    /// # Shapes
    /// `input: [batch, features that enter]`; the output `[batch, features that leave]`.
    ///
    /// # Errors
    /// As the ops it is made of.
    fn forward<'s>(&self, step: &'s Arena, input: &Matrix<'_, T>) -> dahl::Result<Forward<'s, T>>;

    /// Adds the gradients by the parameters to theirs, and gives the gradient by the input.
    ///
    /// # Errors
    /// As the ops it is made of.
    fn backward<'s>(&mut self, step: &'s Arena, pass: Backward<'_, T>)
    -> dahl::Result<Option<Matrix<'s, T>>>;
}

/// What a layer does that has no parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Epilogue {
    /// [`Relu`].
    Relu,
    /// [`MaxPool2d`].
    MaxPool2d {
        /// The extent of the window.
        size: usize,
    },
}

/// What a layer's forward leaves behind.
#[derive(Debug)]
pub struct Forward<'s, T: Real> {
    /// What leaves the layer.
    pub output: Matrix<'s, T>,
    /// What backward needs besides the input and the output: argmax indices, such as those of max pooling.
    pub argmax: Option<Matrix<'s, u32>>,
}

impl<'s, T: Real> Forward<'s, T> {
    /// An output, with nothing else for backward.
    pub fn new(output: Matrix<'s, T>) -> Self {
        Self { output, argmax: None }
    }
}

/// What a layer's backward gets.
#[derive(Debug, Clone, Copy)]
pub struct Backward<'a, T: Real> {
    /// What entered the layer.
    pub input: &'a Matrix<'a, T>,
    /// What its forward left behind.
    pub forward: &'a Forward<'a, T>,
    /// The gradient of the loss by the output.
    pub gradient: &'a Matrix<'a, T>,
    /// Whether anybody needs the gradient by the input; the first layer's is not needed.
    pub needs_input_gradient: bool,
}

/// `[channels, rows, cols]` of a sample that is an image.
pub(crate) fn image(shape: &[usize]) -> Option<[usize; 3]> {
    shape.try_into().ok()
}

/// The shape of a batch of images.
pub(crate) fn images(batch: usize, [channels, rows, cols]: [usize; 3]) -> [usize; 4] {
    [batch, channels, rows, cols]
}

/// Flattens a batch of images, which copies nothing.
pub(crate) fn flat<T: Element>(images: Tensor<'_, T>) -> dahl::Result<Matrix<'_, T>> {
    let [batch, features @ ..] = images.shape();
    images.reshape([batch, features.iter().product()])
}
