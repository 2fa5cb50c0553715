//! Data parallel training with sharded parameters (ZeRO 3): the bits of one rank, and the memory of a rank's own parameters.

use std::path::Path;

use dahl::prelude::*;
use dahl_nn::prelude::*;
use dahl_nn::training::{Callback, DataParallel, Progress};

use crate::data::train_dense;
use crate::models::{Bits, alone, builder, dense, on_ranks};

#[test]
fn sharded_parameters_change_no_bit_and_come_as_they_are_needed() {
    // Of the weights, the first one has 96 elements, and the second one 192.
    const LIMIT: usize = 800;
    let expected = alone(|rt| train_dense::<f32>(rt, Parallel::data(4)));
    // There are six parameters, so some of nine ranks own none, and five have no shard.
    for ranks in [1, 2, 3, 4, 7, 9] {
        let found = on_ranks(ranks, ranks as u64, |rt| {
            let parallel = Parallel::data(4).bucket_bytes(100).gather_bytes(LIMIT);
            let bits = train_dense::<f32>(rt, parallel)?;
            let peak = rt.arena().peak_gathered_bytes();
            // Shard `i` is on rank `i * ranks / 4`.
            let has_a_shard = (0..4).any(|shard| shard * ranks / 4 == rt.rank());
            assert_eq!(ranks > 1 && has_a_shard, peak > 0, "rank {} has had {peak} bytes", rt.rank());
            assert!(peak <= LIMIT, "rank {} has had {peak} bytes", rt.rank());
            Ok(bits)
        });
        assert_eq!(found.expect("no rank fails"), expected, "{ranks} ranks");
    }
    let train = |rt: &Runtime| train_dense::<f32>(rt, Parallel::data(4).shard_parameters());
    assert_eq!(on_ranks(2, 9, train).expect("no rank fails"), expected);
}

/// Also with a limit that is less than any parameter: then these come one at a time.
#[test]
fn half_precision_has_the_same_bits() {
    let sharded = |rt: &Runtime| train_dense::<f16>(rt, Parallel::data(4).bucket_bytes(64).gather_bytes(1));
    let expected = alone(|rt| train_dense::<f16>(rt, Parallel::data(4)));
    for ranks in [1, 2, 3, 4] {
        assert_eq!(on_ranks(ranks, 5, sharded).expect("no rank fails"), expected, "{ranks} ranks");
    }
    let sharded = |rt: &Runtime| train_dense::<bf16>(rt, Parallel::data(2).gather_bytes(0));
    let expected = alone(|rt| train_dense::<bf16>(rt, Parallel::data(2)));
    assert_eq!(on_ranks(3, 5, sharded).expect("no rank fails"), expected);
}

/// Reads the parameters while tasks of other ranks read them too.
struct Reads;

impl<'m> Callback<Sequential<'m, f32>> for Reads {
    fn step_ended(&mut self, progress: &mut Progress<'_, Sequential<'m, f32>>) -> dahl::Result<()> {
        for named in progress.model().parameters() {
            assert!(named.parameter().value.to_vec()?.iter().all(|value| value.is_finite()));
        }
        Ok(())
    }
}

fn train_from(
    rt: &Runtime,
    parallel: DataParallel,
    epochs: usize,
    path: Option<&Path>,
) -> dahl::Result<Bits> {
    let arena = rt.arena();
    let mut model = dense::<f32>(&arena)?;
    model.for_each_parameter(|name, parameter| {
        parameter.frozen = name.to_string() == "0.bias";
        Ok(())
    })?;
    let data = Synthetic::new(&[6], 3, 60, 1);
    let trainer = Trainer::new(&mut model, CrossEntropy, AdamW::new(1e-2)).batch_size(20);
    let mut trainer = trainer.epochs(epochs).validation(&data).callback(Reads);
    if let Some(path) = path {
        trainer = trainer.checkpoints(Checkpoints::new(path).keep(1)).resume(path);
    }
    let history = trainer.parallel(parallel).fit(&data)?;
    Bits::of(&history, &model)
}

/// What the host reads between steps is the value, and the training goes on from checkpoints, with a parameter that does not learn.
#[test]
fn the_host_reads_the_parameters() {
    let folder = tempfile::tempdir().expect("a folder");
    let expected = alone(|rt| train_from(rt, Parallel::data(4), 4, None));
    let sharded = || Parallel::data(4).bucket_bytes(100).gather_bytes(400);
    on_ranks(3, 1, |rt| train_from(rt, sharded(), 2, Some(folder.path()))).expect("no rank fails");
    let found = on_ranks(2, 2, |rt| train_from(rt, sharded(), 4, Some(folder.path())));
    assert_eq!(found.expect("no rank fails"), expected);
}

/// The bytes of a parameter from which on its memory is counted: pages at either end are used for other bytes, too.
const LARGE: usize = 1 << 20;

#[test]
fn each_parameter_takes_memory_on_one_rank() {
    let train = |rt: &Runtime| {
        let arena = rt.arena();
        let mut model = Sequential::<f32>::new(&arena, [256], 42).dense(1024)?.relu()?.dense(512)?;
        let data = Synthetic::new(&[256], 512, 24, 1);
        let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1)).batch_size(8);
        trainer.parallel(Parallel::data(4).bucket_bytes(0).shard_parameters()).fit(&data)?;
        rt.wait()?;
        let values = model.parameters().map(|named| {
            let value = &named.parameter().value;
            (value.len() * 4, value.resident_bytes())
        });
        Ok(values.collect::<Vec<_>>())
    };
    let of_ranks = dahl_ranks::threads(3, 1, builder, train).expect("no rank fails");
    for parameter in 0..of_ranks[0].len() {
        let bytes = of_ranks[0][parameter].0;
        let resident: Option<Vec<_>> = of_ranks.iter().map(|of_rank| of_rank[parameter].1).collect();
        let Some(resident) = resident else {
            println!("skipped: the system does not say which pages are in memory");
            return;
        };
        if bytes >= LARGE {
            let whole = resident.iter().filter(|found| **found == bytes).count();
            let least = resident.iter().filter(|found| **found <= 128 << 10).count();
            assert_eq!((whole, least), (1, 2), "{bytes} bytes: {resident:?}");
        }
    }
}
