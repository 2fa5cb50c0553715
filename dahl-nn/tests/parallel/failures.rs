//! Settings that cannot be, and ranks that differ.

use dahl::prelude::*;
use dahl_nn::prelude::*;

use crate::models::{alone, dense, on_ranks};

fn train(
    rt: &Runtime,
    batch_size: usize,
    micro_batch_size: Option<usize>,
    parallel: impl Into<Parallel>,
) -> dahl::Result<()> {
    let arena = rt.arena();
    let mut model = dense::<f32>(&arena)?;
    let data = Synthetic::new(&[6], 3, 60, 1);
    let mut trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1)).batch_size(batch_size);
    if let Some(samples) = micro_batch_size {
        trainer = trainer.micro_batch_size(samples);
    }
    trainer.parallel(parallel).fit(&data).map(drop)
}

fn message(result: dahl::Result<()>) -> String {
    result.expect_err("it is refused").to_string()
}

#[test]
fn a_shard_has_a_sample_and_whole_micro_batches() {
    let message = |batch_size, micro_batch_size, shards| {
        alone(|rt| Ok(message(train(rt, batch_size, micro_batch_size, Parallel::data(shards)))))
    };
    let none = message(8, None, 0);
    assert!(none.contains("0 for batches of 8"), "{none}");
    let many = message(3, None, 4);
    assert!(many.contains("4 for batches of 3") && many.contains("failures.rs"), "{many}");
    let empty = message(10, None, 6);
    assert!(empty.contains("6, but shards of 2 of 10 samples are 5"), "{empty}");
    let across = message(16, Some(3), 4);
    assert!(across.contains("3 in shards of 4"), "{across}");
}

#[test]
fn ranks_with_other_settings_or_models_are_named() {
    let failed = on_ranks(2, 1, |rt| train(rt, 20, None, Parallel::data(4 + rt.rank())));
    let message = failed.expect_err("the ranks differ").to_string();
    assert!(message.contains("the programs of the ranks differ"), "{message}");
    let failed = on_ranks(2, 2, |rt| {
        let arena = rt.arena();
        let mut model = Sequential::<f32>::new(&arena, [6], 1).dense(4 + rt.rank())?.relu()?.dense(3)?;
        let data = Synthetic::new(&[6], 3, 60, 1);
        let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1)).batch_size(20);
        trainer.parallel(Parallel::data(4)).fit(&data).map(drop)
    });
    let message = failed.expect_err("the ranks differ").to_string();
    assert!(message.contains("the programs of the ranks differ"), "{message}");
}
