//! Pipelines: with flushes the bits of one rank, and without them those of a plain program that applies gradients late.

use dahl::prelude::*;
use dahl_nn::prelude::*;
use dahl_nn::training::{History, Pipeline};
use dahl_plan::pipeline::{Cluster, Layer, Profile, plan};

use crate::models::{Bits, alone, convolutional, dense, on_ranks};
use crate::plain::{CUTS, Plain};

const BATCH: usize = 8;
const MICRO_BATCH: usize = 4;

fn data(batches: usize) -> Synthetic {
    Synthetic::new(&[6], 3, batches * BATCH, 1)
}

/// A training over ranks.
fn train<T: Real>(rt: &Runtime, batches: usize, pipeline: Option<Pipeline>) -> dahl::Result<Bits> {
    let arena = rt.arena();
    let mut model = dense::<T>(&arena)?;
    let trainer = Trainer::new(&mut model, CrossEntropy, AdamW::new(1e-2)).no_shuffle();
    let mut trainer = trainer.batch_size(BATCH).micro_batch_size(MICRO_BATCH);
    if let Some(pipeline) = pipeline {
        trainer = trainer.parallel(pipeline);
    }
    let history = trainer.fit(&data(batches))?;
    Bits::of(&history, &model)
}

/// A plain program: the gradient of batch `t` is by the parameters of stage `s` after `t - delay(s)` updates, and updates the
/// latest ones.
fn delayed(rt: &Runtime, batches: usize, delay: impl Fn(usize) -> usize) -> dahl::Result<Vec<u64>> {
    let replicas = vec![1; CUTS.len() + 1];
    Plain { data: data(batches), batch: BATCH, micro_batch: MICRO_BATCH, replicas }.train(rt, delay)
}

#[test]
fn a_pipeline_that_is_flushed_has_the_bits_of_one_rank() {
    let expected = alone(|rt| train::<f32>(rt, 9, None));
    for ranks in [1, 2, 3, 4] {
        for pipeline in [Parallel::pipeline(CUTS), Parallel::pipeline([1, 2, 3, 4]).interleaved()] {
            let found = on_ranks(ranks, 7, |rt| train::<f32>(rt, 9, Some(pipeline.clone())));
            assert_eq!(found.expect("no rank fails"), expected, "{ranks} ranks, {pipeline:?}");
        }
    }
    let expected = alone(|rt| train::<f16>(rt, 5, None));
    let found = on_ranks(3, 1, |rt| train::<f16>(rt, 5, Some(Parallel::pipeline(CUTS))));
    assert_eq!(found.expect("no rank fails"), expected);
}

#[test]
fn a_convolutional_network_is_cut_anywhere() {
    let train = |rt: &Runtime, pipeline: Option<Pipeline>| {
        let arena = rt.arena();
        let mut model = convolutional::<f32>(&arena)?;
        let data = Synthetic::new(&[1, 8, 8], 3, 40, 1);
        let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1)).batch_size(8).micro_batch_size(2);
        let history = match pipeline {
            Some(pipeline) => trainer.parallel(pipeline).fit(&data)?,
            None => trainer.fit(&data)?,
        };
        Bits::of(&history, &model)
    };
    let expected = alone(|rt| train(rt, None));
    for cut in 1..5 {
        let found = on_ranks(2, cut as u64, |rt| train(rt, Some(Parallel::pipeline([cut]))));
        assert_eq!(found.expect("no rank fails"), expected, "cut before layer {cut}");
    }
}

#[test]
fn pipelines_that_stash_have_the_bits_of_a_plain_program_with_their_delays() {
    let cases: [(Pipeline, [usize; 3]); 3] = [
        (Parallel::pipeline(CUTS).stash_weights(), [2, 1, 0]),
        (Parallel::pipeline(CUTS).vertical_sync(), [2, 2, 2]),
        (Parallel::pipeline(CUTS).two_versions(), [1, 1, 1]),
    ];
    for (pipeline, delays) in cases {
        for batches in [1, 2, 3, 6] {
            let expected = alone(|rt| delayed(rt, batches, |stage| delays[stage]));
            if batches > 1 {
                let flushed = alone(|rt| train::<f32>(rt, batches, None));
                assert_ne!(expected, flushed.values, "the delays matter in {batches} batches");
            }
            for ranks in [1, 2, 3] {
                let train = |rt: &Runtime| train::<f32>(rt, batches, Some(pipeline.clone()));
                let found = on_ranks(ranks, batches as u64, train).expect("no rank fails");
                assert_eq!(found.values, expected, "{ranks} ranks, {batches} batches, {pipeline:?}");
            }
        }
    }
    // The plain program itself, without delays.
    let flushed = alone(|rt| train::<f32>(rt, 6, None));
    assert_eq!(alone(|rt| delayed(rt, 6, |_| 0)), flushed.values);
}

