//! Training gives the same bits for any number of workers, every scheduler, and independent tasks in any order, in every
//! element type.
//!
//! `cargo test -p dahl-nn --test dahl_nn determinism -- --nocapture` shows the table.

use dahl::RuntimeBuilder;
use dahl::prelude::*;
use dahl_nn::prelude::*;

const WORKERS: [usize; 3] = [1, 2, 3];

/// Seeds of the orders in which checked mode runs ready tasks.
const ORDERS: [u64; 3] = [1, 2, 3];

/// The result of a training: a hash of all bits of all parameters, and the loss of the last epoch.
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
fn train<T: Real>(runtime: RuntimeBuilder) -> Outcome {
    let rt = runtime.build().unwrap();
    let arena = rt.arena();
    let data = Synthetic::new(&[2, 9, 8], 4, 203, 5);
    let model = Sequential::<T>::new(&arena, [2, 9, 8], 3).conv2d(3, 3).unwrap().relu().unwrap();
    let mut model = model.max_pool2d(2).unwrap().flatten().unwrap().dense(4).unwrap();
    let optimizer = Sgd::new(0.05).momentum(0.9).weight_decay(1e-4);
    let trainer =
        Trainer::new(&mut model, CrossEntropy, optimizer).batch_size(50).micro_batch_size(7).epochs(2);
    let history = trainer.fit(&data).unwrap();
    let mut bytes = Vec::new();
    for parameter in model.parameters() {
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
    let of_scheduler = |name: &&'static str| (name.to_string(), Runtime::builder().scheduler(name));
    let of_order = |seed| (format!("order {seed}"), Runtime::builder().check(true).check_seed(seed));
    let mut first = None;
    for workers in WORKERS {
        for (name, runtime) in Runtime::schedulers().iter().map(of_scheduler).chain(ORDERS.map(of_order)) {
            let outcome = train::<T>(runtime.cpu_workers(workers));
            let Outcome { hash, loss } = outcome;
            println!("{:>5}  {workers:>7}  {name:>9}  {hash:016x}  {loss:>20}", T::NAME);
            let first = first.get_or_insert(outcome);
            assert_eq!(outcome, *first, "{} with {workers} workers, {name}", T::NAME);
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
    assert_ne!(train::<f32>(Runtime::builder()).hash, train::<f64>(Runtime::builder()).hash);
}
