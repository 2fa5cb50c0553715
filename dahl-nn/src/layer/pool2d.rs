//! [`MaxPool2d`] and [`AvgPool2d`]: the maximum or the mean of windows that do not overlap.

use dahl::ops::{self, Pool2dGeometry};
use dahl::prelude::*;

use super::{Backward, Epilogue, Forward, Layer, flat, images};
use crate::setting;

/// The maximum of each window of every channel. Its index is kept for the backward pass.
///
/// # Shapes
/// Samples `[channels, rows, cols]` to `[channels, rows / size, cols / size]`; the remainder is not read.
#[derive(Debug)]
pub struct MaxPool2d {
    window: Window,
}

/// The mean of each window of every channel.
///
/// # Shapes
/// As for [`MaxPool2d`].
#[derive(Debug)]
pub struct AvgPool2d {
    window: Window,
}

/// A square window whose stride is its size.
#[derive(Debug, Clone, Copy)]
struct Window {
    input: [usize; 3],
    output: [usize; 3],
    size: usize,
}

impl Window {
    #[track_caller]
    fn new(setting: &'static str, [channels, rows, cols]: [usize; 3], size: usize) -> dahl::Result<Self> {
        setting::require(size > 0, setting, size, "a number from 1")?;
        let output = [channels, rows / size, cols / size];
        let value = format!("{size} on images of {:?}", [channels, rows, cols]);
        setting::require(!output[1..].contains(&0), setting, value, "a window that fits the images")?;
        Ok(Self { input: [channels, rows, cols], output, size })
    }

    fn extents(&self) -> [usize; 2] {
        [self.size; 2]
    }

    fn detail(&self) -> String {
        format!("{0}x{0}", self.size)
    }
}

impl MaxPool2d {
    /// A layer with a window of `size` by `size` for samples of shape `input`.
    ///
    /// # Errors
    /// If the window is empty or does not fit.
    #[track_caller]
    pub fn new(input: [usize; 3], size: usize) -> dahl::Result<Self> {
        Ok(Self { window: Window::new("MaxPool2d: size", input, size)? })
    }
}

impl AvgPool2d {
    /// A layer with a window of `size` by `size` for samples of shape `input`.
    ///
    /// # Errors
    /// If the window is empty or does not fit.
    #[track_caller]
    pub fn new(input: [usize; 3], size: usize) -> dahl::Result<Self> {
        Ok(Self { window: Window::new("AvgPool2d: size", input, size)? })
    }
}

impl<'m, T: Real> Layer<'m, T> for MaxPool2d {
    fn name(&self) -> &'static str {
        "max_pool2d"
    }

    fn detail(&self) -> String {
        self.window.detail()
    }

    fn output_shape(&self) -> &[usize] {
        &self.window.output
    }

    fn epilogue(&self) -> Option<Epilogue> {
        Some(Epilogue::MaxPool2d { size: self.window.size })
    }

    fn forward<'s>(&self, step: &'s Arena, input: &Matrix<'_, T>) -> dahl::Result<Forward<'s, T>> {
        let input = input.reshaped(images(input.shape()[0], self.window.input))?;
        let size = self.window.extents();
        let (output, argmax) = ops::max_pool2d_init(step, &input, Pool2dGeometry::new(size))?;
        Ok(Forward { output: flat(output)?, argmax: Some(flat(argmax)?) })
    }

    fn backward<'s>(
        &mut self,
        step: &'s Arena,
        pass: Backward<'_, T>,
    ) -> dahl::Result<Option<Matrix<'s, T>>> {
        let Some(argmax) = pass.forward.argmax.as_ref().filter(|_| pass.needs_input_gradient) else {
            return Ok(None);
        };
        let batch = pass.input.shape()[0];
        let gradient = pass.gradient.reshaped(images(batch, self.window.output))?;
        let argmax = argmax.reshaped(images(batch, self.window.output))?;
        let mut by_input = step.zeros(images(batch, self.window.input))?;
        ops::max_pool2d_backward(&gradient, &argmax, &mut by_input)?;
        flat(by_input).map(Some)
    }
}

impl<'m, T: Real> Layer<'m, T> for AvgPool2d {
    fn name(&self) -> &'static str {
        "avg_pool2d"
    }

    fn detail(&self) -> String {
        self.window.detail()
    }

    fn output_shape(&self) -> &[usize] {
        &self.window.output
    }

    fn forward<'s>(&self, step: &'s Arena, input: &Matrix<'_, T>) -> dahl::Result<Forward<'s, T>> {
        let input = input.reshaped(images(input.shape()[0], self.window.input))?;
        let size = self.window.extents();
        ops::avg_pool2d_init(step, &input, Pool2dGeometry::new(size)).and_then(flat).map(Forward::new)
    }

    fn backward<'s>(
        &mut self,
        step: &'s Arena,
        pass: Backward<'_, T>,
    ) -> dahl::Result<Option<Matrix<'s, T>>> {
        if !pass.needs_input_gradient {
            return Ok(None);
        }
        let (batch, size) = (pass.input.shape()[0], self.window.extents());
        let gradient = pass.gradient.reshaped(images(batch, self.window.output))?;
        let mut by_input = step.zeros(images(batch, self.window.input))?;
        ops::avg_pool2d_backward(&gradient, &mut by_input, Pool2dGeometry::new(size))?;
        flat(by_input).map(Some)
    }
}
