//! Training gives the same bits for any number of workers and every scheduler, in every element type.
//!
//! `cargo test -p dahl-nn --test determinism -- --nocapture` shows the table.

use dahl::prelude::*;
use dahl_nn::prelude::*;

const WORKERS: [usize; 3] = [1, 2, 3];

/// What a training leaves: a hash of all bits of all parameters, and the loss of the last epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Outcome {
    hash: u64,
    loss: f64,
}

/// FNV-1a.
fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Two epochs of a convolutional network, with a short last batch and parts that do not divide the batch.
fn train<T: Real>(workers: usize, scheduler: &str) -> Outcome {
    let rt = Runtime::builder().cpu_workers(workers).scheduler(scheduler).build().unwrap();
    let arena = rt.arena();
    let data = Synthetic::new(&[2, 9, 8], 4, 203, 5);
    let model = Sequential::<T>::new(&arena, [2, 9, 8], 3).conv2d(3, 3).unwrap().relu().unwrap();
    let mut model = model.max_pool2d(2).unwrap().flatten().unwrap().dense(4).unwrap();
    let optimizer = Sgd::new(0.05).momentum(0.9).weight_decay(1e-4);
    let trainer = Trainer::new(&mut model, CrossEntropy, optimizer).batch_size(50).granularity(7).epochs(2);
    let history = trainer.fit(&data).unwrap();
    let mut bytes = Vec::new();
    for (_, parameter) in model.parameters() {
        for value in parameter.value.to_vec().unwrap() {
            let start = bytes.len();
            bytes.resize(start + T::SIZE_BYTES, 0);
            value.encode(&mut bytes[start..]);
        }
    }
    Outcome { hash: hash(bytes.into_iter()), loss: history.epochs.last().unwrap().loss }
}

fn trainings_agree<T: Real>() {
    println!("{:>5}  {:>7}  {:>9}  {:>16}  {:>20}", "type", "workers", "scheduler", "parameters", "loss");
    let mut first = None;
    for &scheduler in Runtime::schedulers() {
        for workers in WORKERS {
            let outcome = train::<T>(workers, scheduler);
            let Outcome { hash, loss } = outcome;
            println!("{:>5}  {workers:>7}  {scheduler:>9}  {hash:016x}  {loss:>20}", T::NAME);
            let first = first.get_or_insert(outcome);
            assert_eq!(outcome, *first, "{} with {workers} workers, {scheduler}", T::NAME);
        }
    }
}

#[test]
fn trainings_in_f16_agree_bit_by_bit() {
    trainings_agree::<f16>();
}

#[test]
fn trainings_in_f32_agree_bit_by_bit() {
    trainings_agree::<f32>();
}

#[test]
fn trainings_in_f64_agree_bit_by_bit() {
    trainings_agree::<f64>();
}

#[test]
fn another_training_has_another_hash() {
    assert_ne!(hash([1, 2].into_iter()), hash([2, 1].into_iter()));
    assert_ne!(train::<f32>(2, "ws").hash, train::<f64>(2, "ws").hash);
}
