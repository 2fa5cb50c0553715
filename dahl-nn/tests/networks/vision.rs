//! Networks of images.

use dahl::ops::{self, ConvolutionGeometry, relu_init, sigmoid_init};
use dahl::prelude::*;
use dahl_nn::prelude::*;

use super::{compare, labels, start_from, wave};

#[derive(Module)]
struct Mlp<'m, T: Real> {
    input: Linear<'m, T>,
    norm: BatchNorm<'m, T>,
    output: Linear<'m, T>,
}

impl<T: Real> Mlp<'_, T> {
    fn forward<'s>(&self, step: &'s Step<'_>, x: &Matrix<'_, T>) -> dahl::Result<Matrix<'s, T>> {
        let hidden = relu_init(step, &self.norm.forward(step, &self.input.forward(step, x)?)?)?;
        self.output.forward(step, &hidden)
    }
}

fn mlp<T: Real>(max_relative: f64) -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let mut init = Init::new(&arena, 1);
    let (input, norm) = (Linear::new(&mut init, 12, 16)?, BatchNorm::new(&mut init, 16)?);
    let mut model = Mlp::<T> { input, norm, output: Linear::new(&mut init, 16, 5)? };
    start_from(&mut model, "mlp")?;
    let (x, y) = (wave(&rt, [24, 12])?, labels(&rt, 24, 5)?);
    let mut sgd = Sgd::new(0.1).momentum(0.9);
    compare("mlp", max_relative, &mut model, |model, _| {
        let loss = model
            .learn(&rt, |step, model| CrossEntropy.of(step, &model.forward(step, &x)?, &y, 1.0 / 24.0))?;
        sgd.step(model)?;
        Ok(loss)
    })
}

#[derive(Module)]
struct LeNet<'m, T: Real> {
    conv1: Conv2d<'m, T>,
    conv2: Conv2d<'m, T>,
    fc1: Linear<'m, T>,
    fc2: Linear<'m, T>,
}

impl<T: Real> LeNet<'_, T> {
    fn forward<'s>(&self, step: &'s Step<'_>, x: &Tensor<'_, T>) -> dahl::Result<Matrix<'s, T>> {
        let x = self.conv1.forward_relu_max_pool(step, x, 2)?;
        let x = self.conv2.forward_relu_max_pool(step, &x, 2)?;
        let [batch, features @ ..] = x.shape();
        let x = x.reshape([batch, features.iter().product()])?;
        self.fc2.forward(step, &relu_init(step, &self.fc1.forward(step, &x)?)?)
    }
}

fn lenet<T: Real>(max_relative: f64) -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let mut init = Init::new(&arena, 1);
    let padded = Conv2dOptions { padding: [2; 2], ..Conv2dOptions::square(5) };
    let mut model = LeNet::<T> {
        conv1: Conv2d::new(&mut init, 1, 6, padded)?,
        conv2: Conv2d::new(&mut init, 6, 16, Conv2dOptions::square(5))?,
        fc1: Linear::new(&mut init, 16 * 3 * 3, 24)?,
        fc2: Linear::new(&mut init, 24, 10)?,
    };
    start_from(&mut model, "lenet")?;
    let (x, y) = (wave(&rt, [8, 1, 20, 20])?, labels(&rt, 8, 10)?);
    let mut adam = Adam::new(1e-3);
    compare("lenet", max_relative, &mut model, |model, _| {
        let loss = model
            .learn(&rt, |step, model| CrossEntropy.of(step, &model.forward(step, &x)?, &y, 1.0 / 8.0))?;
        adam.step(model)?;
        Ok(loss)
    })
}

#[derive(Module)]
struct Residual<'m, T: Real> {
    conv1: Conv2d<'m, T>,
    norm1: BatchNorm<'m, T>,
    conv2: Conv2d<'m, T>,
    norm2: BatchNorm<'m, T>,
    shortcut: Option<Conv2d<'m, T>>,
}

impl<'m, T: Real> Residual<'m, T> {
    fn new(init: &mut Init<'m>, inputs: usize, channels: usize, stride: usize) -> dahl::Result<Self> {
        let padded = Conv2dOptions { padding: [1; 2], ..Conv2dOptions::square(3) };
        let strided = Conv2dOptions { stride: [stride; 2], ..padded };
        let short = Conv2dOptions { stride: [stride; 2], ..Conv2dOptions::square(1) };
        Ok(Self {
            conv1: Conv2d::new(init, inputs, channels, strided)?,
            norm1: BatchNorm::new(init, channels)?,
            conv2: Conv2d::new(init, channels, channels, padded)?,
            norm2: BatchNorm::new(init, channels)?,
            shortcut: (stride != 1).then(|| Conv2d::new(init, inputs, channels, short)).transpose()?,
        })
    }

    fn forward<'s>(&self, step: &'s Step<'_>, x: &Tensor<'_, T>) -> dahl::Result<Tensor<'s, T>> {
        let out = relu_init(step, &self.norm1.forward(step, &self.conv1.forward(step, x)?)?)?;
        let out = self.norm2.forward(step, &self.conv2.forward(step, &out)?)?;
        let sum = match &self.shortcut {
            Some(shortcut) => ops::add_init(step, &out, &shortcut.forward(step, x)?)?,
            None => ops::add_init(step, &out, x)?,
        };
        relu_init(step, &sum)
    }
}

