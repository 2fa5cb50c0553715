//! [`Sequential`]: a sequence of layers.

use std::fmt;

use dahl::ops;
use dahl::prelude::*;

use super::features::{Dense, Flatten, Rectifier};
use super::images::{Convolution, Pooling};
use super::layer::{Layer, image};
use crate::error::{Error, Result};
use crate::layer::Conv2dOptions;
use crate::module::{Init, Member, Module, Visit, VisitMut};
use crate::setting::{Settings, listed};
use crate::step::Step;

/// Bytes of activations that may be in flight.
const BYTES_AHEAD: usize = 64 << 20;

/// Batches that may be in flight, however small.
const BATCHES_AHEAD: usize = 64;

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
    init: Init<'m>,
    settings: Settings,
    layers: Vec<Box<dyn Layer<T> + 'm>>,
    /// For each layer, whether an earlier layer has fused it.
    fused: Vec<bool>,
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
        let init = Init::new(arena, seed);
        Self { arena, input: input.to_vec(), init, settings, layers: Vec::new(), fused: Vec::new() }
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
    pub fn conv2d_with(mut self, filters: usize, options: Conv2dOptions) -> dahl::Result<Self> {
        let input = self.image_shape("conv2d")?;
        let layer = Convolution::new(&mut self.init, input, filters, options);
        let layer = layer.map_err(|error| self.at_layer("conv2d", error))?;
        Ok(self.push(layer))
    }

    /// Adds a rectified linear unit.
    ///
    /// # Errors
    /// If the samples' shape has no elements.
    #[track_caller]
    pub fn relu(self) -> dahl::Result<Self> {
        self.settings.check()?;
        let layer = Rectifier::new(self.output_shape());
        Ok(self.push(layer))
    }

    /// Adds the maximum over windows of `size` by `size` that do not overlap.
    ///
    /// # Errors
    /// If samples are not images here, or the window does not fit.
    #[track_caller]
    pub fn max_pool2d(self, size: usize) -> dahl::Result<Self> {
        let input = self.image_shape("max_pool2d")?;
        let layer = Pooling::max(input, size).map_err(|error| self.at_layer("max_pool2d", error))?;
        Ok(self.push(layer))
    }

    /// Adds the mean over windows of `size` by `size` that do not overlap.
    ///
    /// # Errors
    /// If samples are not images here, or the window does not fit.
    #[track_caller]
    pub fn avg_pool2d(self, size: usize) -> dahl::Result<Self> {
        let input = self.image_shape("avg_pool2d")?;
        let layer = Pooling::mean(input, size).map_err(|error| self.at_layer("avg_pool2d", error))?;
        Ok(self.push(layer))
    }

    /// Flattens samples to rows of features.
    ///
    /// # Errors
    /// If the samples' shape has no elements.
    #[track_caller]
    pub fn flatten(self) -> dahl::Result<Self> {
        self.settings.check()?;
        let layer = Flatten::new(self.output_shape());
        Ok(self.push(layer))
    }

    /// Adds a fully connected layer with `outputs` outputs.
    ///
    /// # Errors
    /// If samples are not rows of features here, or memory cannot be allocated.
    #[track_caller]
    pub fn dense(mut self, outputs: usize) -> dahl::Result<Self> {
        self.settings.check()?;
        let &[inputs] = self.output_shape() else {
            let fact = format!(
                "it takes rows of features, but samples have shape {:?}; `.flatten()` first",
                self.output_shape()
            );
            return Err(self.mismatch("dense", fact).into());
        };
        let layer = Dense::new(&mut self.init, inputs, outputs);
        let layer = layer.map_err(|error| self.at_layer("dense", error))?;
        Ok(self.push(layer))
    }

    /// Adds a layer of the user's. The next layers take other random numbers than with fewer parameters before them.
    pub fn layer(mut self, layer: impl Layer<T> + 'm) -> Self {
        self.init.numbers(layer.parameter_count());
        self.push(layer)
    }

    fn push(mut self, layer: impl Layer<T> + 'm) -> Self {
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

    /// Maps a batch through the model.
    ///
    /// # Shapes
    /// `input: [batch, features]`, the features of a sample in row-major order.
    ///
    /// # Errors
    /// Those of the layers.
    pub fn forward<'s>(&self, step: &'s Step<'_>, input: &Matrix<'_, T>) -> dahl::Result<Matrix<'s, T>> {
        let mut latest: Option<Matrix<'s, T>> = None;
        for (_, layer) in self.computing() {
            latest = Some(layer.forward(step, latest.as_ref().unwrap_or(input))?);
        }
        latest.map_or_else(|| ops::copy_init(step, input), Ok)
    }

    /// As [`forward`](Self::forward), with `run` around the call of each layer, whose number it takes.
    pub(crate) fn forward_on<'s>(
        &self,
        step: &'s Step<'_>,
        input: &Matrix<'_, T>,
        run: impl Fn(usize, &dyn Fn() -> dahl::Result<Matrix<'s, T>>) -> dahl::Result<Matrix<'s, T>>,
    ) -> dahl::Result<Matrix<'s, T>> {
        let mut latest: Option<Matrix<'s, T>> = None;
        for (number, layer) in self.computing() {
            let input = latest.as_ref().unwrap_or(input);
            latest = Some(run(number, &|| layer.forward(step, input))?);
        }
        latest.map_or_else(|| ops::copy_init(step, input), Ok)
    }

    /// The layers that submit tasks, with their numbers.
    fn computing(&self) -> impl Iterator<Item = (usize, &(dyn Layer<T> + 'm))> {
        let layers = self.layers.iter().zip(&self.fused).enumerate();
        layers
            .filter(|(_, (layer, fused))| !**fused && !layer.is_identity())
            .map(|(number, (layer, _))| (number, &**layer))
    }

    /// The number of layers.
    pub(crate) fn layers(&self) -> usize {
        self.layers.len()
    }

    /// The number of parameters of each layer, biases apart from weights.
    pub(crate) fn parameters_of_layers(&self) -> Vec<usize> {
        let count = |layer: &(dyn Layer<T> + 'm)| {
            let mut count = 0;
            Visit::all(layer, &mut |_, member| count += usize::from(matches!(member, Member::Parameter(_))));
            count
        };
        self.layers.iter().map(|layer| count(&**layer)).collect()
    }
}

/// Parameters are named as those of PyTorch's `nn.Sequential` of the same layers: `0.weight`, `0.bias`, `4.weight`, ..
impl<T: Real> Module<T> for Sequential<'_, T> {
    fn visit<'a>(&'a self, visit: &mut Visit<'_, 'a, T>) {
        for (index, layer) in self.layers.iter().enumerate() {
            visit.field(index, &**layer);
        }
    }

    fn visit_mut(&mut self, visit: &mut VisitMut<'_, T>) {
        for (index, layer) in self.layers.iter_mut().enumerate() {
            visit.field(index, &mut **layer);
        }
    }
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
            let count = layer.parameter_count();
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
