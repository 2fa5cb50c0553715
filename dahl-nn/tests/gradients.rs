//! Every layer's backward against central differences, in f64.

use dahl::prelude::*;
use dahl_nn::layer::{AvgPool2d, Backward, Conv2d, Conv2dOptions, Dense, Flatten, Layer, MaxPool2d, Relu};
use dahl_nn::loss::{CrossEntropy, Loss};

const STEP: f64 = 1e-5;

/// Numbers of both signs, no two near each other, the same each time.
fn numbers(len: usize, phase: f64) -> Vec<f64> {
    (0..len).map(|i| ((i as f64 + phase) * 12.9898).sin()).collect()
}

/// `sum over i of weights[i] * layer(input)[i]`.
fn weighted(
    arena: &Arena,
    layer: &dyn Layer<'_, f64>,
    shape: [usize; 2],
    input: &[f64],
    weights: &[f64],
) -> f64 {
    let input = arena.from_slice(shape, input).unwrap();
    let output = layer.forward(arena, &input).unwrap().output.to_vec().unwrap();
    assert_eq!(output.len(), weights.len());
    output.iter().zip(weights).map(|(output, weight)| output * weight).sum()
}

fn assert_close(what: &str, index: usize, actual: f64, expected: f64) {
    let difference = (actual - expected).abs();
    assert!(difference < 1e-7 * (1.0 + expected.abs()), "{what}[{index}]: {actual} for {expected}");
}

/// Checks the gradients of `layer` by its input and by each of its parameters, for a batch of samples.
fn check<'m>(arena: &'m Arena, layer: &mut dyn Layer<'m, f64>, batch: usize, features: usize) {
    let shape = [batch, features];
    let input = numbers(batch * features, 0.5);
    let weights = numbers(batch * layer.output_shape().iter().product::<usize>(), 7.5);

    let entered = arena.from_slice(shape, &input).unwrap();
    let forward = layer.forward(arena, &entered).unwrap();
    let gradient = arena.from_slice(forward.output.shape(), &weights).unwrap();
    let pass =
        Backward { input: &entered, forward: &forward, gradient: &gradient, needs_input_gradient: true };
    let by_input = layer.backward(arena, pass).unwrap().expect("it was asked for").to_vec().unwrap();

    for i in 0..input.len() {
        let shifted = |by: f64| {
            let mut input = input.clone();
            input[i] += by;
            weighted(arena, layer, shape, &input, &weights)
        };
        assert_close("input", i, by_input[i], (shifted(STEP) - shifted(-STEP)) / (2.0 * STEP));
    }
    for index in 0..layer.parameters().len() {
        let by_parameter = layer.parameters()[index].gradient.to_vec().unwrap();
        for (i, actual) in by_parameter.into_iter().enumerate() {
            let mut shift = |by: f64| {
                layer.parameters_mut()[index].value.write().unwrap()[i] += by;
                weighted(arena, layer, shape, &input, &weights)
            };
            let (above, below) = (shift(STEP), shift(-2.0 * STEP));
            shift(STEP);
            assert_close(layer.parameters()[index].name, i, actual, (above - below) / (2.0 * STEP));
        }
    }
}

fn runtime() -> Runtime {
    Runtime::builder().cpu_workers(2).build().unwrap()
}

#[test]
fn conv2d() {
    let rt = runtime();
    let arena = rt.arena();
    let plain = Conv2dOptions::square(3);
    let odd = Conv2dOptions { kernel: [2, 3], stride: [2, 1], padding: [1, 2] };
    let wide = Conv2dOptions { kernel: [1, 1], stride: [3, 2], padding: [0, 0] };
    for options in [plain, odd, wide] {
        let mut layer = Conv2d::<f64>::new(&arena, [2, 5, 4], 3, options, 1, 0).unwrap().expect("it fits");
        check(&arena, &mut layer, 3, 2 * 5 * 4);
    }
}

#[test]
fn dense() {
    let rt = runtime();
    let arena = rt.arena();
    for (batch, inputs, outputs) in [(1, 1, 1), (3, 7, 5), (5, 2, 11)] {
        check(&arena, &mut Dense::<f64>::new(&arena, inputs, outputs, 2, 0).unwrap(), batch, inputs);
    }
}

#[test]
fn relu() {
    let rt = runtime();
    check(&rt.arena(), &mut Relu::new(&[13]), 3, 13);
}

#[test]
fn flatten() {
    let rt = runtime();
    check(&rt.arena(), &mut Flatten::new(&[2, 3, 2]), 2, 12);
}

#[test]
fn pools() {
    let rt = runtime();
    let arena = rt.arena();
    for (input, size) in [([2, 4, 4], 2), ([1, 5, 7], 2), ([3, 3, 3], 3), ([2, 2, 3], 1)] {
        check(&arena, &mut MaxPool2d::new(input, size).expect("it fits"), 2, input.iter().product());
        check(&arena, &mut AvgPool2d::new(input, size).expect("it fits"), 2, input.iter().product());
    }
}

#[test]
fn cross_entropy() {
    let rt = runtime();
    let arena = rt.arena();
    let (batch, classes) = (3, 4);
    let logits = numbers(batch * classes, 0.25);
    let labels = arena.from_slice([batch], &[2_u32, 0, 3]).unwrap();
    let loss = |logits: &[f64]| {
        let logits = arena.from_slice([batch, classes], logits).unwrap();
        let mut total = arena.zeros([]).unwrap();
        CrossEntropy.add_to(&arena, &mut total, &logits, &labels, 1.0 / batch as f64).unwrap();
        total.read().unwrap()[[]]
    };
    let array = arena.from_slice([batch, classes], &logits).unwrap();
    let gradient =
        CrossEntropy.gradient(&arena, &array, &labels, 1.0 / batch as f64).unwrap().to_vec().unwrap();
    for i in 0..logits.len() {
        let shifted = |by: f64| {
            let mut logits = logits.clone();
            logits[i] += by;
            loss(&logits)
        };
        assert_close("logits", i, gradient[i], (shifted(STEP) - shifted(-STEP)) / (2.0 * STEP));
    }
}
