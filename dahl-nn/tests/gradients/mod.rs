//! The gradients of every layer, of the loss and of a whole network, against differences of the forward, in f64.

mod sequences;
mod shapes;

use std::cell::RefCell;

use dahl::ops;
use dahl::prelude::*;
use dahl::testing::gradient::{Check, Gradient, Outcome};
use dahl_nn::layer::{
    Celu, Elu, Gelu, GeluTanh, Glu, HardShrink, HardSigmoid, HardSwish, HardTanh, LeakyRelu, LogSigmoid,
    Mish, PRelu, RRelu, Relu, Relu6, Selu, Sigmoid, Silu, SoftShrink, Softmin, Softplus, Softsign, Tanh,
    TanhShrink, Threshold,
};
use dahl_nn::loss::{
    Bce, BceWithLogits, CosineEmbedding, Ctc, CtcTargets, ElementwiseLoss, HingeEmbedding, Huber, KlDiv, L1,
    Mse, Nll, SmoothL1,
};
use dahl_nn::prelude::*;

fn runtime() -> Runtime {
    Runtime::builder().cpu_workers(2).build().unwrap()
}

/// A module, and the input by which its gradient is computed too.
#[derive(Module)]
struct WithInput<'m, T: Real, M: Module<T>> {
    input: Parameter<'m, T>,
    #[module(flatten)]
    module: M,
}

/// Sets the values of all parameters.
fn set<M: Module<f64>>(module: &mut M, values: &[Vec<f64>]) -> dahl::Result<()> {
    let mut values = values.iter();
    module.for_each_parameter(|_, parameter| {
        let values = values.next().expect("one for each parameter");
        parameter.value.write()?.iter_mut().zip(values).for_each(|(to, from)| *to = *from);
        Ok(())
    })
}

/// What maps an input, under a step, with a module.
trait Forward<M, const N: usize, const K: usize>:
    for<'s> Fn(&'s Step<'s>, &M, &Array<'_, f64, N>) -> dahl::Result<Array<'s, f64, K>>
{
}

impl<F, M, const N: usize, const K: usize> Forward<M, N, K> for F where
    F: for<'s> Fn(&'s Step<'s>, &M, &Array<'_, f64, N>) -> dahl::Result<Array<'s, f64, K>>
{
}

/// Says of a closure that it is one for every step.
fn of<M, const N: usize, const K: usize>(forward: impl Forward<M, N, K>) -> impl Forward<M, N, K> {
    forward
}

/// A check of the gradients by the input and by each parameter. Random numbers are the same in each call.
fn gradient<'a, M: Module<f64> + 'a, const N: usize, const K: usize>(
    rt: &'a Runtime,
    name: &str,
    module: &'a RefCell<WithInput<'a, f64, M>>,
    shape: [usize; N],
    forward: &'a impl Forward<M, N, K>,
) -> Gradient<'a> {
    const SEED: u64 = 11;
    let run = move |inputs: &[Vec<f64>]| -> Outcome<Vec<f64>> {
        let mut module = module.borrow_mut();
        set(&mut *module, inputs)?;
        let mut step = Step::evaluating(rt).seed(SEED);
        step.set_training(true);
        let input = module.input.value.reshaped(shape)?;
        Ok(forward(&step, &module.module, &input)?.to_vec()?)
    };
    let back = move |inputs: &[Vec<f64>], by_output: &[f64]| -> Outcome<Vec<Vec<f64>>> {
        let mut module = module.borrow_mut();
        set(&mut *module, inputs)?;
        module.zero_gradients()?;
        let step = Step::learning(rt).seed(SEED);
        {
            let input = module.input.value.reshaped(shape)?;
            let output = forward(&step, &module.module, &input)?;
            let weights = rt.from_vec(output.shape(), by_output.to_vec())?;
            let loss = ops::sum_init(&step, &ops::mul_init(&step, &output, &weights)?)?;
            drop((input, output));
            step.accumulate(&loss, &mut *module)?;
        }
        let parameters = module.parameters();
        Ok(parameters.map(|parameter| parameter.gradient.to_vec()).collect::<Result<_, _>>()?)
    };
    let module = module.borrow();
    module.parameters().fold(Gradient::new(name, run, back), |gradient, parameter| {
        gradient.drawn(parameter.name().to_owned(), &parameter.shape)
    })
}

