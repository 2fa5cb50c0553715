//! Training as a whole: short batches, invalid settings, the history, parameter files.

use std::fs;

use dahl::ops;
use dahl::prelude::*;
use dahl_nn::layer::Conv2dOptions;
use dahl_nn::prelude::*;

fn model<'m, T: Real>(arena: &'m Arena, seed: u64) -> Sequential<'m, T> {
    let model = Sequential::new(arena, [2, 9, 8], seed).conv2d(3, 3).unwrap().relu().unwrap();
    model.max_pool2d(2).unwrap().flatten().unwrap().dense(4).unwrap()
}

#[test]
fn a_model_learns_in_every_element_type() {
    fn learn<T: Real>() {
        let rt = Runtime::builder().cpu_workers(2).build().unwrap();
        let arena = rt.arena();
        let (train, test) =
            (Synthetic::new(&[2, 9, 8], 4, 400, 1), Synthetic::new(&[2, 9, 8], 4, 100, 1).starting_at(400));
        let mut model = model::<T>(&arena, 1);
        let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1)).batch_size(16).epochs(4);
        let history = trainer.validation(&test).fit(&train).unwrap();
        let last = history.epochs.last().unwrap();
        let evaluation = model.evaluate(CrossEntropy, &test).unwrap();
        assert_eq!(last.validation, Some(evaluation), "{}", T::NAME);
        assert!(evaluation.accuracy > 0.95, "{}: {evaluation:?}", T::NAME);
        assert!(last.loss < history.epochs[0].loss, "{}", T::NAME);
        let classes = model.predict(&test).unwrap();
        let right = classes.iter().enumerate().filter(|&(i, &class)| class == test.label(i)).count();
        assert_eq!(right as u64, evaluation.correct, "{}", T::NAME);
    }
    learn::<f16>();
    learn::<bf16>();
    learn::<f32>();
    learn::<f64>();
}

#[test]
fn more_batches_than_may_be_on_their_way_keep_their_order() {
    let rt = Runtime::builder().cpu_workers(2).build().unwrap();
    let arena = rt.arena();
    // More than 64 batches of evaluation, and of training; the last ones short.
    let data = Synthetic::new(&[3], 5, 70 * 256 + 3, 9);
    let mut model = Sequential::<f64>::new(&arena, [3], 4).dense(5).unwrap();
    let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1)).batch_size(32);
    assert!(trainer.fit(&data).unwrap().epochs[0].accuracy > 0.3);
    let classes = model.predict(&data).unwrap();
    assert_eq!(classes.len(), data.len());
    let hits = classes.iter().enumerate().filter(|&(i, &class)| class == data.label(i)).count();
    assert_eq!(model.evaluate(CrossEntropy, &data).unwrap().correct, hits as u64);
    // The same as single samples.
    for index in [0, 255, 256, 64 * 256 + 1, data.len() - 1] {
        let mut features = vec![0.0; 3];
        data.copy_sample::<f64>(index, &mut features);
        let step = Step::evaluating(&rt);
        let output = model.forward(&step, &arena.from_vec([1, 3], features).unwrap()).unwrap();
        let scores = output.to_vec().unwrap();
        let best = (0..5).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
        assert_eq!(classes[index], best as u32, "sample {index}");
    }
}

#[test]
fn the_last_batch_may_be_short_and_counts_by_its_samples() {
    let rt = Runtime::builder().cpu_workers(2).build().unwrap();
    let arena = rt.arena();
    let data = Synthetic::new(&[2, 9, 8], 4, 23, 1);
    let mut still = model::<f64>(&arena, 1);
    // With a learning rate of 0 the epoch's loss is the evaluation's, in whatever batches.
    let trainer =
        Trainer::new(&mut still, CrossEntropy, Sgd::new(0.0)).batch_size(10).micro_batch_size(4).no_shuffle();
    let history = trainer.fit(&data).unwrap();
    let evaluation = still.evaluate(CrossEntropy, &data).unwrap();
    assert!((history.epochs[0].loss - evaluation.loss).abs() < 1e-14, "{history:?} {evaluation:?}");
    assert_eq!(history.epochs[0].correct, evaluation.correct);
}

