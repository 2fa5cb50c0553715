//! A layer, a loss, an optimizer and a data set of a user's, made with public names alone.

use dahl::ops;
use dahl::ops::Philox;
use dahl::prelude::*;
use dahl_nn::layer::{Backward, Forward, Parameter};
use dahl_nn::prelude::*;

/// `out = beta + x * exp(gamma)`, element by element.
#[codelet(R, R, R, W)]
fn stretch<T: Real>(x: T, gamma: T, beta: T) -> T {
    beta + x * gamma.exp()
}

/// Scales and shifts every feature by the same two learned numbers.
struct StretchLayer<'m, T: Real> {
    shape: Vec<usize>,
    /// `gamma` and `beta`.
    parameters: [Parameter<'m, T>; 2],
}

impl<'m, T: Real> StretchLayer<'m, T> {
    fn new(arena: &'m Arena, shape: &[usize]) -> dahl::Result<Self> {
        let gamma = Parameter::uniform(arena, "gamma", &[1], 0.1, Philox::new(1))?;
        let beta = Parameter::uniform(arena, "beta", &[1], 0.1, Philox::new(2))?;
        Ok(Self { shape: shape.to_vec(), parameters: [gamma, beta] })
    }

    /// A parameter for every feature of every sample.
    fn spread<'s>(
        step: &'s Arena,
        parameter: &Parameter<'m, T>,
        shape: [usize; 2],
    ) -> dahl::Result<Matrix<'s, T>> {
        let mut spread = step.zeros(shape)?;
        ops::add_self(&mut spread, &*parameter.value.reshaped([1, 1])?)?;
        Ok(spread)
    }
}

impl<'m, T: Real> Layer<'m, T> for StretchLayer<'m, T> {
    fn name(&self) -> &'static str {
        "stretch"
    }

    fn output_shape(&self) -> &[usize] {
        &self.shape
    }

    fn parameters(&self) -> &[Parameter<'m, T>] {
        &self.parameters
    }

    fn parameters_mut(&mut self) -> &mut [Parameter<'m, T>] {
        &mut self.parameters
    }

    fn forward<'s>(&self, step: &'s Arena, input: &Matrix<'_, T>) -> dahl::Result<Forward<'s, T>> {
        let [gamma, beta] = &self.parameters;
        let gamma = Self::spread(step, gamma, input.shape())?;
        let beta = Self::spread(step, beta, input.shape())?;
        stretch_init(step, input, &gamma, &beta).map(Forward::new)
    }

    fn backward<'s>(
        &mut self,
        step: &'s Arena,
        pass: Backward<'_, T>,
    ) -> dahl::Result<Option<Matrix<'s, T>>> {
        let [gamma, beta] = &mut self.parameters;
        let spread = Self::spread(step, gamma, pass.input.shape())?;
        let factor = ops::exp_init(step, &spread)?;
        let by_input = ops::mul_init(step, pass.gradient, &factor)?;
        let by_gamma = ops::mul_init(step, &by_input, pass.input)?;
        ops::sum(&by_gamma, &mut *gamma.gradient.reshaped_mut([])?)?;
        ops::sum(pass.gradient, &mut *beta.gradient.reshaped_mut([])?)?;
        Ok(Some(by_input))
    }
}

/// `factor * (output[i, j] - (labels[i] == j))^2 / 2`.
#[derive(Clone, Copy)]
struct SquaredError;

impl SquaredError {
    fn error<'s, T: Real>(
        step: &'s Arena,
        output: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
    ) -> dahl::Result<Matrix<'s, T>> {
        let target = ops::one_hot_init::<_, T>(step, labels, output.shape()[1])?;
        ops::sub_init(step, output, &target)
    }
}

impl<T: Real> Loss<T> for SquaredError {
    fn add_to(
        &self,
        step: &Arena,
        total: &mut Scalar<'_, T>,
        output: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
        factor: f64,
    ) -> dahl::Result<()> {
        let error = Self::error(step, output, labels)?;
        let mut squares = ops::mul_init(step, &error, &error)?;
        ops::scale_self(&mut squares, T::from_f64(factor / 2.0))?;
        ops::sum(&squares, total)
    }

    fn gradient<'s>(
        &self,
        step: &'s Arena,
        output: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
        factor: f64,
    ) -> dahl::Result<Matrix<'s, T>> {
        let mut error = Self::error(step, output, labels)?;
        ops::scale_self(&mut error, T::from_f64(factor))?;
        Ok(error)
    }
}

/// Steps of one size, against the sign of the gradient.
#[codelet(RW, R)]
fn step_by_sign<T: Real>(value: &mut [T], gradient: &[T], size: f64) {
    for (value, gradient) in value.iter_mut().zip(gradient) {
        let step = if *gradient == T::ZERO { T::ZERO } else { T::from_f64(size).copysign(*gradient) };
        *value -= step;
    }
}

struct SignDescent(f64);

impl<T: Real> Optimizer<T> for SignDescent {
    fn update(&mut self, _: usize, parameter: &mut Parameter<'_, T>) -> dahl::Result<()> {
        step_by_sign(&mut parameter.value, &parameter.gradient, self.0)
    }
}

/// Points in a square, on one side of its diagonal or the other.
struct Triangles;

impl Dataset for Triangles {
    fn len(&self) -> usize {
        400
    }

    fn sample_shape(&self) -> &[usize] {
        &[2]
    }

    fn classes(&self) -> usize {
        2
    }

    fn copy_sample<T: Real>(&self, index: usize, features: &mut [T]) {
        for (axis, feature) in features.iter_mut().enumerate() {
            *feature = T::from_f64(((index as f64 + 1.0) * [0.754_877, 0.569_840][axis]).fract());
        }
    }

    fn label(&self, index: usize) -> u32 {
        let mut point = [0.0; 2];
        self.copy_sample::<f64>(index, &mut point);
        u32::from(point[0] > point[1])
    }
}

#[test]
fn a_model_of_the_users_parts_learns() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let model = Sequential::<f64>::new(&arena, [2], 1).layer(StretchLayer::new(&arena, &[2])?);
    let mut model = model.dense(8)?.relu()?.dense(2)?;
    assert!(model.to_string().contains("stretch"));
    let names: Vec<String> = model.parameters().map(|(name, _)| name).collect();
    assert_eq!(names[..3], ["0.gamma", "0.beta", "1.weight"]);
    let before = model.parameters().next().unwrap().1.value.to_vec()?;
    Trainer::new(&mut model, SquaredError, SignDescent(0.002)).batch_size(20).epochs(30).fit(&Triangles)?;
    assert_ne!(model.parameters().next().unwrap().1.value.to_vec()?, before);
    let evaluation = model.evaluate(SquaredError, &Triangles)?;
    assert!(evaluation.accuracy > 0.95, "{evaluation:?}");
    Ok(())
}
