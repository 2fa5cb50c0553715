//! An invalid setting is an error that names it and the line of the call.

use dahl::prelude::*;
use dahl_nn::prelude::*;

/// Requires that the error has the words and the line.
#[track_caller]
fn assert_names<R>(result: dahl::Result<R>, line: u32, words: &[&str]) {
    let Err(error) = result else { panic!("{words:?} is not refused") };
    let text = error.to_string();
    let place = format!("{}:{line}:", file!());
    assert!(text.contains(&place) && words.iter().all(|word| text.contains(word)), "{text}, not {place}");
}

fn fit(arena: &Arena, optimizer: Sgd<f32>) -> dahl::Result<History> {
    let mut model = Sequential::<f32>::new(arena, [4], 1).dense(2)?;
    Trainer::new(&mut model, CrossEntropy, optimizer).fit(&Synthetic::new(&[4], 2, 8, 1))
}

#[test]
fn of_an_optimizer() {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let arena = rt.arena();
    for rate in [f64::NAN, f64::INFINITY, -0.1, 1e300] {
        let (sgd, line) = (Sgd::new(rate), line!());
        assert_names(fit(&arena, sgd), line, &["learning_rate", &format!("= {rate}:")]);
    }
    for momentum in [f64::NAN, -0.1, 1.0, f64::INFINITY] {
        let (sgd, line) = (Sgd::new(0.1).momentum(momentum), line!());
        assert_names(fit(&arena, sgd), line, &["momentum", &format!("= {momentum}:")]);
    }
    for decay in [f64::NAN, -0.1, f64::INFINITY] {
        let (sgd, line) = (Sgd::new(0.1).weight_decay(decay), line!());
        assert_names(fit(&arena, sgd), line, &["weight_decay", &format!("= {decay}:")]);
    }
    // The first invalid setting is reported; setting it again to a valid value corrects it.
    let (sgd, line) = (Sgd::new(-1.0).momentum(-2.0), line!());
    assert_names(fit(&arena, sgd), line, &["learning_rate = -1"]);
    fit(&arena, Sgd::new(0.1).momentum(2.0).momentum(0.9).weight_decay(0.0)).unwrap();
    fit(&arena, Sgd::new(0.0)).unwrap();
    // Without a trainer, the update reports it.
    let (mut sgd, line) = (Sgd::<f32>::new(f64::NAN), line!());
    let mut parameter = Init::new(&arena, 1).uniform(&[3], 1.0).unwrap();
    let before = parameter.value.to_vec().unwrap();
    assert_names(sgd.step(&mut parameter), line, &["learning_rate = NaN"]);
    assert_eq!(parameter.value.to_vec().unwrap(), before);
}

/// Requires that a step with this optimizer is refused, with the line of the call.
#[track_caller]
fn refused(mut optimizer: impl Optimizer<f32>, words: &[&str]) {
    let line = std::panic::Location::caller().line();
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let arena = rt.arena();
    let mut parameter = Init::new(&arena, 1).uniform::<f32>(&[3], 1.0).unwrap();
    let before = parameter.value.to_vec().unwrap();
    assert_names(optimizer.step(&mut parameter), line, words);
    assert_eq!(parameter.value.to_vec().unwrap(), before);
}

#[test]
fn of_other_optimizers() {
    refused(Sgd::new(0.1).nesterov(), &["Sgd: nesterov", "a momentum above 0"]);
    refused(Sgd::new(0.1).momentum(0.9).nesterov().momentum(0.0), &["Sgd: nesterov"]);
    refused(Adam::new(-1.0), &["Adam: learning_rate = -1"]);
    refused(AdamW::new(f64::NAN), &["AdamW: learning_rate = NaN"]);
    refused(Adam::new(0.1).betas(0.9, 1.0), &["Adam: betas = [0.9, 1.0]"]);
    refused(AdamW::new(0.1).betas(-0.1, 0.9), &["AdamW: betas"]);
    refused(AdamW::new(0.1).eps(f64::INFINITY), &["AdamW: eps = inf"]);
    refused(Adam::new(0.1).weight_decay(-0.1), &["Adam: weight_decay = -0.1"]);
    refused(RmsProp::new(0.1).alpha(1.0), &["RmsProp: alpha = 1"]);
    refused(RmsProp::new(0.1).momentum(-1.0), &["RmsProp: momentum = -1"]);
    refused(Adagrad::new(0.1).lr_decay(-1.0), &["Adagrad: lr_decay = -1"]);
    refused(Adagrad::new(0.1).initial_accumulator_value(1e300), &["Adagrad: initial_accumulator_value"]);
    refused(Adadelta::new(1.0).rho(1.5), &["Adadelta: rho = 1.5"]);
    refused(Lion::new(0.1).betas(2.0, 0.9), &["Lion: betas"]);
    refused(Lamb::new(0.1).eps(-1.0), &["Lamb: eps = -1"]);
    refused(AdamW::new(0.1).group(|_| true, |group| group.weight_decay(-2.0)), &["weight_decay = -2"]);
    let nested = |group: AdamW<f32>| group.group(|_| true, |group| group);
    refused(AdamW::new(0.1).group(|_| true, nested), &["no group in a group"]);
    // Set to a valid value again.
    Sgd::<f32>::new(0.1).nesterov().momentum(0.9).check_settings().unwrap();
    AdamW::<f32>::new(-0.1).learning_rate(0.1).check_settings().unwrap();
    let mut optimizer = AdamW::<f32>::new(0.1);
    optimizer.set_learning_rate(f64::NAN);
    let line = line!() - 1;
    assert_names(optimizer.check_settings(), line, &["AdamW: learning_rate = NaN"]);
    optimizer.set_learning_rate(0.2);
    optimizer.check_settings().unwrap();
}