#[test]
fn settings_and_data_that_cannot_be_are_refused() {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let arena = rt.arena();
    let mut model = model::<f32>(&arena, 1);
    let data = Synthetic::new(&[2, 9, 8], 4, 8, 1);
    let error = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1)).batch_size(0).fit(&data).unwrap_err();
    assert!(error.to_string().contains("batch_size = 0"), "{error}");
    let error = model.evaluate(CrossEntropy, &Synthetic::new(&[1, 9, 8], 4, 8, 1)).unwrap_err().to_string();
    assert!(error.contains("[2, 9, 8]") && error.contains("[1, 9, 8]"), "{error}");
    let error = model.predict(&Synthetic::new(&[2, 9, 8], 5, 8, 1)).unwrap_err().to_string();
    assert!(error.contains("4 outputs") && error.contains("5 classes"), "{error}");
    let error = model.evaluate(CrossEntropy, &Synthetic::new(&[2, 9, 8], 4, 0, 1)).unwrap_err().to_string();
    assert!(error.contains("no samples"), "{error}");
    let error =
        Sequential::<f32>::new(&arena, [1, 4, 4], 1).relu().unwrap().conv2d(2, 5).unwrap_err().to_string();
    assert!(error.contains("layer 1") && error.contains("[5, 5]") && error.contains("[1, 4, 4]"), "{error}");
    let plain = Conv2dOptions::square(3);
    for (options, named) in [
        (Conv2dOptions { stride: [0, 1], ..plain }, "stride = [0, 1]"),
        (Conv2dOptions { kernel: [0, 3], ..plain }, "kernel = [0, 3]"),
        (Conv2dOptions { padding: [usize::MAX, 0], ..plain }, "fits the padded images"),
    ] {
        let model = Sequential::<f32>::new(&arena, [1, 4, 4], 1);
        let error = model.conv2d_with(2, options).unwrap_err().to_string();
        assert!(error.contains("layer 0") && error.contains(named), "{error}");
    }
    let error = Sequential::<f32>::new(&arena, [1, 4, 4], 1).dense(3).unwrap_err().to_string();
    assert!(error.contains("flatten") && error.contains("[1, 4, 4]"), "{error}");
}

/// Eight samples; the last one's label is not a class.
struct Mislabelled(Synthetic);

impl Dataset for Mislabelled {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn sample_shape(&self) -> &[usize] {
        self.0.sample_shape()
    }

    fn classes(&self) -> usize {
        self.0.classes()
    }

    fn copy_sample<T: Real>(&self, index: usize, features: &mut [T]) {
        self.0.copy_sample(index, features);
    }

    fn label(&self, index: usize) -> u32 {
        if index == 7 { 4 } else { self.0.label(index) }
    }
}

#[test]
fn a_label_that_is_no_class_is_refused_and_the_model_survives() {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let arena = rt.arena();
    let mut model = model::<f32>(&arena, 1);
    let data = Mislabelled(Synthetic::new(&[2, 9, 8], 4, 8, 1));
    let training = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1)).batch_size(8).fit(&data);
    let evaluation = model.evaluate(CrossEntropy, &data);
    for error in [training.unwrap_err(), evaluation.unwrap_err()] {
        let text = error.to_string();
        assert!(["sample 7", "label 4", "below 4"].iter().all(|part| text.contains(part)), "{text}");
    }
    assert_eq!(model.predict(&data).unwrap().len(), 8);
    model.evaluate(CrossEntropy, &data.0).unwrap();
}

