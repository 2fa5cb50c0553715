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
/// Its parameters live for `'m`, as long as the model's arena. Arrays of one step live in `step`, for `'s`.
pub trait Layer<'m, T: Real>: Send {
    /// The name that a model prints: `conv2d`.
    fn name(&self) -> &'static str;

    /// A description for display: `1->4, 3x3`. Empty if there is nothing to add to the name.
    fn detail(&self) -> String {
        String::new()
    }

    /// The shape of a sample's output.
    fn output_shape(&self) -> &[usize];

    /// Whether the output is the input, with another shape for the next layer. A model then skips the layer.
    fn is_identity(&self) -> bool {
        false
    }

    /// The operation of this layer, if it can be the epilogue of the preceding layer, which may fuse it into its own
    /// kernel.
    fn epilogue(&self) -> Option<Epilogue> {
        None
    }

    /// Fuses the epilogue of the next layer. Returns whether it did: its output, and the gradient that its backward
    /// pass receives, are then those of the next layer, and a model skips that layer.
    fn fuse(&mut self, next: Epilogue) -> bool {
        let _ = next;
        false
    }

    /// Its parameters, in PyTorch's order.
    fn parameters(&self) -> &[Parameter<'m, T>] {
        &[]
    }

    /// Its parameters, in PyTorch's order, mutably.
    fn parameters_mut(&mut self) -> &mut [Parameter<'m, T>] {
        &mut []
    }

    /// Maps a batch through the layer.
    ///
    /// # Shapes
    /// `input: [batch, input features]`; the output `[batch, output features]`.
    ///
    /// # Errors
    /// Those of the operations that it submits.
    fn forward<'s>(&self, step: &'s Arena, input: &Matrix<'_, T>) -> dahl::Result<Forward<'s, T>>;

    /// Adds the gradients by the parameters to those of the parameters, and returns the gradient by the input.
    ///
    /// # Errors
    /// Those of the operations that it submits.
    fn backward<'s>(&mut self, step: &'s Arena, pass: Backward<'_, T>)
    -> dahl::Result<Option<Matrix<'s, T>>>;
}

/// An operation without parameters that a layer can fuse.
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

/// The results of a layer's forward pass.
#[derive(Debug)]
pub struct Forward<'s, T: Real> {
    /// The output.
    pub output: Matrix<'s, T>,
    /// The further results that the backward pass needs: indices, such as those of max pooling.
    pub argmax: Option<Matrix<'s, u32>>,
}

impl<'s, T: Real> Forward<'s, T> {
    /// An output, without further results for the backward pass.
    pub fn new(output: Matrix<'s, T>) -> Self {
        Self { output, argmax: None }
    }
}

/// The inputs of a layer's backward pass.
#[derive(Debug, Clone, Copy)]
pub struct Backward<'a, T: Real> {
    /// The input of the forward pass.
    pub input: &'a Matrix<'a, T>,
    /// The results of the forward pass.
    pub forward: &'a Forward<'a, T>,
    /// The gradient of the loss by the output.
    pub gradient: &'a Matrix<'a, T>,
    /// Whether the gradient by the input is needed; that of the first layer is not.
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

/// Views a batch of images as a matrix, without copying.
pub(crate) fn flat<T: Element>(images: Tensor<'_, T>) -> dahl::Result<Matrix<'_, T>> {
    let [batch, features @ ..] = images.shape();
    images.reshape([batch, features.iter().product()])
}