#[test]
fn of_what_surrounds_a_step() {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let arena = rt.arena();
    let mut parameter = Init::new(&arena, 1).uniform::<f32>(&[3], 1.0).unwrap();
    for max in [-1.0, f64::NAN] {
        assert_names(clip_gradient_norm(&mut parameter, max).map(drop), line!(), &["max_norm"]);
        assert_names(clip_gradient_value(&mut parameter, max), line!(), &["limit"]);
    }
    let (mut average, line) = (WeightAverage::exponential(1.5), line!());
    assert_names(average.update(&parameter), line, &["WeightAverage: decay = 1.5"]);
    let (mut average, line) = (WeightAverage::mean().every(0), line!());
    assert_names(average.update(&parameter), line, &["WeightAverage: every = 0"]);
    let scalers = [
        (LossScaler::new().initial_scale(0.0), line!(), "initial_scale = 0"),
        (LossScaler::new().growth_factor(1.0), line!(), "growth_factor = 1"),
        (LossScaler::new().backoff_factor(1.0), line!(), "backoff_factor = 1"),
        (LossScaler::new().growth_interval(0), line!(), "growth_interval = 0"),
    ];
    for (mut scaler, line, words) in scalers {
        assert_names(scaler.step(&mut Sgd::new(0.1), &mut parameter), line, &[words]);
    }
}

/// Requires that this schedule is refused, with the line of the call, and has no rate.
#[track_caller]
fn no_schedule(schedule: impl Schedule, words: &[&str]) {
    assert_names(schedule.check_settings(), std::panic::Location::caller().line(), words);
    assert!(schedule.at(0).is_nan());
}

#[test]
fn of_a_schedule() {
    no_schedule(StepDecay::new(0.1, 0), &["StepDecay: every = 0"]);
    no_schedule(StepDecay::new(0.1, 3).factor(-1.0), &["StepDecay: factor = -1"]);
    no_schedule(ExponentialDecay::new(f64::NAN, 0.9), &["ExponentialDecay: initial = NaN"]);
    no_schedule(Cosine::new(-0.1, 10), &["Cosine: peak = -0.1"]);
    no_schedule(Cosine::new(0.1, 0), &["Cosine: steps = 0"]);
    no_schedule(Cosine::new(0.1, 10).warmup(10), &["Cosine: warmup = 10"]);
    no_schedule(Cosine::new(0.1, 10).warmup_from(1.5), &["Cosine: warmup_from = 1.5"]);
    no_schedule(CosineRestarts::new(0.1, 0), &["CosineRestarts: period = 0"]);
    no_schedule(CosineRestarts::new(0.1, 5).multiplier(0), &["CosineRestarts: multiplier = 0"]);
    no_schedule(OneCycle::new(0.1, 0), &["OneCycle: steps = 0"]);
    no_schedule(OneCycle::new(0.1, 10).rising(2.0), &["OneCycle: rising = 2"]);
    no_schedule(OneCycle::new(0.1, 10).end_divisor(0.0), &["OneCycle: end_divisor = 0"]);
    no_schedule(Lambda::new(f64::INFINITY, |_| 1.0), &["Lambda: initial = inf"]);
    let (mut plateau, line) = (Plateau::new(0.1).factor(1.0), line!());
    assert_names(plateau.check_settings(), line, &["Plateau: factor = 1"]);
    assert!(plateau.observe(1.0).is_nan());
}

#[test]
fn of_a_trainer() {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let arena = rt.arena();
    let data = Synthetic::new(&[4], 2, 8, 1);
    let mut model = Sequential::<f32>::new(&arena, [4], 1).dense(2).unwrap();
    macro_rules! trainer {
        () => {
            Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1))
        };
    }
    let (wrong, line) = (trainer!().batch_size(0), line!());
    assert_names(wrong.fit(&data), line, &["batch_size = 0", "from 1"]);
    let (wrong, line) = (trainer!().epochs(0), line!());
    assert_names(wrong.fit(&data), line, &["epochs = 0", "from 1"]);
    let (wrong, line) = (trainer!().micro_batch_size(0), line!());
    assert_names(wrong.fit(&data), line, &["micro_batch_size = 0", "from 1"]);
    trainer!().epochs(0).epochs(1).fit(&data).unwrap();
}

