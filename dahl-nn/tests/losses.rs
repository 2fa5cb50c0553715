//! Losses and their gradients compared with PyTorch's, in each element type, at the tolerances of `torch.testing.assert_close`.
//! `tests/reference/make_losses.py` made the numbers, `UPDATE_EXPECT=1` writes the table of `docs/networks-against-pytorch.md`.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::LazyLock;

use dahl::ops::log_softmax_init;
use dahl::prelude::*;
use dahl_nn::loss::{
    Bce, BceWithLogits, CosineEmbedding, Ctc, CtcTargets, ElementwiseLoss, HingeEmbedding, Huber, KlDiv, L1,
    Mse, Nll, SmoothL1, WeightedCrossEntropy,
};
use dahl_nn::prelude::*;
use safetensors::SafeTensors;

use crate::closeness::{self, Table};

/// The label of samples that do not count in PyTorch's results.
const IGNORED: u32 = 3;

fn runtime() -> Runtime {
    Runtime::builder().cpu_workers(2).build().unwrap()
}

fn file() -> &'static SafeTensors<'static> {
    static FILE: LazyLock<SafeTensors<'static>> =
        LazyLock::new(|| closeness::reference("losses.safetensors"));
    &FILE
}

/// PyTorch's inputs and results of one loss, in one element type.
struct Case<'t, T> {
    name: &'static str,
    table: &'t RefCell<Table>,
    element: PhantomData<T>,
}

impl<'t, T: Real> Case<'t, T> {
    fn new(table: &'t RefCell<Table>, name: &'static str) -> Self {
        Self { name, table, element: PhantomData }
    }

    fn bytes(&self, role: &str) -> (&'static [u8], Vec<usize>) {
        let name = format!("{}/{}/{role}", self.name, T::NAME);
        let tensor = file().tensor(&name).unwrap_or_else(|error| panic!("{name}: {error}"));
        (tensor.data(), tensor.shape().to_vec())
    }

    fn values(&self, role: &str) -> Vec<T> {
        let (bytes, _) = self.bytes(role);
        let mut values = vec![T::ZERO; bytes.len() / size_of::<T>()];
        bytemuck::cast_slice_mut(&mut values).copy_from_slice(bytes);
        values
    }

    fn array<const N: usize>(&self, rt: &Runtime, role: &str) -> Array<'static, T, N> {
        let shape = self.bytes(role).1.try_into().expect("the rank of the test");
        rt.from_vec(shape, self.values(role)).unwrap()
    }

    fn integers<const N: usize>(&self, rt: &Runtime, role: &str) -> Array<'static, u32, N> {
        let (bytes, shape) = self.bytes(role);
        let integers = bytes.chunks_exact(8).map(|bytes| i64::from_le_bytes(bytes.try_into().unwrap()));
        let integers = integers.map(|integer| u32::try_from(integer).unwrap()).collect();
        rt.from_vec(shape.try_into().expect("the rank of the test"), integers).unwrap()
    }

    /// Compares a result with PyTorch's.
    #[track_caller]
    fn check<const N: usize>(&self, role: &str, result: &dahl::Result<Array<'_, T, N>>) {
        let (result, expected) = (result.as_ref().unwrap().to_vec().unwrap(), self.values(role));
        self.table.borrow_mut().worst::<T>(self.name).see(role, &result, &expected, 0.0);
    }
}

/// Compares a loss of elements.
#[track_caller]
fn elementwise<T: Real>(
    table: &RefCell<Table>,
    rt: &Runtime,
    case: &'static str,
    loss: &impl ElementwiseLoss<T>,
) {
    let case = Case::<T>::new(table, case);
    let (output, target) = (case.array::<2>(rt, "output"), case.array(rt, "target"));
    let step = Step::learning(rt);
    case.check("each", &loss.each(&step, &output, &target));
    case.check("sum", &loss.sum(&step, &output, &target));
    let mean = loss.mean(&step, &output, &target);
    case.check("mean", &mean);
    case.check("by_output", &step.tape().unwrap().gradients(&mean.unwrap(), &output));
}