/// Synthetic data with a sample that cannot be read.
struct Damaged {
    data: Synthetic,
    sample: usize,
}

impl Dataset for Damaged {
    fn len(&self) -> usize {
        self.data.len()
    }

    fn sample_shape(&self) -> &[usize] {
        self.data.sample_shape()
    }

    fn classes(&self) -> usize {
        self.data.classes()
    }

    fn copy_sample<T: Real>(&self, index: usize, features: &mut [T]) {
        self.data.copy_sample(index, features);
    }

    fn label(&self, index: usize) -> u32 {
        self.data.label(index)
    }

    fn read_sample<T: Real>(&self, index: usize, _: u64, features: &mut [T]) -> dahl::Result<()> {
        if index == self.sample {
            return Err(dahl::Error::other(std::io::Error::other("the sample is damaged")));
        }
        self.copy_sample(index, features);
        Ok(())
    }
}

#[test]
fn a_pipeline_that_stashes_leaves_the_latest_parameters_after_an_error() {
    const COMPLETE: usize = 3;
    let train = |rt: &Runtime| {
        let arena = rt.arena();
        let mut model = dense::<f32>(&arena)?;
        let damaged = Damaged { data: data(5), sample: COMPLETE * BATCH + MICRO_BATCH };
        let trainer = Trainer::new(&mut model, CrossEntropy, AdamW::new(1e-2)).no_shuffle();
        let trainer = trainer.batch_size(BATCH).micro_batch_size(MICRO_BATCH);
        let error = trainer.parallel(Parallel::pipeline(CUTS).stash_weights()).fit(&damaged).map(drop);
        let error = error.expect_err("a sample is damaged").to_string();
        assert!(error.contains("the sample is damaged"), "{error}");
        Ok(Bits::of(&History::default(), &model)?.values)
    };
    let expected = alone(|rt| delayed(rt, COMPLETE, |stage| 2 - stage));
    assert_eq!(alone(train), expected, "those after the batches before");
    assert_eq!(on_ranks(2, 1, train).expect("no rank fails"), expected);
}

/// Stages that the planner finds in a profile of the dense network.
#[test]
fn a_planned_pipeline_has_the_bits_of_one_rank() {
    let seconds = [3.0, 0.1, 2.0, 0.1, 1.0];
    let layers = seconds.map(|seconds| Layer {
        forward_seconds: seconds,
        backward_seconds: 2.0 * seconds,
        activation_bytes: 1e3,
        ..Layer::default()
    });
    let profile = Profile { layers: layers.into(), edges: (0..4).map(|layer| (layer, layer + 1)).collect() };
    let mut cluster = Cluster::flat(2, 1e9);
    cluster.straight = true;
    let planned =
        Parallel::planned(&plan(&profile, &cluster).expect("there is a plan")).expect("it is straight");
    assert!(
        format!("{planned:?}").contains("cuts: [1]") || format!("{planned:?}").contains("cuts: [2]"),
        "{planned:?}"
    );
    let expected = alone(|rt| train::<f32>(rt, 3, None));
    let found = on_ranks(2, 3, |rt| train::<f32>(rt, 3, Some(planned.clone())));
    assert_eq!(found.expect("no rank fails"), expected);
}

#[test]
fn pipelines_that_cannot_be_are_refused() {
    let message = |pipeline: Pipeline| {
        alone(|rt| Ok(train::<f32>(rt, 1, Some(pipeline.clone())).expect_err("it is refused").to_string()))
    };
    let empty = message(Parallel::pipeline([2, 2]));
    assert!(empty.contains("[2, 2] of 5 layers") && empty.contains("pipelines.rs"), "{empty}");
    let beyond = message(Parallel::pipeline([5]));
    assert!(beyond.contains("[5] of 5 layers"), "{beyond}");
    let folder = tempfile::tempdir().expect("a folder");
    let refused = alone(|rt| {
        let arena = rt.arena();
        let mut model = dense::<f32>(&arena)?;
        let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1))
            .checkpoints(Checkpoints::new(folder.path()));
        let fitted = trainer.parallel(Parallel::pipeline(CUTS).stash_weights()).fit(&data(1));
        Ok(fitted.map(drop).expect_err("it is refused").to_string())
    });
    assert!(refused.contains("stashed"), "{refused}");
}