/// Checks a module under a step.
#[track_caller]
fn check<M: Module<f64>, const N: usize, const K: usize>(
    rt: &Runtime,
    name: &str,
    module: M,
    shape: [usize; N],
    forward: impl Forward<M, N, K>,
) {
    let arena = rt.arena();
    let input = Init::new(&arena, 1).uniform(&shape, 1.0).unwrap();
    gradient(rt, name, &RefCell::new(WithInput { input, module }), shape, &forward).assert();
}

#[test]
fn conv2d() {
    let rt = runtime();
    let arena = rt.arena();
    let plain = Conv2dOptions::square(3);
    let odd = Conv2dOptions { kernel: [2, 3], stride: [2, 1], padding: [1, 2] };
    let wide = Conv2dOptions { kernel: [1, 1], stride: [3, 2], padding: [0, 0] };
    for options in [plain, odd, wide] {
        let layer = || Conv2d::new(&mut Init::new(&arena, 1), 2, 3, options).unwrap();
        let bare = || Conv2d::without_bias(&mut Init::new(&arena, 1), 2, 3, options).unwrap();
        check(&rt, "without bias", bare(), [3, 2, 5, 4], |step, layer, x| layer.forward_relu(step, x));
        check(&rt, "conv2d", layer(), [3, 2, 5, 4], |step, layer, x| layer.forward(step, x));
        check(&rt, "with relu", layer(), [3, 2, 5, 4], |step, layer, x| layer.forward_relu(step, x));
        if options != wide {
            check(&rt, "with pooling", layer(), [2, 2, 7, 6], |step, layer, x| {
                layer.forward_relu_max_pool(step, x, 2)
            });
        }
    }
}

#[test]
fn linear() {
    let rt = runtime();
    let arena = rt.arena();
    let mut init = Init::new(&arena, 2);
    for (rows, inputs, outputs) in [(1, 1, 1), (3, 7, 5), (5, 2, 11)] {
        let layer = Linear::new(&mut init, inputs, outputs).unwrap();
        check(&rt, "linear", layer, [2, rows, inputs], |step, layer, x| layer.forward(step, x));
        let layer = Linear::without_bias(&mut init, inputs, outputs).unwrap();
        check(&rt, "without bias", layer, [rows, inputs], |step, layer, x| layer.forward(step, x));
    }
}

#[test]
fn embedding() {
    let rt = runtime();
    let arena = rt.arena();
    let layer = |count| Embedding::new(&mut Init::new(&arena, 3), count, 4).unwrap();
    let tokens = rt.from_vec([2, 3], vec![1_u32, 0, 2, 2, 2, 0]).unwrap();
    check(&rt, "embedding", layer(3), [2, 3, 4], |step, layer, x| {
        ops::mul_init(step, x, &layer.forward(step, &tokens)?)
    });
    check(&rt, "positions", layer(5), [2, 3, 4], |step, layer, x| {
        layer.add_positions_from(step, ops::copy_init(step, x)?, 1)
    });
    check(&rt, "scores", layer(5), [2, 3, 4], |step, layer, x| layer.scores(step, x));
}

#[test]
fn dropout() {
    let rt = runtime();
    check(&rt, "dropout", Dropout::new(0.4), [5, 7], |step, layer, x| layer.forward(step, x));
}