fn regression<T: Real>(table: &RefCell<Table>) {
    let rt = runtime();
    elementwise::<T>(table, &rt, "mse", &Mse);
    elementwise::<T>(table, &rt, "l1", &L1);
    elementwise::<T>(table, &rt, "huber", &Huber::default());
    elementwise::<T>(table, &rt, "huber_0.5", &Huber { delta: 0.5 });
    elementwise::<T>(table, &rt, "smooth_l1", &SmoothL1::default());
    elementwise::<T>(table, &rt, "smooth_l1_2", &SmoothL1 { beta: 2.0 });
    elementwise::<T>(table, &rt, "smooth_l1_0", &SmoothL1 { beta: 0.0 });
}

fn binary_cross_entropy<T: Real>(table: &RefCell<Table>) {
    let rt = runtime();
    elementwise::<T>(table, &rt, "bce", &Bce);
    elementwise::<T>(table, &rt, "bce_with_logits", &BceWithLogits);
    let weight = Case::<T>::new(table, "bce_with_logits_pos_weight").array(&rt, "pos_weight");
    elementwise::<T>(table, &rt, "bce_with_logits_pos_weight", &BceWithLogits.pos_weight(&weight));
}

fn divergence<T: Real>(table: &RefCell<Table>) {
    let rt = runtime();
    elementwise::<T>(table, &rt, "kl_div", &KlDiv::default());
    elementwise::<T>(table, &rt, "kl_div_log_target", &KlDiv { log_target: true });
    let case = Case::<T>::new(table, "kl_div_batch_mean");
    let (output, target) = (case.array::<2>(&rt, "output"), case.array(&rt, "target"));
    let step = Step::learning(&rt);
    let mean = KlDiv::default().batch_mean(&step, &output, &target);
    case.check("mean", &mean);
    case.check("by_output", &step.tape().unwrap().gradients(&mean.unwrap(), &output));
}

fn embedding<T: Real>(table: &RefCell<Table>) {
    let rt = runtime();
    elementwise::<T>(table, &rt, "hinge_embedding", &HingeEmbedding::default());
    elementwise::<T>(table, &rt, "hinge_embedding_0.7", &HingeEmbedding { margin: 0.7 });
    let case = Case::<T>::new(table, "cosine_embedding");
    let (left, right) = (case.array::<2>(&rt, "left"), case.array::<2>(&rt, "right"));
    let (target, loss) = (case.array(&rt, "target"), CosineEmbedding { margin: 0.1 });
    let step = Step::learning(&rt);
    case.check("each", &loss.each(&step, &left, &right, &target));
    case.check("sum", &loss.sum(&step, &left, &right, &target));
    let mean = loss.mean(&step, &left, &right, &target);
    case.check("mean", &mean);
    let (by_left, by_right) = step.tape().unwrap().gradients(&mean.unwrap(), (&left, &right)).unwrap();
    case.check("by_left", &Ok(by_left));
    case.check("by_right", &Ok(by_right));
}

/// Compares a loss with labels, by its methods.
macro_rules! labelled {
    ($T:ident, $table:ident, $rt:ident, $case:literal, $loss:expr) => {{
        let (case, loss, step) = (Case::<$T>::new($table, $case), $loss, Step::learning(&$rt));
        let (output, labels) = (case.array::<2>(&$rt, "output"), case.integers::<1>(&$rt, "labels"));
        case.check("each", &loss.each(&step, &output, &labels));
        case.check("sum", &loss.sum(&step, &output, &labels));
        let mean = loss.mean(&step, &output, &labels);
        case.check("mean", &mean);
        case.check("by_output", &step.tape().unwrap().gradients(&mean.unwrap(), &output));
    }};
}

