//! [`Sequential`]: a sequence of layers.

use std::fmt;

use dahl::ops::Philox;
use dahl::prelude::*;

use crate::error::{Error, Result};
use crate::layer::{
    AvgPool2d, Backward, Conv2d, Conv2dOptions, Dense, Flatten, Forward, Layer, MaxPool2d, Parameter, Relu,
    image,
};
use crate::setting::{Settings, listed};

/// Bytes of activations that may be in flight.
const BYTES_AHEAD: usize = 64 << 20;

/// Batches that may be in flight, however small.
const BATCHES_AHEAD: usize = 64;

/// Layers whose activations are kept without an allocation.
const LAYERS: usize = 12;

/// A sequence of layers. Each is constructed for the output shape of the layer before it.
///
/// Layers are numbered from 0, those without parameters too, so that parameters have the names of PyTorch's
/// `nn.Sequential` of the same layers: `0.weight`, `0.bias`, `4.weight`, ..
///
/// ```
/// # fn main() -> dahl::Result<()> {
/// use dahl::prelude::*;
/// use dahl_nn::prelude::*;
///
/// let rt = Runtime::new()?;
/// let arena = rt.arena();
/// let model = Sequential::<f32>::new(&arena, [1, 28, 28], 42).conv2d(4, 3)?.relu()?.max_pool2d(2)?.flatten()?.dense(10)?;
/// assert_eq!(model.output_shape(), [10]);
/// assert_eq!(model.parameter_count(), 4 * 9 + 4 + 4 * 13 * 13 * 10 + 10);
/// # Ok(())
/// # }
/// ```
pub struct Sequential<'m, T: Real> {
    arena: &'m Arena,
    input: Vec<usize>,
    seed: u64,
    settings: Settings,
    layers: Vec<Box<dyn Layer<'m, T> + 'm>>,
    /// For each layer, whether an earlier layer has fused it.
    fused: Vec<bool>,
}

/// The activations of a forward pass, kept for the backward pass: the results of each layer that ran.
pub struct Activations<'s, T: Real> {
    first: [Option<Forward<'s, T>>; LAYERS],
    more: Vec<Option<Forward<'s, T>>>,
}

impl<'s, T: Real> Activations<'s, T> {
    fn new(layers: usize) -> Self {
        let mut more = Vec::new();
        more.resize_with(layers.saturating_sub(LAYERS), || None);
        Self { first: [const { None }; LAYERS], more }
    }

    /// The results of layer `index`.
    fn of_layer(&self, index: usize) -> Option<&Forward<'s, T>> {
        let more = index.checked_sub(LAYERS);
        more.map_or_else(|| &self.first[index], |index| &self.more[index]).as_ref()
    }

    fn of_layer_mut(&mut self, index: usize) -> &mut Option<Forward<'s, T>> {
        match index.checked_sub(LAYERS) {
            None => &mut self.first[index],
            Some(index) => &mut self.more[index],
        }
    }

    /// The output of the last layer before layer `index` that ran.
    fn before(&self, index: usize) -> Option<&Matrix<'s, T>> {
        (0..index).rev().find_map(|index| self.of_layer(index)).map(|forward| &forward.output)
    }

    /// The output of the last layer that ran; none if no layer did.
    pub fn output(&self) -> Option<&Matrix<'_, T>> {
        self.before(LAYERS + self.more.len())
    }

    /// The input of layer `index`, where `input` is that of the model.
    fn input_of<'a>(&'a self, index: usize, input: &'a Matrix<'_, T>) -> &'a Matrix<'a, T> {
        self.before(index).map_or(input, |output| output)
    }
}

impl<'m, T: Real> Sequential<'m, T> {
    /// A model without layers, for samples of shape `input`. Its parameters will live in `arena`, and are drawn with
    /// the random numbers of `seed`. If the shape has no elements, the next call that can fail returns the error.
    #[track_caller]
    pub fn new<const N: usize>(arena: &'m Arena, input: [usize; N], seed: u64) -> Self {
        let mut settings = Settings::default();
        let len = input.iter().try_fold(1_usize, |len, &extent| len.checked_mul(extent));
        let expected = "extents from 1, and elements that can be counted";
        settings.require(len.is_some_and(|len| len > 0), "Sequential: input", listed(&input), expected);
        Self { arena, input: input.to_vec(), seed, settings, layers: Vec::new(), fused: Vec::new() }
    }

    /// Adds a convolution with `filters` square filters of `size` by `size`, with stride 1, without padding.
    ///
    /// # Errors
    /// If samples are not images here, there are no filters, or they are empty or do not fit; or if memory cannot be
    /// allocated.
    #[track_caller]
    pub fn conv2d(self, filters: usize, size: usize) -> dahl::Result<Self> {
        self.conv2d_with(filters, Conv2dOptions::square(size))
    }

