//! A layer, a loss, an optimizer and a data set of a user's, made with public names alone.

use dahl::ops;
use dahl::prelude::*;
use dahl_nn::module::Name;
use dahl_nn::prelude::*;

/// Scales and shifts every feature by the same two learned numbers.
#[derive(Module)]
struct StretchLayer<'m, T: Real> {
    gamma: Parameter<'m, T>,
    beta: Parameter<'m, T>,
    shape: Vec<usize>,
}

impl<'m, T: Real> StretchLayer<'m, T> {
    fn new(arena: &'m Arena, shape: &[usize]) -> dahl::Result<Self> {
        let gamma = Init::new(arena, 1).uniform(&[1], 0.1)?;
        let beta = Init::new(arena, 2).uniform(&[1], 0.1)?;
        Ok(Self { gamma, beta, shape: shape.to_vec() })
    }
}

impl<T: Real> Layer<T> for StretchLayer<'_, T> {
    fn name(&self) -> &'static str {
        "stretch"
    }

    fn output_shape(&self) -> &[usize] {
        &self.shape
    }

    fn forward<'s>(&self, step: &'s Step<'_>, input: &Matrix<'_, T>) -> dahl::Result<Matrix<'s, T>> {
        let gamma = self.gamma.value.reshaped([1, 1])?;
        let factor = ops::exp_init(step, &*gamma)?;
        let stretched = ops::mul_init(step, input, &factor)?;
        ops::add_init(step, &stretched, &*self.beta.value.reshaped([1, 1])?)
    }
}

/// `factor * (output[i, j] - (labels[i] == j))^2 / 2`.
#[derive(Clone, Copy)]
struct SquaredError;

impl<T: Real> Loss<T> for SquaredError {
    fn of<'s>(
        &self,
        step: &'s Step<'_>,
        output: &Matrix<'_, T>,
        labels: &Vector<'_, u32>,
        factor: f64,
    ) -> dahl::Result<Scalar<'s, T>> {
        let target = ops::one_hot_init::<_, T>(step, labels, output.shape()[1])?;
        let squares = ops::square_init(step, &ops::sub_init(step, output, &target)?)?;
        ops::scale_init(step, &ops::sum_init(step, &squares)?, T::from_f64(factor / 2.0))
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
    fn update(&mut self, _: usize, _: &Name<'_>, parameter: &mut Parameter<'_, T>) -> dahl::Result<()> {
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
    let stretch = StretchLayer::new(&arena, &[2])?;
    let model = Sequential::<f64>::new(&arena, [2], 1).layer(stretch);
    let mut model = model.dense(8)?.relu()?.dense(2)?;
    assert!(model.to_string().contains("stretch"));
    let names: Vec<String> = model.parameters().map(|named| named.name().to_owned()).collect();
    assert_eq!(names[..3], ["0.gamma", "0.beta", "1.weight"]);
    let before = model.parameters().next().unwrap().value.to_vec()?;
    Trainer::new(&mut model, SquaredError, SignDescent(0.002)).batch_size(20).epochs(30).fit(&Triangles)?;
    assert_ne!(model.parameters().next().unwrap().value.to_vec()?, before);
    let evaluation = model.evaluate(SquaredError, &Triangles)?;
    assert!(evaluation.accuracy > 0.95, "{evaluation:?}");
    Ok(())
}