fn nll<T: Real>(table: &RefCell<Table>) {
    let rt = runtime();
    labelled!(T, table, rt, "nll", Nll::new());
    let weights = Case::<T>::new(table, "nll_weights_ignore").array(&rt, "weights");
    labelled!(T, table, rt, "nll_weights_ignore", Nll::new().weights(&weights).ignore(IGNORED));
}

fn cross_entropy<T: Real>(table: &RefCell<Table>) {
    let rt = runtime();
    labelled!(T, table, rt, "cross_entropy", CrossEntropy);
    let weights = Case::<T>::new(table, "cross_entropy_weights").array(&rt, "weights");
    labelled!(T, table, rt, "cross_entropy_weights", CrossEntropy.weights(&weights));
    labelled!(T, table, rt, "cross_entropy_ignore", CrossEntropy.ignore(IGNORED));
    labelled!(T, table, rt, "cross_entropy_smoothing", CrossEntropy.smoothing(0.1));
    let weights = Case::<T>::new(table, "cross_entropy_all").array(&rt, "weights");
    labelled!(
        T,
        table,
        rt,
        "cross_entropy_all",
        CrossEntropy.smoothing(0.2).weights(&weights).ignore(IGNORED)
    );
}

fn ctc<T: Real>(table: &RefCell<Table>) {
    let (rt, case) = (runtime(), Case::<T>::new(table, "ctc"));
    let (output, targets) = (case.array::<3>(&rt, "output"), case.integers(&rt, "targets"));
    let [input_lengths, target_lengths] =
        ["input_lengths", "target_lengths"].map(|role| case.integers::<1>(&rt, role));
    let target =
        CtcTargets { targets: &targets, input_lengths: &input_lengths, target_lengths: &target_lengths };
    let (loss, step) = (Ctc { zero_infinity: true, ..Ctc::default() }, Step::learning(&rt));
    case.check("each", &loss.each(&step, &output, target));
    case.check("sum", &loss.sum(&step, &output, target));
    let mean = loss.mean(&step, &output, target);
    case.check("mean", &mean);
    case.check("by_output", &step.tape().unwrap().gradients(&mean.unwrap(), &output));
    // The last output is too short for its target.
    let each = Ctc::default().each(&step, &output, target).unwrap().to_vec().unwrap();
    assert_eq!(each[3].to_f64(), f64::INFINITY);
}

/// Adds all losses.
fn all<T: Real>(table: &RefCell<Table>) {
    regression::<T>(table);
    binary_cross_entropy::<T>(table);
    divergence::<T>(table);
    embedding::<T>(table);
    nll::<T>(table);
    cross_entropy::<T>(table);
    ctc::<T>(table);
}

#[test]
fn losses_give_the_results_of_pytorch() {
    let table = RefCell::default();
    all::<f16>(&table);
    all::<bf16>(&table);
    all::<f32>(&table);
    all::<f64>(&table);
    table.into_inner().assert("Losses", file());
}

/// The losses of the parts of a batch, each with one over the number of samples of the whole, add up.
#[test]
fn the_parts_of_a_batch_add_up() {
    let (rt, table) = (runtime(), RefCell::default());
    let case = Case::<f64>::new(&table, "cross_entropy_all");
    let (output, labels) = (case.array::<2>(&rt, "output"), case.integers::<1>(&rt, "labels"));
    let (values, classes) = (labels.to_vec().unwrap(), case.array(&rt, "weights"));
    let [batch, width] = output.shape();
    let step = Step::evaluating(&rt);
    let logarithms = log_softmax_init(&step, &output, 1).unwrap();
    let smoothed = CrossEntropy.smoothing(0.2).weights(&classes).ignore(IGNORED);
    let losses: [(&dyn Loss<f64>, _, _); 2] = [
        (&smoothed, &output, smoothed.sum(&step, &output, &labels)),
        (
            &Nll::new().ignore(IGNORED),
            &logarithms,
            Nll::new().ignore(IGNORED).sum(&step, &logarithms, &labels),
        ),
    ];
    for (loss, output, whole) in losses {
        let (whole, elements) = (whole.unwrap().to_vec().unwrap()[0], output.to_vec().unwrap());
        let parts: f64 = [0..5, 5..batch]
            .map(|part| {
                let elements = elements[part.start * width..part.end * width].to_vec();
                let output = rt.from_vec([part.len(), width], elements).unwrap();
                let labels = rt.from_vec([part.len()], values[part].to_vec()).unwrap();
                loss.of(&step, &output, &labels, 0.5).unwrap().to_vec().unwrap()[0]
            })
            .iter()
            .sum();
        assert!((parts - 0.5 * whole).abs() < 1e-12, "{parts}, not half of {whole}");
    }
}