#[test]
fn norms() {
    let rt = runtime();
    let arena = rt.arena();
    let init = || Init::new(&arena, 4);
    let layer = LayerNorm::new(&mut init(), 5).unwrap();
    check(&rt, "layer norm", layer, [2, 3, 5], |step, layer, x| layer.forward(step, x));
    let layer = RmsNorm::new(&mut init(), 5).unwrap();
    check(&rt, "rms norm", layer, [2, 3, 5], |step, layer, x| layer.forward(step, x));
    let layer = BatchNorm::new(&mut init(), 3).unwrap();
    check(&rt, "batch norm", layer, [4, 3, 5], |step, layer, x| layer.forward(step, x));
    let layer = GroupNorm::new(&mut init(), 2, 6).unwrap();
    check(&rt, "group norm", layer, [2, 6, 3, 2], |step, layer, x| layer.forward(step, x));
    check(&rt, "instance norm", InstanceNorm::new(), [2, 3, 7], |step, layer, x| layer.forward(step, x));
}

#[test]
fn convolutions() {
    use dahl_nn::layer::{Convolution, TransposedConvolution};
    let rt = runtime();
    let arena = rt.arena();
    let init = || Init::new(&arena, 6);
    let dilated = ops::ConvolutionGeometry::default().stride([2]).padding([1]).dilation([2]);
    let layer = Convolution::new(&mut init(), 2, 3, [3], dilated).unwrap();
    check(&rt, "conv1d", layer, [2, 2, 9], |step, layer, x| layer.forward(step, x));
    let depthwise = ops::ConvolutionGeometry::default().groups(4);
    let layer = Convolution::new(&mut init(), 4, 8, [2, 2], depthwise).unwrap();
    check(&rt, "depthwise", layer, [2, 4, 4, 3], |step, layer, x| layer.forward(step, x));
    let layer = Conv3d::new(&mut init(), 2, 2, [2, 1, 2], ops::ConvolutionGeometry::default()).unwrap();
    check(&rt, "conv3d", layer, [1, 2, 3, 3, 3], |step, layer, x| layer.forward(step, x));
    let strided = ops::ConvolutionGeometry::default().stride([2, 2]).padding([1, 0]);
    let layer = TransposedConvolution::new(&mut init(), 3, 2, [3, 2], strided).unwrap();
    let layer = layer.output_padding([1, 0]);
    check(&rt, "transposed", layer, [2, 3, 3, 2], |step, layer, x| layer.forward(step, x));
}

#[test]
fn activations() {
    let rt = runtime();
    macro_rules! check_each {
        ($($Name:ident),+) => {$(
            check(&rt, stringify!($Name), $Name::default(), [3, 13], |step, layer, x| layer.forward(step, x));
        )+};
    }
    check_each!(
        Celu,
        Elu,
        Gelu,
        GeluTanh,
        HardShrink,
        HardSigmoid,
        HardSwish,
        HardTanh,
        LeakyRelu,
        LogSigmoid,
        Mish,
        RRelu,
        Relu,
        Relu6,
        Selu,
        Sigmoid,
        Silu,
        SoftShrink,
        Softplus,
        Softsign,
        Tanh,
        TanhShrink
    );
    check(&rt, "threshold", Threshold::new(0.25, 2.0), [3, 13], |step, layer, x| layer.forward(step, x));
    check(&rt, "softmin", Softmin::new(1), [3, 13], |step, layer, x| layer.forward(step, x));
    check(&rt, "glu", Glu::new(1), [3, 4, 2], |step, layer, x| layer.forward(step, x));
    let arena = rt.arena();
    for channels in [1, 4] {
        let layer = PRelu::new(&mut Init::new(&arena, 8), channels).unwrap();
        check(&rt, "prelu", layer, [3, 4, 2], |step, layer, x| layer.forward(step, x));
    }
}