#[test]
fn of_a_layer() {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let arena = rt.arena();
    let mut init = Init::new(&arena, 1);
    let model = || Sequential::<f32>::new(&arena, [1, 6, 6], 1);
    assert_names(model().flatten().unwrap().dense(0), line!(), &["layer 1 (dense)", "outputs = 0"]);
    assert_names(model().conv2d(0, 3), line!(), &["layer 0 (conv2d)", "filters = 0"]);
    assert_names(model().conv2d(2, 0), line!(), &["layer 0 (conv2d)", "kernel = [0, 0]"]);
    assert_names(model().conv2d(2, 7), line!(), &["layer 0 (conv2d)", "[7, 7]", "[1, 6, 6]"]);
    assert_names(model().max_pool2d(0), line!(), &["layer 0 (max_pool2d)", "size = 0"]);
    assert_names(model().avg_pool2d(0), line!(), &["layer 0 (avg_pool2d)", "size = 0"]);
    assert_names(model().avg_pool2d(7), line!(), &["layer 0 (avg_pool2d)", "7", "[1, 6, 6]"]);
    let still = Conv2dOptions { stride: [1, 0], ..Conv2dOptions::square(2) };
    assert_names(model().conv2d_with(2, still), line!(), &["layer 0 (conv2d)", "stride = [1, 0]"]);
    assert_names(Conv2d::<f32>::new(&mut init, 1, 2, still), line!(), &["Conv2d: stride"]);
    assert_names(Linear::<f32>::new(&mut init, 0, 2), line!(), &["Linear: inputs = 0"]);
    assert_names(Embedding::<f32>::new(&mut init, 0, 2), line!(), &["Embedding: count = 0"]);
    let padded = Embedding::<f32>::with_padding(&mut init, 5, 2, 5);
    assert_names(padded, line!() - 1, &["Embedding: padding = 5 of 5 tokens"]);
    assert_names(MaxPool2d::new(0), line!(), &["MaxPool2d: size = 0"]);
    assert_names(AvgPool2d::new(0), line!(), &["AvgPool2d: size = 0"]);
    for bound in [f64::NAN, -1.0, f64::INFINITY] {
        let made = init.uniform::<f32>(&[2], bound);
        assert_names(made, line!() - 1, &["bound", &format!("= {bound}:")]);
    }
    // Sizes that are no numbers, or that no memory holds.
    let wide = || Sequential::<f32>::new(&arena, [1 << 62], 1);
    assert_names(wide().dense(4), line!(), &["D0009", "[4, 4611686018427387904]"]);
    assert_names(model().flatten().unwrap().dense(1 << 50), line!(), &["D0006"]);
    assert_names(model().conv2d(1 << 50, 3), line!(), &["D0006"]);
    let (uncountable, line) = (Sequential::<f32>::new(&arena, [1 << 62, 8], 1), line!());
    assert_names(uncountable.flatten(), line, &["input = [4611686018427387904, 8]"]);
    // A constructor that cannot fail keeps the error for the first call that can.
    let (empty, line) = (Sequential::<f32>::new(&arena, [1, 0, 6], 1), line!());
    assert_names(empty.relu(), line, &["input = [1, 0, 6]"]);
}

#[test]
fn of_dropout() {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let input = rt.from_vec([2], vec![1.0_f32, 2.0]).unwrap();
    for probability in [f64::NAN, -0.1, 1.0, 2.0] {
        let (dropout, line) = (Dropout::new(probability), line!());
        assert_names(dropout.forward(&Step::evaluating(&rt), &input).map(drop), line, &["probability"]);
    }
}

#[test]
fn of_norms() {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let arena = rt.arena();
    let (step, input) = (Step::evaluating(&rt), rt.zeros::<f32, 3>([1, 2, 3]).unwrap());
    for epsilon in [f64::NAN, -0.1, f64::INFINITY] {
        let of_groups = GroupNorm::new(&mut Init::new(&arena, 1), 1, 2).unwrap();
        let (norm, line) = (of_groups.epsilon(epsilon), line!());
        assert_names(norm.forward(&step, &input).map(drop), line, &["GroupNorm: epsilon"]);
        let (norm, line) = (InstanceNorm::new().epsilon(epsilon), line!());
        assert_names(norm.forward(&step, &input).map(drop), line, &["InstanceNorm: epsilon"]);
    }
}

#[test]
#[should_panic(expected = "Synthetic: classes = 0")]
fn of_a_data_set() {
    let _ = Synthetic::new(&[4], 0, 8, 1);
}
