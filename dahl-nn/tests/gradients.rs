//! The backward of every layer, of the loss and of a whole network, against differences of the forward, in f64.

use std::cell::RefCell;

use dahl::ops::Philox;
use dahl::prelude::*;
use dahl::testing::gradient::{Check, Gradient};
use dahl_nn::layer::{
    AvgPool2d, Backward, Conv2d, Conv2dOptions, Dense, Flatten, Forward, Layer, MaxPool2d, Parameter, Relu,
};
use dahl_nn::loss::{CrossEntropy, Loss};
use dahl_nn::model::Sequential;

fn runtime() -> Runtime {
    Runtime::builder().cpu_workers(2).build().unwrap()
}

/// Sets the values of parameters, and clears their gradients.
fn set<'a, 'm: 'a>(
    parameters: impl IntoIterator<Item = &'a mut Parameter<'m, f64>>,
    values: &[Vec<f64>],
) -> dahl::Result<()> {
    for (parameter, value) in parameters.into_iter().zip(values) {
        parameter.value.write()?.iter_mut().zip(value).for_each(|(to, from)| *to = *from);
        parameter.gradient.write()?.fill(0.0);
    }
    Ok(())
}

/// A check of a layer's gradients by its input, a batch of samples, and by each of its parameters.
fn gradient<'a, 'm>(
    arena: &'a Arena,
    layer: &'a RefCell<dyn Layer<'m, f64> + 'a>,
    shape: [usize; 2],
) -> Gradient<'a> {
    let forward = move |inputs: &[Vec<f64>]| {
        let mut layer = layer.borrow_mut();
        set(layer.parameters_mut(), &inputs[1..])?;
        Ok(layer.forward(arena, &arena.from_slice(shape, &inputs[0])?)?.output.to_vec()?)
    };
    let backward = move |inputs: &[Vec<f64>], gradient: &[f64]| {
        let mut layer = layer.borrow_mut();
        set(layer.parameters_mut(), &inputs[1..])?;
        let input = &arena.from_slice(shape, &inputs[0])?;
        let forward = &layer.forward(arena, input)?;
        let gradient = &arena.from_slice(forward.output.shape(), gradient)?;
        let by_input = layer
            .backward(arena, Backward { input, forward, gradient, needs_input_gradient: true })?
            .ok_or("no gradient by the input")?;
        let mut gradients = vec![by_input.to_vec()?];
        for parameter in layer.parameters() {
            gradients.push(parameter.gradient.to_vec()?);
        }
        Ok(gradients)
    };
    let layer = layer.borrow();
    let gradient = Gradient::new(layer.name(), forward, backward).drawn("input", &shape);
    let parameters = layer.parameters().iter();
    parameters.fold(gradient, |gradient, parameter| gradient.drawn(parameter.name, &parameter.shape))
}

#[track_caller]
fn check<'m>(arena: &Arena, layer: impl Layer<'m, f64>, batch: usize, features: usize) {
    gradient(arena, &RefCell::new(layer), [batch, features]).assert();
}

/// As [`check`], for layers that are linear in their input and in each parameter.
#[track_caller]
fn check_linear<'m>(arena: &Arena, layer: impl Layer<'m, f64>, batch: usize, features: usize) {
    gradient(arena, &RefCell::new(layer), [batch, features]).linear().assert();
}

#[test]
fn conv2d() {
    let rt = runtime();
    let arena = rt.arena();
    let plain = Conv2dOptions::square(3);
    let odd = Conv2dOptions { kernel: [2, 3], stride: [2, 1], padding: [1, 2] };
    let wide = Conv2dOptions { kernel: [1, 1], stride: [3, 2], padding: [0, 0] };
    for options in [plain, odd, wide] {
        let layer = Conv2d::<f64>::new(&arena, [2, 5, 4], 3, options, Philox::new(1)).unwrap();
        check_linear(&arena, layer, 3, 2 * 5 * 4);
    }
}

#[test]
fn dense() {
    let rt = runtime();
    let arena = rt.arena();
    for (batch, inputs, outputs) in [(1, 1, 1), (3, 7, 5), (5, 2, 11)] {
        check_linear(
            &arena,
            Dense::<f64>::new(&arena, inputs, outputs, Philox::new(2)).unwrap(),
            batch,
            inputs,
        );
    }
}

#[test]
fn relu() {
    let rt = runtime();
    check(&rt.arena(), Relu::new(&[13]), 3, 13);
}

#[test]
fn flatten() {
    let rt = runtime();
    check_linear(&rt.arena(), Flatten::new(&[2, 3, 2]), 2, 12);
}

#[test]
fn pools() {
    let rt = runtime();
    let arena = rt.arena();
    for (input, size) in [([2, 4, 4], 2), ([1, 5, 7], 2), ([3, 3, 3], 3), ([2, 2, 3], 1)] {
        check(&arena, MaxPool2d::new(input, size).expect("it fits"), 2, input.iter().product());
        check_linear(&arena, AvgPool2d::new(input, size).expect("it fits"), 2, input.iter().product());
    }
}

const LABELS: [u32; 3] = [2, 0, 3];

