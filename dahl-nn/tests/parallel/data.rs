//! Data parallel training has the same bits for any number of ranks.

use std::path::Path;

use dahl::prelude::*;
use dahl_nn::layer::BatchNorm;
use dahl_nn::prelude::*;

use crate::models::{Bits, alone, convolutional, dense, on_ranks};

const RANKS: [usize; 5] = [1, 2, 3, 4, 7];

pub(crate) fn train_dense<T: Real>(rt: &Runtime, parallel: impl Into<Parallel>) -> dahl::Result<Bits> {
    let arena = rt.arena();
    let mut model = dense::<T>(&arena)?;
    let data = Synthetic::new(&[6], 3, 100, 1);
    let trainer = Trainer::new(&mut model, CrossEntropy, AdamW::new(1e-2));
    let trainer = trainer.batch_size(28).epochs(3).clip_gradient_norm(1.0);
    let history = trainer.parallel(parallel).fit(&data)?;
    Bits::of(&history, &model)
}

fn requires_same_bits(train: impl Fn(&Runtime) -> dahl::Result<Bits> + Sync) -> Bits {
    let expected = alone(&train);
    for ranks in RANKS {
        let found = on_ranks(ranks, ranks as u64, &train).expect("no rank fails");
        assert_eq!(found, expected, "{ranks} ranks");
    }
    expected
}

#[test]
fn a_dense_network_has_the_same_bits_for_any_number_of_ranks() {
    let bits = requires_same_bits(|rt| train_dense::<f32>(rt, Parallel::data(7).bucket_bytes(500)));
    assert!(bits.loss(2) < bits.loss(0), "it learns");
    requires_same_bits(|rt| train_dense::<f64>(rt, Parallel::data(4)));
    requires_same_bits(|rt| train_dense::<f16>(rt, Parallel::data(4).bucket_bytes(0)));
    requires_same_bits(|rt| train_dense::<bf16>(rt, Parallel::data(2).bucket_bytes(64)));
}

#[test]
fn buckets_change_no_bit() {
    let expected = alone(|rt| train_dense::<f32>(rt, Parallel::data(4)));
    for bytes in [0, 100, 700, 1 << 20] {
        let train = |rt: &Runtime| train_dense::<f32>(rt, Parallel::data(4).bucket_bytes(bytes));
        assert_eq!(on_ranks(2, bytes as u64, train).expect("no rank fails"), expected, "{bytes} bytes");
    }
}

#[test]
fn shards_change_the_rounding_alone() {
    let plain = alone(|rt| {
        let arena = rt.arena();
        let mut model = dense::<f64>(&arena)?;
        let data = Synthetic::new(&[6], 3, 100, 1);
        let trainer = Trainer::new(&mut model, CrossEntropy, AdamW::new(1e-2));
        let history = trainer.batch_size(28).epochs(3).clip_gradient_norm(1.0).fit(&data)?;
        Bits::of(&history, &model)
    });
    for shards in [1, 2, 5, 28] {
        let sharded = alone(|rt| train_dense::<f64>(rt, Parallel::data(shards)));
        for (found, expected) in sharded.values.iter().zip(&plain.values) {
            let (found, expected) = (f64::from_bits(*found), f64::from_bits(*expected));
            assert!((found - expected).abs() < 1e-9, "{shards} shards: {found} for {expected}");
        }
        for epoch in 0..3 {
            assert!(
                (sharded.loss(epoch) - plain.loss(epoch)).abs() < 1e-12,
                "{shards} shards, epoch {epoch}"
            );
        }
        assert_eq!(sharded.correct, plain.correct);
    }
}

#[test]
fn a_convolutional_network_has_the_same_bits_for_any_number_of_ranks() {
    requires_same_bits(|rt| {
        let arena = rt.arena();
        let mut model = convolutional::<f32>(&arena)?;
        let data = Synthetic::new(&[1, 8, 8], 3, 50, 1);
        let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1).momentum(0.9));
        let trainer = trainer.batch_size(16).micro_batch_size(2).epochs(2).threads(2).validation(&data);
        let history = trainer.parallel(Parallel::data(4)).fit(&data)?;
        Bits::of(&history, &model)
    });
}

