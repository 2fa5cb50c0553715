//! The layers of images: [`Convolution`] and [`Pooling`].

use dahl::prelude::*;

use super::layer::{Epilogue, Layer, flat, images};
use crate::layer::{AvgPool2d, Conv2d, Conv2dOptions, MaxPool2d};
use crate::module::{Init, Module};
use crate::setting;
use crate::step::Step;

/// A [`Conv2d`] for samples `[in_channels, rows, cols]`. With stride 1 it fuses a rectified linear unit that follows, and a
/// maximum over windows that follows that: all three are one task then.
#[derive(Debug, Module)]
#[module(crate = crate)]
pub(super) struct Convolution<'m, T: Real> {
    #[module(flatten)]
    conv2d: Conv2d<'m, T>,
    input: [usize; 3],
    output: [usize; 3],
    /// Whether it fuses ReLU.
    relu: bool,
    /// The extent of the pooling windows that it fuses, if any.
    pool: Option<usize>,
}

impl<'m, T: Real> Convolution<'m, T> {
    #[track_caller]
    pub(super) fn new(
        init: &mut Init<'m>,
        input: [usize; 3],
        filters: usize,
        options: Conv2dOptions,
    ) -> dahl::Result<Self> {
        setting::require(filters > 0, "Conv2d: filters", filters, "a number from 1")?;
        let conv2d = Conv2d::new(init, input[0], filters, options)?;
        let Some([rows, cols]) = conv2d.output_extents([input[1], input[2]]) else {
            let Conv2dOptions { kernel, padding, .. } = options;
            let value = format!("{kernel:?} on images of {input:?} with padding {padding:?}");
            let expected = "a kernel that fits the padded images";
            return Err(setting::wrong("Conv2d: kernel", value, expected).into());
        };
        Ok(Self { conv2d, input, output: [filters, rows, cols], relu: false, pool: None })
    }
}

impl<T: Real> Layer<T> for Convolution<'_, T> {
    fn name(&self) -> &'static str {
        "conv2d"
    }

    fn detail(&self) -> String {
        let Conv2dOptions { kernel: [rows, cols], stride, padding } = self.conv2d.options();
        let mut text = format!("{}->{}, {rows}x{cols}", self.input[0], self.output[0]);
        if stride != [1; 2] {
            text += &format!(", stride {}x{}", stride[0], stride[1]);
        }
        if padding != [0; 2] {
            text += &format!(", padding {}x{}", padding[0], padding[1]);
        }
        text
    }

    fn output_shape(&self) -> &[usize] {
        &self.output
    }

    fn fuse(&mut self, next: Epilogue) -> bool {
        match next {
            Epilogue::Relu if !self.relu && self.conv2d.options().stride == [1; 2] => self.relu = true,
            Epilogue::MaxPool2d { size } if self.relu && self.pool.is_none() => self.pool = Some(size),
            _ => return false,
        }
        true
    }

    fn forward<'s>(&self, step: &'s Step<'_>, input: &Matrix<'_, T>) -> dahl::Result<Matrix<'s, T>> {
        let input = input.reshaped(images(input.shape()[0], self.input))?;
        flat(match self.pool {
            Some(size) => self.conv2d.forward_relu_max_pool(step, &input, size)?,
            None if self.relu => self.conv2d.forward_relu(step, &input)?,
            None => self.conv2d.forward(step, &input)?,
        })
    }
}

/// What a [`Pooling`] takes of each window.
#[derive(Debug, Module)]
#[module(crate = crate)]
enum Statistic {
    Max(MaxPool2d),
    Mean(AvgPool2d),
}

/// The maximum or the mean of windows of samples `[channels, rows, cols]`.
#[derive(Debug, Module)]
#[module(crate = crate)]
pub(super) struct Pooling {
    of: Statistic,
    input: [usize; 3],
    output: [usize; 3],
    size: usize,
}

impl Pooling {
    #[track_caller]
    pub(super) fn max(input: [usize; 3], size: usize) -> dahl::Result<Self> {
        Self::new(Statistic::Max(MaxPool2d::new(size)?), "MaxPool2d: size", input, size)
    }

    #[track_caller]
    pub(super) fn mean(input: [usize; 3], size: usize) -> dahl::Result<Self> {
        Self::new(Statistic::Mean(AvgPool2d::new(size)?), "AvgPool2d: size", input, size)
    }

    #[track_caller]
    fn new(of: Statistic, setting: &'static str, input: [usize; 3], size: usize) -> dahl::Result<Self> {
        let [channels, rows, cols] = input;
        let output = [channels, rows / size, cols / size];
        let value = format!("{size} on images of {input:?}");
        setting::require(!output[1..].contains(&0), setting, value, "a window that fits the images")?;
        Ok(Self { of, input, output, size })
    }
}

impl<T: Real> Layer<T> for Pooling {
    fn name(&self) -> &'static str {
        match self.of {
            Statistic::Max(_) => "max_pool2d",
            Statistic::Mean(_) => "avg_pool2d",
        }
    }

    fn detail(&self) -> String {
        format!("{0}x{0}", self.size)
    }

    fn output_shape(&self) -> &[usize] {
        &self.output
    }

    fn epilogue(&self) -> Option<Epilogue> {
        matches!(self.of, Statistic::Max(_)).then_some(Epilogue::MaxPool2d { size: self.size })
    }

    fn forward<'s>(&self, step: &'s Step<'_>, input: &Matrix<'_, T>) -> dahl::Result<Matrix<'s, T>> {
        let input = input.reshaped(images(input.shape()[0], self.input))?;
        flat(match &self.of {
            Statistic::Max(pool) => pool.forward(step, &*input)?,
            Statistic::Mean(pool) => pool.forward(step, &*input)?,
        })
    }
}