#[test]
fn pools() {
    let rt = runtime();
    for (shape, size) in [([2, 2, 4, 4], 2), ([1, 1, 5, 7], 2), ([1, 3, 3, 3], 3), ([2, 2, 2, 3], 1)] {
        let max = MaxPool2d::new(size).expect("from 1");
        check(&rt, "max", max, shape, |step, layer, x| layer.forward(step, x));
        let mean = AvgPool2d::new(size).expect("from 1");
        check(&rt, "mean", mean, shape, |step, layer, x| layer.forward(step, x));
    }
}

const LABELS: [u32; 3] = [2, 0, 3];

#[test]
fn cross_entropy() {
    let rt = runtime();
    let labels = rt.from_vec([3], LABELS.to_vec()).unwrap();
    check(&rt, "cross-entropy", (), [3, 4], |step, (), x| CrossEntropy.of(step, x, &labels, 1.0 / 3.0));
    let tokens = rt.from_vec([1, 3], LABELS.to_vec()).unwrap();
    check(&rt, "of tokens", (), [1, 3, 4], |step, (), x| CrossEntropy.of_tokens(step, x, &tokens));
}

#[test]
fn losses_of_elements() {
    let rt = runtime();
    let values = (0..12).map(|i| f64::from(7 * i % 12) / 13.0 + 0.04).collect::<Vec<_>>();
    let signs = values.iter().map(|value| if *value < 0.5 { -1.0 } else { 1.0 }).collect();
    let target = rt.from_vec([3, 4], values).unwrap();
    let signs = rt.from_vec([3, 4], signs).unwrap();
    let weight = rt.from_vec([4], vec![0.5, 1.0, 2.0, 3.0]).unwrap();
    macro_rules! check_mean {
        ($loss:expr, $target:expr, |$step:ident, $x:ident| $output:expr) => {
            check(&rt, stringify!($loss), (), [3, 4], |$step, (), $x| $loss.mean($step, $output, $target));
        };
    }
    check_mean!(Mse, &target, |step, x| x);
    check_mean!(L1, &target, |step, x| x);
    check_mean!(Huber { delta: 0.5 }, &target, |step, x| x);
    check_mean!(SmoothL1 { beta: 0.5 }, &target, |step, x| x);
    check_mean!(Bce, &target, |step, x| &ops::sigmoid_init(step, x)?);
    check_mean!(BceWithLogits, &target, |step, x| x);
    check_mean!(BceWithLogits.pos_weight(&weight), &target, |step, x| x);
    check_mean!(KlDiv::default(), &target, |step, x| &ops::log_softmax_init(step, x, 1)?);
    check_mean!(KlDiv { log_target: true }, &target, |step, x| &ops::log_softmax_init(step, x, 1)?);
    check_mean!(HingeEmbedding::default(), &signs, |step, x| x);
}

#[test]
fn losses_with_labels_and_of_sequences() {
    let rt = runtime();
    let labels = rt.from_vec([3], LABELS.to_vec()).unwrap();
    let weights = rt.from_vec([4], vec![0.5, 1.0, 2.0, 3.0]).unwrap();
    let smoothed = CrossEntropy.smoothing(0.2).weights(&weights).ignore(0);
    check(&rt, "smoothed", (), [3, 4], |step, (), x| smoothed.mean(step, x, &labels));
    check(&rt, "each", (), [3, 4], |step, (), x| CrossEntropy.each(step, x, &labels));
    let nll = Nll::new().weights(&weights).ignore(3);
    check(&rt, "nll", (), [3, 4], |step, (), x| nll.mean(step, x, &labels));
    let (left, target) =
        (rt.from_vec([3, 4], vec![0.7; 12]).unwrap(), rt.from_vec([3], vec![1.0, -1.0, 1.0]));
    let (target, cosine) = (target.unwrap(), CosineEmbedding { margin: -0.9 });
    check(&rt, "cosine", (), [3, 4], |step, (), x| cosine.mean(step, &left, x, &target));
    let targets = rt.from_vec([2, 2], vec![1_u32, 2, 2, 0]).unwrap();
    let (steps, lengths) =
        (rt.from_vec([2], vec![5_u32, 3]).unwrap(), rt.from_vec([2], vec![2_u32, 1]).unwrap());
    let target = CtcTargets { targets: &targets, input_lengths: &steps, target_lengths: &lengths };
    check(&rt, "ctc", (), [5, 2, 3], |step, (), x| {
        Ctc::default().mean(step, &ops::log_softmax_init(step, x, 2)?, target)
    });
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
    let labels = rt.from_vec([3], LABELS.to_vec()).unwrap();
    let input = Init::new(&arena, 1).uniform(&[3, 128], 1.0).unwrap();
    let module = RefCell::new(WithInput { input, module: layers(&arena).unwrap() });
    let forward = of(|step, model: &Sequential<'_, f64>, x| {
        CrossEntropy.of(step, &model.forward(step, x)?, &labels, 1.0 / 3.0)
    });
    let report = gradient(&rt, "a network", &module, [3, 128], &forward).assert();
    // By the input, by each of 8 parameters, and by all of them.
    assert_eq!(report.directions + report.kinks.len(), 4 * 10);
    assert!(report.kinks.len() < 4, "{report:?}");
}