#[test]
fn parameters_start_within_pytorchs_bounds() {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let arena = rt.arena();
    let model = Sequential::<f64>::new(&arena, [3, 9, 8], 1).conv2d(40, 3).unwrap().flatten().unwrap();
    let model = model.dense(7).unwrap();
    let fan_ins = [27.0, 27.0, 1680.0, 1680.0_f64];
    for (parameter, fan_in) in model.parameters().zip(fan_ins) {
        let name = parameter.name();
        let (bound, values) = (1.0 / fan_in.sqrt(), parameter.value.to_vec().unwrap());
        assert!(values.iter().all(|value| value.abs() <= bound), "{name}");
        assert!(values.iter().any(|value| value.abs() > bound / 2.0), "{name}");
        if values.len() > 1000 {
            // The variance of a uniform distribution is bound^2 / 3.
            let variance = values.iter().map(|value| value * value).sum::<f64>() / values.len() as f64;
            assert!((variance * 3.0 / (bound * bound) - 1.0).abs() < 0.1, "{name}: {variance}");
        }
    }
}

#[test]
fn the_history_becomes_csv() {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let arena = rt.arena();
    let data = Synthetic::new(&[2, 9, 8], 4, 8, 1);
    let mut model = model::<f32>(&arena, 1);
    let history = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1)).epochs(2).fit(&data).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("training.csv");
    history.to_csv(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let joules = if history.epochs[0].energy.value().is_some() { ",joules" } else { "" };
    assert_eq!(lines[0], format!("epoch,loss,accuracy,samples_per_second{joules}"));
    assert_eq!(lines.len(), 3);
    assert!(lines[2].starts_with(&format!("2,{},{},", history.epochs[1].loss, history.epochs[1].accuracy)));
    assert!(history.to_csv(folder.path().join("no/such/folder.csv")).is_err());
}

#[test]
fn parameters_go_to_a_file_and_back() {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let arena = rt.arena();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let (one, mut two) = (model::<bf16>(&arena, 1), model::<bf16>(&arena, 2));
    let values = |model: &Sequential<'_, bf16>| -> Vec<_> {
        model.parameters().map(|named| (named.name().to_owned(), named.value.to_vec().unwrap())).collect()
    };
    assert_ne!(values(&one), values(&two));
    one.save(&path).unwrap();
    two.load(&path).unwrap();
    assert_eq!(values(&one), values(&two));
    let names: Vec<String> = one.parameters().map(|named| named.name().to_owned()).collect();
    assert_eq!(names, ["0.weight", "0.bias", "4.weight", "4.bias"]);
}

#[test]
fn files_that_do_not_fit_are_refused_whole() {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let arena = rt.arena();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut own = model::<f32>(&arena, 1);
    let before: Vec<_> = own.parameters().map(|parameter| parameter.value.to_vec().unwrap()).collect();
    let other_shape = Sequential::<f32>::new(&arena, [2, 9, 8], 1).conv2d(3, 3).unwrap().relu().unwrap();
    let other_shape = other_shape.max_pool2d(2).unwrap().flatten().unwrap().dense(5).unwrap();
    other_shape.save(path("shape")).unwrap();
    model::<f64>(&arena, 1).save(path("type")).unwrap();
    Sequential::<f32>::new(&arena, [2, 9, 8], 1).conv2d(3, 3).unwrap().save(path("fewer")).unwrap();
    let more = model::<f32>(&arena, 2).dense(2).unwrap();
    more.save(path("more")).unwrap();
    fs::write(path("garbage"), b"not a safetensors file at all").unwrap();
    let good = fs::read(path("shape")).unwrap();
    fs::write(path("cut"), &good[..good.len() - 5]).unwrap();
    // The same file with one name twice in its header: which of the two is it?
    let text = String::from_utf8_lossy(&good[8..]);
    let header = &text[..text.find("}}").unwrap() + 1];
    let twice = format!("{header},{}", &header[header.find("\"0.bias\"").unwrap()..]);
    let twice = twice[..twice.rfind("},\"").unwrap_or(twice.len() - 1)].to_owned() + "}}";
    let len = u64::from_le_bytes(good[..8].try_into().unwrap()) as usize;
    let bytes = [&(twice.len() as u64).to_le_bytes(), twice.as_bytes(), &good[8 + len..]].concat();
    fs::write(path("twice"), bytes).unwrap();
    for (name, parts) in [
        ("twice", ["0.", "two of this name", "nothing was loaded"]),
        ("shape", ["4.weight", "[4, 27]", "[5, 27]"]),
        ("type", ["0.weight", "f32 [3, 2, 3, 3]", "f64"]),
        ("fewer", ["4.weight", "f32", "no such tensor"]),
        ("more", ["5.", "no such tensor", "nothing was loaded"]),
        ("garbage", ["garbage", "expected", "safetensors"]),
        ("cut", ["cut", "expected", "safetensors"]),
        ("missing", ["missing", "No such file", ""]),
    ] {
        let text = own.load(path(name)).unwrap_err().to_string();
        assert!(parts.iter().all(|part| text.contains(part)), "{name}: {text}");
        let after: Vec<_> = own.parameters().map(|parameter| parameter.value.to_vec().unwrap()).collect();
        assert_eq!(before, after, "{name}");
    }
}

