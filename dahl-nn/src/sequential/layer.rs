//! [`Layer`]: a layer of a [`Sequential`](super::Sequential), which knows the shape of a sample.

use dahl::prelude::*;

use crate::module::Module;
use crate::step::Step;

/// One layer of a [`Sequential`](super::Sequential): a module that maps batches, and knows the shape of a sample's output.
///
/// Layers exchange batches as matrices, `[batch, features]`, with the features of a sample in row-major order. A layer of
/// images reshapes its input, which copies nothing.
pub trait Layer<T: Real>: Module<T> + Send {
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

    /// Fuses the epilogue of the next layer. Returns whether it did: its output is then that of the next layer, and a
    /// model skips that layer.
    fn fuse(&mut self, next: Epilogue) -> bool {
        let _ = next;
        false
    }

    /// Maps a batch through the layer.
    ///
    /// # Shapes
    /// `input: [batch, input features]`; the output `[batch, output features]`.
    ///
    /// # Errors
    /// Those of the operations that it submits.
    fn forward<'s>(&self, step: &'s Step<'_>, input: &Matrix<'_, T>) -> dahl::Result<Matrix<'s, T>>;
}

/// An operation without parameters that a layer can fuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Epilogue {
    /// The rectified linear unit.
    Relu,
    /// The maximum over windows that do not overlap.
    MaxPool2d {
        /// The extent of the window.
        size: usize,
    },
}

/// `[channels, rows, cols]` of a sample that is an image.
pub(super) fn image(shape: &[usize]) -> Option<[usize; 3]> {
    shape.try_into().ok()
}

/// The shape of a batch of images.
pub(super) fn images(batch: usize, [channels, rows, cols]: [usize; 3]) -> [usize; 4] {
    [batch, channels, rows, cols]
}

/// Views a batch of images as a matrix, without copying.
pub(super) fn flat<T: Element>(images: Tensor<'_, T>) -> dahl::Result<Matrix<'_, T>> {
    let [batch, features @ ..] = images.shape();
    images.reshape([batch, features.iter().product()])
}
