//! The same losses as PyTorch's, epoch by epoch, from the same weights on the same data in the same order.
//! `tests/reference/make_trajectories.py` made the numbers.

use std::path::{Path, PathBuf};

use dahl::prelude::*;
use dahl_nn::layer::Conv2dOptions;
use dahl_nn::module::Name;
use dahl_nn::prelude::*;
use safetensors::SafeTensors;

fn reference(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference").join(file)
}

/// Copies the reference's weights, rounded to `T`, into the model.
fn start_from<T: Real>(model: &mut Sequential<'_, T>, file: &str) {
    let bytes = std::fs::read(reference(file)).expect("the reference is part of the repository");
    let file = SafeTensors::deserialize(&bytes).expect("a safetensors file");
    let mut count = 0;
    let start = |name: &Name<'_>, parameter: &mut Parameter<'_, T>| {
        let tensor = file.tensor(&name.to_string()).expect("PyTorch's names");
        assert_eq!(tensor.shape(), parameter.shape);
        let values = tensor.data().chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()));
        let mut guard = parameter.value.write()?;
        guard.iter_mut().zip(values).for_each(|(element, value)| *element = T::from_f64(value));
        count += 1;
        Ok(())
    };
    model.for_each_parameter(start).unwrap();
    assert_eq!(count, file.len());
}

/// Losses and counts of the run `name`, epoch by epoch.
fn expected(name: &str) -> Vec<(f64, u64)> {
    let text = std::fs::read_to_string(reference("trajectories.json")).unwrap();
    let all: serde_json::Value = serde_json::from_str(&text).unwrap();
    let epochs = all[name].as_array().expect("a run of this name");
    epochs.iter().map(|epoch| (epoch["loss"].as_f64().unwrap(), epoch["correct"].as_u64().unwrap())).collect()
}

fn compare(name: &str, history: &History, max_relative: f64, counts: bool) {
    let expected = expected(name);
    assert_eq!(history.epochs.len(), expected.len());
    println!("{name}: epoch, PyTorch's loss, ours, relative difference, counts");
    for (epoch, (loss, correct)) in history.epochs.iter().zip(expected) {
        let relative = (epoch.loss - loss).abs() / loss;
        println!(
            "{:>2} {loss:.15} {:.15} {relative:.1e} {correct} {}",
            epoch.epoch, epoch.loss, epoch.correct
        );
        assert!(relative <= max_relative, "{name}, epoch {}: {relative:e}", epoch.epoch);
        assert!(!counts || epoch.correct == correct, "{name}, epoch {}: counts", epoch.epoch);
    }
}

fn small<T: Real>(max_relative: f64, micro_batch_size: usize) {
    let rt = Runtime::builder().cpu_workers(2).build().unwrap();
    let arena = rt.arena();
    let data = FashionMnist::embedded().unwrap();
    let model = Sequential::<T>::new(&arena, [1, 28, 28], 0).conv2d(4, 3).unwrap().relu().unwrap();
    let mut model = model.max_pool2d(2).unwrap().flatten().unwrap().dense(10).unwrap();
    start_from(&mut model, "small.safetensors");
    let trainer =
        Trainer::new(&mut model, CrossEntropy, Sgd::new(0.001)).batch_size(10).epochs(5).no_shuffle();
    let history = trainer.micro_batch_size(micro_batch_size).fit(&data.train).unwrap();
    compare(&format!("small_{}", T::NAME), &history, max_relative, T::NAME == "f64");
}

fn strided<T: Real>(max_relative: f64, micro_batch_size: usize) {
    let rt = Runtime::builder().cpu_workers(2).scheduler("eager").build().unwrap();
    let arena = rt.arena();
    let data = FashionMnist::embedded().unwrap().train.limited(2000);
    let padded = Conv2dOptions { padding: [1; 2], ..Conv2dOptions::square(3) };
    let strided = Conv2dOptions { stride: [2; 2], ..padded };
    let model = Sequential::<T>::new(&arena, [1, 28, 28], 0).conv2d_with(6, padded).unwrap().relu().unwrap();
    let model = model.max_pool2d(2).unwrap().conv2d_with(8, strided).unwrap().relu().unwrap();
    let mut model = model.flatten().unwrap().dense(10).unwrap();
    start_from(&mut model, "strided.safetensors");
    let optimizer = Sgd::new(0.01).momentum(0.9).weight_decay(5e-4);
    let trainer = Trainer::new(&mut model, CrossEntropy, optimizer).batch_size(64).epochs(3).no_shuffle();
    let history = trainer.micro_batch_size(micro_batch_size).fit(&data).unwrap();
    compare(&format!("strided_{}", T::NAME), &history, max_relative, T::NAME == "f64");
}

#[test]
fn small_f64() {
    small::<f64>(1e-10, 10);
}

#[test]
fn small_f64_in_parts_of_three_samples() {
    small::<f64>(1e-10, 3);
}

#[test]
fn small_f32() {
    small::<f32>(1e-5, 10);
}

#[test]
fn strided_f64() {
    strided::<f64>(1e-10, 64);
}

#[test]
fn strided_f32_in_parts() {
    strided::<f32>(1e-5, 20);
}