#[test]
fn an_optimizer_that_is_lent_keeps_what_it_remembers() {
    let rt = Runtime::builder().cpu_workers(1).build().unwrap();
    let arena = rt.arena();
    let data = Synthetic::new(&[2, 9, 8], 4, 40, 1);
    let parameters = |model: &Sequential<'_, f64>| -> Vec<Vec<f64>> {
        model.parameters().map(|parameter| parameter.value.to_vec().unwrap()).collect()
    };
    let (mut at_once, mut twice) = (model::<f64>(&arena, 1), model::<f64>(&arena, 1));
    let optimizer = || Sgd::new(0.1).momentum(0.9);
    Trainer::new(&mut at_once, CrossEntropy, optimizer()).no_shuffle().epochs(2).fit(&data).unwrap();
    let mut lent = optimizer();
    for _ in 0..2 {
        Trainer::new(&mut twice, &CrossEntropy, &mut lent).no_shuffle().fit(&data).unwrap();
    }
    assert_eq!(parameters(&at_once), parameters(&twice));
}

/// What code for any module does in a step of evaluation: the sum of the first parameter.
fn sum_of_the_first_parameter<M: Module<f32>>(rt: &Runtime, model: &M) -> dahl::Result<f32> {
    model.evaluate(rt, |step, model| {
        let named = model.parameters().next().expect("it has parameters");
        Ok(ops::sum_init(step, &named.parameter().value)?.read()?[[]])
    })
}

/// `Sequential::evaluate` is on a data set; a step of one's own is a `Step`, and code for any module calls that of `Module`.
#[test]
fn a_sequential_evaluates_on_data_in_a_step_and_as_any_module() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let model = model::<f32>(&arena, 1);
    let test = Synthetic::new(&[2, 9, 8], 4, 50, 1);
    let mut features = vec![0.0; 50 * 144];
    features.chunks_exact_mut(144).enumerate().for_each(|(index, row)| test.copy_sample(index, row));
    let x = rt.from_vec([50, 144], features)?;
    let step = Step::evaluating(&rt);
    let classes = ops::arg_max_init(&step, &model.forward(&step, &x)?, 1)?.to_vec()?;
    assert_eq!(classes, model.predict(&test)?);
    let right = classes.iter().enumerate().filter(|&(index, &class)| class == test.label(index)).count();
    assert_eq!(model.evaluate(CrossEntropy, &test)?.correct, right as u64);
    let of_trait =
        Module::evaluate(&model, &rt, |step, model: &Sequential<'_, f32>| model.forward(step, &x)?.to_vec())?;
    assert_eq!(of_trait, model.forward(&step, &x)?.to_vec()?);
    let first: f32 = model.parameters().next().expect("a filter").value.to_vec()?.iter().sum();
    assert!((sum_of_the_first_parameter(&rt, &model)? - first).abs() <= 1e-5);
    Ok(())
}