#[test]
fn cross_entropy() {
    let rt = runtime();
    let arena = rt.arena();
    let labels = arena.from_slice([3], &LABELS).unwrap();
    let gradient = Gradient::new(
        "cross_entropy",
        |inputs| {
            let logits = arena.from_slice([3, 4], &inputs[0])?;
            let mut total = arena.zeros([])?;
            CrossEntropy.add_to(&arena, &mut total, &logits, &labels, 1.0 / 3.0)?;
            Ok(total.to_vec()?)
        },
        |inputs, gradient| {
            let logits = arena.from_slice([3, 4], &inputs[0])?;
            Ok(vec![CrossEntropy.gradient(&arena, &logits, &labels, gradient[0] / 3.0)?.to_vec()?])
        },
    );
    gradient.drawn("logits", &[3, 4]).assert();
}

/// A check of the loss's gradients by all parameters of a network.
fn network<'a, 'm>(arena: &'a Arena, model: &'a RefCell<Sequential<'m, f64>>) -> Gradient<'a> {
    const SHAPE: [usize; 2] = [3, 2 * 8 * 8];
    let samples: Vec<f64> = (0..3 * 2 * 8 * 8).map(|i| ((f64::from(i) + 0.5) * 12.9898).sin()).collect();
    let also = samples.clone();
    let labels = || arena.from_slice([3], &LABELS);
    let gradient = Gradient::new(
        "a network",
        move |inputs| {
            let mut model = model.borrow_mut();
            set(model.parameters_mut(), inputs)?;
            let trace = model.forward(arena, &arena.from_slice(SHAPE, &samples)?)?;
            let mut total = arena.zeros([])?;
            let output = trace.output().ok_or("no layers")?;
            CrossEntropy.add_to(arena, &mut total, output, &labels()?, 1.0 / 3.0)?;
            Ok(total.to_vec()?)
        },
        move |inputs, gradient| {
            let mut model = model.borrow_mut();
            set(model.parameters_mut(), inputs)?;
            let input = arena.from_slice(SHAPE, &also)?;
            let trace = model.forward(arena, &input)?;
            let output = trace.output().ok_or("no layers")?;
            let by_output = CrossEntropy.gradient(arena, output, &labels()?, gradient[0] / 3.0)?;
            model.backward(arena, &input, &trace, by_output)?;
            Ok(model
                .parameters()
                .map(|(_, parameter)| parameter.gradient.to_vec())
                .collect::<Result<_, _>>()?)
        },
    );
    model.borrow().parameters().fold(gradient, |gradient, (name, parameter)| {
        let value = parameter.value.to_vec().expect("it is drawn");
        gradient.input(name, &parameter.shape, value)
    })
}

fn layers<'m>(arena: &'m Arena) -> dahl::Result<Sequential<'m, f64>> {
    let padded = Conv2dOptions { padding: [1, 0], ..Conv2dOptions::square(3) };
    let model = Sequential::new(arena, [2, 8, 8], 5).conv2d_with(3, padded)?.relu()?.max_pool2d(2)?;
    model.conv2d(4, 2)?.relu()?.avg_pool2d(2)?.flatten()?.dense(6)?.relu()?.dense(4)
}

#[test]
fn a_whole_network_by_all_parameters() {
    let rt = runtime();
    let arena = rt.arena();
    let report = network(&arena, &RefCell::new(layers(&arena).unwrap())).assert();
    // By each of 8 parameters, and by all of them.
    assert_eq!(report.directions + report.kinks.len(), 4 * 9);
    assert!(report.kinks.len() < 4, "{report:?}");
}

/// A dense layer that does not compute the gradient of its bias.
struct Forgetful<'m>(Dense<'m, f64>);

impl<'m> Layer<'m, f64> for Forgetful<'m> {
    fn name(&self) -> &'static str {
        "forgetful"
    }

    fn output_shape(&self) -> &[usize] {
        self.0.output_shape()
    }

    fn parameters(&self) -> &[Parameter<'m, f64>] {
        self.0.parameters()
    }

    fn parameters_mut(&mut self) -> &mut [Parameter<'m, f64>] {
        self.0.parameters_mut()
    }

    fn forward<'s>(&self, step: &'s Arena, input: &Matrix<'_, f64>) -> dahl::Result<Forward<'s, f64>> {
        self.0.forward(step, input)
    }

    fn backward<'s>(
        &mut self,
        step: &'s Arena,
        pass: Backward<'_, f64>,
    ) -> dahl::Result<Option<Matrix<'s, f64>>> {
        let by_input = self.0.backward(step, pass)?;
        self.parameters_mut()[1].gradient.write()?.fill(0.0);
        Ok(by_input)
    }
}

#[test]
fn a_layer_that_forgets_a_parameter_is_found_in_a_network() {
    let rt = runtime();
    let arena = rt.arena();
    let model = Sequential::new(&arena, [2, 8, 8], 5).flatten().unwrap();
    let model = model.layer(Forgetful(Dense::new(&arena, 128, 5, Philox::new(1)).unwrap()));
    let model = model.relu().unwrap().dense(4).unwrap();
    let failure = network(&arena, &RefCell::new(model)).check().expect_err("it is wrong");
    assert_eq!((failure.check(), failure.input()), (Check::Directions, Some("1.bias")), "{failure}");
}