/// A linear layer whose bias is left out of the gradient by mistake.
#[derive(Module)]
struct Forgetful<'m>(#[module(flatten)] Linear<'m, f64>);

impl Forgetful<'_> {
    fn forward<'s>(&self, step: &'s Step<'_>, x: &Matrix<'_, f64>) -> dahl::Result<Matrix<'s, f64>> {
        let bias = self.0.bias.as_ref().expect("it has one");
        let constant = ops::copy_init(step.detached(), &bias.value)?;
        // A factor of zero keeps the dependence on the bias, so that no error says that it is unused.
        let nothing = ops::scale_init(step, &bias.value, 0.0)?;
        let bias = ops::add_init(step, &constant, &nothing)?;
        let weight = self.0.weight.value.reshaped([self.0.outputs(), self.0.inputs()])?;
        let product = ops::matmul_transposed_init(step, x, &*weight, ops::Transposed::RIGHT)?;
        ops::bias_init(step, &product, &bias, 1)
    }
}

#[test]
fn a_layer_that_severs_a_gradient_is_found() {
    let rt = runtime();
    let arena = rt.arena();
    let mut init = Init::new(&arena, 1);
    let input = init.uniform(&[3, 8], 1.0).unwrap();
    let module = Forgetful(Linear::new(&mut init, 8, 5).unwrap());
    let module = RefCell::new(WithInput { input, module });
    let forward = of(|step, layer: &Forgetful<'_>, x| layer.forward(step, x));
    let failure = gradient(&rt, "forgetful", &module, [3, 8], &forward).check().expect_err("it is wrong");
    assert_eq!((failure.check(), failure.input()), (Check::Directions, Some("bias")), "{failure}");
}

#[test]
fn a_parameter_that_the_loss_does_not_use_is_named() {
    let rt = runtime();
    let arena = rt.arena();
    let mut init = Init::new(&arena, 1);
    let mut model: Vec<_> = (0..2).map(|_| Linear::<f64>::new(&mut init, 2, 1).unwrap()).collect();
    let x = rt.from_vec([4, 2], vec![0.5; 8]).unwrap();
    let learn = |model: &mut Vec<Linear<'_, f64>>| {
        model.learn(&rt, |step, model| ops::sum_init(step, &model[0].forward(step, &x)?))
    };
    let error = learn(&mut model).unwrap_err().to_string();
    assert!(error.contains("`1.weight`") && error.contains(file!()), "{error}");
    assert_eq!(model.freeze("1."), 2);
    learn(&mut model).unwrap();
    assert_eq!(model[0].weight.gradient.to_vec().unwrap(), [2.0, 2.0]);
    assert_eq!(model[1].weight.gradient.to_vec().unwrap(), [0.0, 0.0]);
    assert_eq!(model.unfreeze("1.weight"), 1);
}