#[test]
fn tokens_are_samples() {
    let (rt, table) = (runtime(), RefCell::default());
    let case = Case::<f64>::new(&table, "cross_entropy_ignore");
    let (output, labels) = (case.array::<2>(&rt, "output"), case.integers::<1>(&rt, "labels"));
    let [tokens, vocabulary] = output.shape();
    let step = Step::evaluating(&rt);
    let (output, labels) =
        (output.reshape([1, tokens, vocabulary]).unwrap(), labels.reshape([1, tokens]).unwrap());
    let mean = CrossEntropy.ignore(IGNORED).of_tokens(&step, &output, &labels).unwrap().read().unwrap()[[]];
    let expected = case.values("mean")[0];
    assert!((mean - expected).abs() <= 1e-12, "{mean}, not {expected}");
    let wrong = rt.zeros([tokens, 1]).unwrap();
    let loss: WeightedCrossEntropy<'_, f64> = CrossEntropy.smoothing(0.1);
    assert!(loss.of_tokens(&step, &output, &wrong).is_err());
}

/// As in PyTorch: the mean of nothing is no number, and its sum is 0.
#[test]
fn if_all_labels_are_ignored() {
    let rt = runtime();
    let step = Step::evaluating(&rt);
    let output = rt.from_vec([2, 3], vec![0.5_f32; 6]).unwrap();
    let labels = rt.from_vec([2], vec![7_u32; 2]).unwrap();
    let loss = CrossEntropy.ignore(7);
    assert!(loss.mean(&step, &output, &labels).unwrap().to_vec().unwrap()[0].is_nan());
    assert_eq!(loss.sum(&step, &output, &labels).unwrap().to_vec().unwrap(), [0.0]);
    assert_eq!(loss.each(&step, &output, &labels).unwrap().to_vec().unwrap(), [0.0; 2]);
}

#[test]
fn wrong_shapes_and_options_are_refused() {
    let rt = runtime();
    let step = Step::evaluating(&rt);
    let (x, y) = (rt.zeros::<f32, 2>([2, 3]).unwrap(), rt.zeros::<f32, 2>([2, 1]).unwrap());
    let labels = rt.zeros([2]).unwrap();
    let (two, three) = (rt.zeros::<f32, 1>([2]).unwrap(), rt.zeros::<f32, 1>([3]).unwrap());
    assert!(Mse.each(&step, &x, &y).is_err());
    assert!(Huber { delta: 0.0 }.each(&step, &x, &x).is_err());
    assert!(SmoothL1 { beta: -1.0 }.each(&step, &x, &x).is_err());
    assert!(BceWithLogits.pos_weight(&three).each(&step, &x, &y).is_err());
    assert!(BceWithLogits.pos_weight(&two).each(&step, &x, &x).is_err());
    assert!(BceWithLogits.pos_weight(&three).each(&step, &x, &x).is_ok());
    assert!(CrossEntropy.smoothing(1.5).mean(&step, &x, &labels).is_err());
    assert!(CrossEntropy.weights(&two).mean(&step, &x, &labels).is_err());
    assert!(CosineEmbedding::default().each(&step, &x, &y, &two).is_err());
}