    /// Adds a convolution with `filters` filters.
    ///
    /// # Errors
    /// As [`conv2d`](Self::conv2d).
    #[track_caller]
    pub fn conv2d_with(self, filters: usize, options: Conv2dOptions) -> dahl::Result<Self> {
        let input = self.image_shape("conv2d")?;
        let layer = Conv2d::new(self.arena, input, filters, options, self.numbers());
        let layer = layer.map_err(|error| self.at_layer("conv2d", error))?;
        Ok(self.layer(layer))
    }

    /// Adds a rectified linear unit.
    ///
    /// # Errors
    /// If the samples' shape has no elements.
    #[track_caller]
    pub fn relu(self) -> dahl::Result<Self> {
        self.settings.check()?;
        let layer = Relu::new(self.output_shape());
        Ok(self.layer(layer))
    }

    /// Adds the maximum over windows of `size` by `size` that do not overlap.
    ///
    /// # Errors
    /// If samples are not images here, or the window does not fit.
    #[track_caller]
    pub fn max_pool2d(self, size: usize) -> dahl::Result<Self> {
        let input = self.image_shape("max_pool2d")?;
        let layer = MaxPool2d::new(input, size).map_err(|error| self.at_layer("max_pool2d", error))?;
        Ok(self.layer(layer))
    }

    /// Adds the mean over windows of `size` by `size` that do not overlap.
    ///
    /// # Errors
    /// If samples are not images here, or the window does not fit.
    #[track_caller]
    pub fn avg_pool2d(self, size: usize) -> dahl::Result<Self> {
        let input = self.image_shape("avg_pool2d")?;
        let layer = AvgPool2d::new(input, size).map_err(|error| self.at_layer("avg_pool2d", error))?;
        Ok(self.layer(layer))
    }

    /// Flattens samples to rows of features.
    ///
    /// # Errors
    /// If the samples' shape has no elements.
    #[track_caller]
    pub fn flatten(self) -> dahl::Result<Self> {
        self.settings.check()?;
        let layer = Flatten::new(self.output_shape());
        Ok(self.layer(layer))
    }

    /// Adds a fully connected layer with `outputs` outputs.
    ///
    /// # Errors
    /// If samples are not rows of features here, or memory cannot be allocated.
    #[track_caller]
    pub fn dense(self, outputs: usize) -> dahl::Result<Self> {
        self.settings.check()?;
        let &[inputs] = self.output_shape() else {
            let fact = format!(
                "it takes rows of features, but samples have shape {:?}; `.flatten()` first",
                self.output_shape()
            );
            return Err(self.mismatch("dense", fact).into());
        };
        let layer = Dense::new(self.arena, inputs, outputs, self.numbers());
        let layer = layer.map_err(|error| self.at_layer("dense", error))?;
        Ok(self.layer(layer))
    }

    /// Adds a layer of the user's.
    pub fn layer(mut self, layer: impl Layer<'m, T> + 'm) -> Self {
        let before = self.fused.iter().rposition(|fused| !fused);
        let fused = match (layer.epilogue(), before) {
            (Some(epilogue), Some(before)) => self.layers[before].fuse(epilogue),
            _ => false,
        };
        self.fused.push(fused);
        self.layers.push(Box::new(layer));
        self
    }

    fn image_shape(&self, layer: &'static str) -> Result<[usize; 3]> {
        self.settings.check()?;
        image(self.output_shape()).ok_or_else(|| {
            let fact = format!(
                "it takes images [channels, rows, cols], but samples have shape {:?}",
                self.output_shape()
            );
            self.mismatch(layer, fact)
        })
    }

    /// The random numbers for the next layer's parameters.
    fn numbers(&self) -> Philox {
        Philox::new(self.seed).skip(self.parameter_count() as u64)
    }

    /// The error, with the layer's index if it is about a setting.
    fn at_layer(&self, layer: &'static str, error: dahl::Error) -> dahl::Error {
        let fact = match error.kind() {
            dahl::ErrorKind::Other(cause) if cause.is::<Error>() => cause.to_string(),
            _ => return error,
        };
        self.mismatch(layer, fact).into()
    }

    fn mismatch(&self, layer: &'static str, fact: String) -> Error {
        Error::Layer { index: self.layers.len(), layer, fact }
    }

    /// The shape of a sample's input.
    pub fn input_shape(&self) -> &[usize] {
        &self.input
    }

    /// The shape of a sample's output.
    pub fn output_shape(&self) -> &[usize] {
        self.layers.last().map_or(&self.input, |layer| layer.output_shape())
    }