#[derive(Module)]
struct ResNet<'m, T: Real> {
    conv: Conv2d<'m, T>,
    norm: BatchNorm<'m, T>,
    blocks: Vec<Residual<'m, T>>,
    output: Linear<'m, T>,
}

impl<T: Real> ResNet<'_, T> {
    fn forward<'s>(&self, step: &'s Step<'_>, x: &Tensor<'_, T>) -> dahl::Result<Matrix<'s, T>> {
        let mut x = relu_init(step, &self.norm.forward(step, &self.conv.forward(step, x)?)?)?;
        for block in &self.blocks {
            x = block.forward(step, &x)?;
        }
        let [batch, channels, rows, cols] = x.shape();
        let means = ops::mean_axis_init(step, &*x.reshaped([batch * channels, rows * cols])?, 1)?;
        self.output.forward(step, &means.reshape([batch, channels])?)
    }
}

fn resnet<T: Real>(max_relative: f64) -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let mut init = Init::new(&arena, 1);
    let padded = Conv2dOptions { padding: [1; 2], ..Conv2dOptions::square(3) };
    let mut model = ResNet::<T> {
        conv: Conv2d::new(&mut init, 3, 4, padded)?,
        norm: BatchNorm::new(&mut init, 4)?,
        blocks: vec![
            Residual::new(&mut init, 4, 4, 1)?,
            Residual::new(&mut init, 4, 8, 2)?,
            Residual::new(&mut init, 8, 16, 2)?,
        ],
        output: Linear::new(&mut init, 16, 10)?,
    };
    start_from(&mut model, "resnet")?;
    let (x, y) = (wave(&rt, [6, 3, 12, 12])?, labels(&rt, 6, 10)?);
    let mut sgd = Sgd::new(0.05).momentum(0.9).weight_decay(1e-4);
    let schedule = StepDecay::new(0.05, 40).factor(0.5);
    compare("resnet", max_relative, &mut model, |model, index| {
        let loss = model
            .learn(&rt, |step, model| CrossEntropy.of(step, &model.forward(step, &x)?, &y, 1.0 / 6.0))?;
        sgd.set_learning_rate(schedule.at(index));
        sgd.step(model)?;
        Ok(loss)
    })
}

#[derive(Module)]
struct Autoencoder<'m, T: Real> {
    encode1: Conv2d<'m, T>,
    encode2: Conv2d<'m, T>,
    decode1: ConvTranspose2d<'m, T>,
    decode2: ConvTranspose2d<'m, T>,
}

impl<T: Real> Autoencoder<'_, T> {
    fn forward<'s>(&self, step: &'s Step<'_>, x: &Tensor<'_, T>) -> dahl::Result<Tensor<'s, T>> {
        let x = self.encode2.forward_relu(step, &self.encode1.forward_relu(step, x)?)?;
        let x = relu_init(step, &self.decode1.forward(step, &x)?)?;
        sigmoid_init(step, &self.decode2.forward(step, &x)?)
    }
}

fn autoencoder<T: Real>(max_relative: f64) -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let mut init = Init::new(&arena, 1);
    let down = Conv2dOptions { stride: [2; 2], padding: [1; 2], ..Conv2dOptions::square(3) };
    let up = ConvolutionGeometry::default().stride([2; 2]).padding([1; 2]);
    let mut model = Autoencoder::<T> {
        encode1: Conv2d::new(&mut init, 1, 4, down)?,
        encode2: Conv2d::new(&mut init, 4, 8, down)?,
        decode1: ConvTranspose2d::new(&mut init, 8, 4, [3; 2], up)?.output_padding([1; 2]),
        decode2: ConvTranspose2d::new(&mut init, 4, 1, [3; 2], up)?.output_padding([1; 2]),
    };
    start_from(&mut model, "autoencoder")?;
    let mut grey = wave::<T, 4>(&rt, [5, 1, 8, 8])?;
    let half = T::from_f64(0.5);
    grey.write()?.iter_mut().for_each(|value| *value = T::from_f64(value.to_f64() * 0.5) + half);
    let mut adam = Adam::new(1e-2);
    compare("autoencoder", max_relative, &mut model, |model, _| {
        let loss = model.learn(&rt, |step, model| {
            ops::mean_squared_error_init(step, &model.forward(step, &grey)?, &grey, 1.0 / 320.0)
        })?;
        adam.step(model)?;
        Ok(loss)
    })
}

#[test]
fn an_mlp_with_batch_normalisation() -> dahl::Result<()> {
    mlp::<f64>(1e-10)?;
    mlp::<f32>(1e-5)
}

#[test]
fn lenet_with_adam() -> dahl::Result<()> {
    lenet::<f64>(1e-10)
}

#[test]
fn a_residual_network_with_momentum_and_a_schedule() -> dahl::Result<()> {
    resnet::<f64>(1e-10)
}

#[test]
fn an_autoencoder_with_transposed_convolutions() -> dahl::Result<()> {
    autoencoder::<f64>(1e-10)?;
    autoencoder::<f32>(1e-5)
}