#[derive(Module)]
struct Normed<'m, T: Real> {
    hidden: Linear<'m, T>,
    norm: BatchNorm<'m, T>,
    output: Linear<'m, T>,
}

/// Statistics of batches follow the shards in their order, and dropout draws the numbers of the shard.
#[test]
fn batch_norm_and_dropout_have_the_same_bits_for_any_number_of_ranks() {
    requires_same_bits(|rt| {
        let arena = rt.arena();
        let mut init = Init::new(&arena, 3);
        let mut model = Normed::<f32> {
            hidden: Linear::new(&mut init, 6, 10)?,
            norm: BatchNorm::new(&mut init, 10)?,
            output: Linear::new(&mut init, 10, 3)?,
        };
        let dropout = Dropout::new(0.3);
        let data = Synthetic::new(&[6], 3, 60, 1);
        let trainer = Trainer::of(rt, &mut model, AdamW::new(1e-2)).batch_size(20).epochs(2);
        let history = trainer.parallel(Parallel::data(5)).fit_with(&data, |step, model, part| {
            let hidden = model.norm.forward(step, &model.hidden.forward(step, &part.features)?)?;
            let output = model.output.forward(step, &dropout.forward(step, &hidden)?)?;
            CrossEntropy.mean(step, &output, &part.labels)
        })?;
        let mut bits = Bits::of(&history, &model)?;
        let running = model.norm.running_var.value_mut().to_vec()?;
        bits.values.extend(running.into_iter().map(|value| u64::from(value.to_bits())));
        Ok(bits)
    });
}

/// A training that goes on from the checkpoints of a folder, if there is one, and writes more.
fn train_from(rt: &Runtime, shards: usize, epochs: usize, path: Option<&Path>) -> dahl::Result<Bits> {
    let arena = rt.arena();
    let mut model = dense::<f32>(&arena)?;
    let data = Synthetic::new(&[6], 3, 60, 1);
    let trainer = Trainer::new(&mut model, CrossEntropy, AdamW::new(1e-2));
    // Micro-batches as large for any number of shards.
    let mut trainer = trainer.batch_size(20).micro_batch_size(5).epochs(epochs);
    if let Some(path) = path {
        trainer = trainer.checkpoints(Checkpoints::new(path).keep(1)).resume(path);
    }
    let history = trainer.parallel(Parallel::data(shards)).fit(&data)?;
    Bits::of(&history, &model)
}

/// Also with another number of ranks.
#[test]
fn ranks_write_checkpoints_once_and_go_on_from_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let expected = alone(|rt| train_from(rt, 4, 4, None));
    on_ranks(3, 1, |rt| train_from(rt, 4, 2, Some(folder.path()))).expect("no rank fails");
    let files = std::fs::read_dir(folder.path()).expect("the folder is there").count();
    assert_eq!(files, 1, "one checkpoint is kept");
    let found = on_ranks(2, 2, |rt| train_from(rt, 4, 4, Some(folder.path()))).expect("no rank fails");
    assert_eq!(found, expected);
}

/// Every rank goes on from it in the same program, which does not wait for anything else.
#[test]
fn a_checkpoint_is_there_when_a_training_has_ended() {
    for seed in 0..8 {
        let folder = tempfile::tempdir().expect("a folder");
        let found = on_ranks(3, seed, |rt| {
            train_from(rt, 4, 2, Some(folder.path()))?;
            train_from(rt, 4, 4, Some(folder.path()))
        });
        assert_eq!(found.expect("no rank fails"), alone(|rt| train_from(rt, 4, 4, None)));
    }
}

#[test]
fn a_training_does_not_go_on_with_other_shards() {
    let folder = tempfile::tempdir().expect("a folder");
    alone(|rt| train_from(rt, 4, 1, Some(folder.path())));
    let refused = alone(|rt| {
        Ok(train_from(rt, 2, 2, Some(folder.path())).expect_err("the shards are others").to_string())
    });
    assert!(refused.contains("shards") && refused.contains('4') && refused.contains('2'), "{refused}");
}