    /// The most features of a sample at any layer.
    pub(crate) fn widest(&self) -> usize {
        let shapes = self.layers.iter().map(|layer| layer.output_shape());
        let features = |shape: &[usize]| shape.iter().product::<usize>();
        shapes.map(features).fold(features(&self.input), usize::max)
    }

    /// How many batches of so many samples may be in flight: enough to keep all workers busy, fewer if their
    /// activations take much memory.
    pub(crate) fn batches_ahead(&self, samples: usize) -> usize {
        let layers = self.layers.iter().zip(&self.fused).filter(|(_, fused)| !**fused);
        let features: usize = layers.map(|(layer, _)| layer.output_shape().iter().product::<usize>()).sum();
        // Each activation has a gradient of the same size.
        let bytes = samples.saturating_mul(2 * features).saturating_mul(size_of::<T>());
        (BYTES_AHEAD / bytes.max(1)).clamp(1, BATCHES_AHEAD)
    }

    /// The arena that the parameters live in.
    pub(crate) fn arena(&self) -> &'m Arena {
        self.arena
    }

    /// The number of learned elements.
    pub fn parameter_count(&self) -> usize {
        self.parameters().map(|(_, parameter)| parameter.len()).sum()
    }

    /// The parameters with their names, `0.weight` and so on.
    pub fn parameters(&self) -> impl Iterator<Item = (String, &Parameter<'m, T>)> {
        self.layers.iter().enumerate().flat_map(|(index, layer)| {
            let named = move |parameter: &'_ _| -> String { name_of(index, parameter) };
            layer.parameters().iter().map(move |parameter| (named(parameter), parameter))
        })
    }

    /// The parameters, in order, mutably.
    pub fn parameters_mut(&mut self) -> impl Iterator<Item = &mut Parameter<'m, T>> {
        self.layers.iter_mut().flat_map(|layer| layer.parameters_mut())
    }

    /// Maps a batch through the model.
    ///
    /// # Shapes
    /// `input: [batch, features]`, the features of a sample in row-major order.
    ///
    /// # Errors
    /// Those of the layers.
    pub fn forward<'s>(&self, step: &'s Arena, input: &Matrix<'_, T>) -> dahl::Result<Activations<'s, T>> {
        let mut activations = Activations::new(self.layers.len());
        for (index, layer) in self.layers.iter().enumerate() {
            if !layer.is_identity() && !self.fused[index] {
                *activations.of_layer_mut(index) =
                    Some(layer.forward(step, activations.input_of(index, input))?);
            }
        }
        Ok(activations)
    }

    /// Adds the gradients by the parameters to those of the parameters, from the gradient by the output.
    ///
    /// # Errors
    /// Those of the layers.
    pub fn backward(
        &mut self,
        step: &Arena,
        input: &Matrix<'_, T>,
        activations: &Activations<'_, T>,
        gradient: Matrix<'_, T>,
    ) -> dahl::Result<()> {
        let Some(first) = self.layers.iter().position(|layer| !layer.parameters().is_empty()) else {
            return Ok(());
        };
        let mut latest = gradient;
        for (index, layer) in self.layers.iter_mut().enumerate().skip(first).rev() {
            let Some(forward) = activations.of_layer(index) else { continue };
            let pass = Backward {
                input: activations.input_of(index, input),
                forward,
                gradient: &latest,
                needs_input_gradient: index > first,
            };
            match layer.backward(step, pass)? {
                Some(by_input) => latest = by_input,
                None => break,
            }
        }
        Ok(())
    }
}

fn name_of<T: Real>(index: usize, parameter: &Parameter<'_, T>) -> String {
    format!("{index}.{}", parameter.name)
}

/// One line a layer: number, name, output shape, number of parameters.
impl<T: Real> fmt::Display for Sequential<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<36} {:<16} {:>12}",
            format!("input, {}", T::NAME),
            format!("{:?}", self.input),
            "parameters"
        )?;
        for (index, layer) in self.layers.iter().enumerate() {
            let title = format!("{index:>2} {} {}", layer.name(), layer.detail());
            let count: usize = layer.parameters().iter().map(|parameter| parameter.len()).sum();
            writeln!(f, "{title:<36} {:<16} {count:>12}", format!("{:?}", layer.output_shape()))?;
        }
        write!(f, "{:<36} {:<16} {:>12}", "total", "", self.parameter_count())
    }
}

impl<T: Real> fmt::Debug for Sequential<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.layers.iter().map(|layer| layer.name()).collect();
        f.debug_struct("Sequential").field("input", &self.input).field("layers", &names).finish()
    }
}
