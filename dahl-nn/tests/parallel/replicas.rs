//! Pipelines whose stages have replicas: the bits of a plain program that deals micro-batches in turn, for any number of ranks.

use dahl::prelude::*;
use dahl_nn::prelude::*;
use dahl_nn::training::Pipeline;
use dahl_plan::pipeline::{Cluster, Layer, Level, Plan, Profile, plan};

use crate::models::{Bits, alone, convolutional, dense, on_ranks};
use crate::plain::{CUTS, Plain};

const BATCH: usize = 12;
const MICRO_BATCH: usize = 2;

/// The last batch has two micro-batches, of which one is shorter: some replicas have none.
fn data(batches: usize) -> Synthetic {
    Synthetic::new(&[6], 3, batches * BATCH + 3, 1)
}

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

fn plain(replicas: &[usize], batches: usize, delay: impl Fn(usize) -> usize) -> Vec<u64> {
    let (data, replicas) = (data(batches), replicas.to_vec());
    let plain = Plain { data, batch: BATCH, micro_batch: MICRO_BATCH, replicas };
    alone(|rt| plain.train(rt, &delay))
}

#[test]
fn a_pipeline_that_is_flushed_has_the_bits_of_a_plain_program() {
    let (without, mut others) = (alone(|rt| train::<f32>(rt, 3, None)).values, 0);
    for replicas in [[2, 1, 1], [1, 3, 2], [2, 2, 2], [1, 1, 7]] {
        let pipeline = Parallel::pipeline(CUTS).replicas(replicas);
        let expected = alone(|rt| train::<f32>(rt, 3, Some(pipeline.clone())));
        assert_eq!(expected.values, plain(&replicas, 3, |_| 0), "{replicas:?} on one runtime");
        for ranks in [1, 2, 3, 4, 6, 7] {
            let train = |rt: &Runtime| train::<f32>(rt, 3, Some(pipeline.clone()));
            let found = on_ranks(ranks, ranks as u64, train).expect("no rank fails");
            assert_eq!(found, expected, "{ranks} ranks, {replicas:?}");
        }
        let train = |rt: &Runtime| train::<f32>(rt, 3, Some(pipeline.clone().interleaved()));
        assert_eq!(on_ranks(3, 5, train).expect("no rank fails"), expected, "interleaved, {replicas:?}");
        others += usize::from(expected.values != without);
    }
    // AdamW divides most of the last bits away, so one of these may have the same.
    assert!(others >= 3, "sums are in another order");
    let single = Parallel::pipeline(CUTS).replicas([1, 1, 1]);
    assert_eq!(alone(|rt| train::<f32>(rt, 3, Some(single.clone()))).values, without);
}

#[test]
fn replicas_change_the_rounding_alone() {
    let plain = alone(|rt| train::<f64>(rt, 3, None));
    let replicated = Parallel::pipeline(CUTS).replicas([3, 2, 1]);
    let found = alone(|rt| train::<f64>(rt, 3, Some(replicated.clone())));
    for (found, expected) in found.values.iter().zip(&plain.values) {
        let (found, expected) = (f64::from_bits(*found), f64::from_bits(*expected));
        assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
    }
    assert_eq!(found.correct, plain.correct);
    // Of half precision, on ranks.
    let halves = |rt: &Runtime| train::<f16>(rt, 2, Some(replicated.clone()));
    assert_eq!(on_ranks(5, 1, halves).expect("no rank fails"), alone(halves));
}

#[test]
fn pipelines_that_stash_have_the_bits_of_a_plain_program_with_their_delays() {
    let pipeline = || Parallel::pipeline(CUTS);
    let cases: [(Pipeline, [usize; 3]); 3] = [
        (pipeline().stash_weights(), [2, 1, 0]),
        (pipeline().vertical_sync(), [2, 2, 2]),
        (pipeline().two_versions(), [1, 1, 1]),
    ];
    for (pipeline, delays) in cases {
        for replicas in [[2, 1, 1], [1, 2, 3]] {
            let pipeline = pipeline.clone().replicas(replicas);
            let expected = plain(&replicas, 4, |stage| delays[stage]);
            assert_ne!(expected, plain(&replicas, 4, |_| 0), "the delays matter");
            for ranks in [1, 2, 4, 6] {
                let train = |rt: &Runtime| train::<f32>(rt, 4, Some(pipeline.clone()));
                let found = on_ranks(ranks, ranks as u64, train).expect("no rank fails");
                assert_eq!(found.values, expected, "{ranks} ranks, {pipeline:?}");
            }
        }
    }
}

#[test]
fn a_convolutional_network_has_the_same_bits_for_any_number_of_ranks() {
    let train = |rt: &Runtime| {
        let arena = rt.arena();
        let mut model = convolutional::<f32>(&arena)?;
        let data = Synthetic::new(&[1, 8, 8], 3, 42, 1);
        let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1).momentum(0.9)).batch_size(12);
        let trainer = trainer.micro_batch_size(2).epochs(2).clip_gradient_norm(1.0).validation(&data);
        let history = trainer.parallel(Parallel::pipeline([3]).replicas([3, 1])).fit(&data)?;
        Bits::of(&history, &model)
    };
    let expected = alone(train);
    assert!(expected.loss(1) < expected.loss(0), "it learns");
    for ranks in [2, 4, 5] {
        assert_eq!(on_ranks(ranks, 3, train).expect("no rank fails"), expected, "{ranks} ranks");
    }
}

/// A profile of the dense network, whose first layers take the longest.
fn profile() -> Profile {
    let layers = [6.0, 0.1, 2.0, 0.1, 1.0].map(|seconds| Layer {
        forward_seconds: seconds,
        backward_seconds: 2.0 * seconds,
        activation_bytes: 1e3,
        ..Layer::default()
    });
    Profile { layers: layers.into(), edges: (0..4).map(|layer| (layer, layer + 1)).collect() }
}

fn has_the_bits_of_one_runtime(plan: &Plan, ranks: usize) {
    let planned = Parallel::planned(plan).expect("its stages are consecutive layers");
    let train = |rt: &Runtime| train::<f32>(rt, 2, Some(planned.clone()));
    let expected = alone(train);
    assert_eq!(on_ranks(ranks, 3, train).expect("no rank fails"), expected, "{planned:?}");
}

#[test]
fn plans_with_replicas_run() {
    let flat = plan(&profile(), &Cluster::flat(4, 1e12)).expect("there is a plan");
    assert!(flat.stages.iter().any(|stage| stage.replicas > 1), "{flat:?}");
    has_the_bits_of_one_runtime(&flat, flat.machines());
    // Fast machines of two workers each, and slow links between them.
    let level = |machines, bandwidth| Level { machines, bandwidth };
    let cluster = Cluster { levels: vec![level(2, 1e9), level(3, 1e2)], memory: None, straight: false };
    let nested = plan(&profile(), &cluster).expect("there is a plan");
    assert!(nested.stages.iter().any(|stage| !stage.inner.is_empty()), "{nested:?}");
    has_the_bits_of_one_runtime(&nested, 6);
    // By hand: two machines with a pipeline each, and one machine after them.
    let stage = |layers: std::ops::Range<usize>, replicas, inner| {
        let mut stage = flat.stages[0].clone();
        (stage.layers, stage.replicas, stage.inner) = (layers.collect(), replicas, inner);
        stage
    };
    let inner = vec![stage(0..2, 2, Vec::new()), stage(2..4, 1, Vec::new())];
    let stages = vec![stage(0..4, 2, inner), stage(4..5, 1, vec![stage(4..5, 1, Vec::new())])];
    has_the_bits_of_one_runtime(&Plan { stages, ..nested }, 7);
    let mut branched = flat;
    branched.stages[0].layers.reverse();
    branched.stages[0].layers.push(7);
    let refused = Parallel::planned(&branched).expect_err("the layers are not consecutive").to_string();
    assert!(refused.contains("consecutive") && refused.contains("replicas.rs"), "{refused}");
}

#[test]
fn replicas_that_cannot_be_are_refused() {
    for (replicas, value) in [(vec![2, 1], "[2, 1] of 3 stages"), (vec![1, 0, 1], "[1, 0, 1] of 3 stages")] {
        let pipeline = Parallel::pipeline(CUTS).replicas(replicas);
        let message = alone(|rt| {
            let refused = train::<f32>(rt, 1, Some(pipeline.clone()));
            Ok(refused.expect_err("it is refused").to_string())
        });
        assert!(message.contains(value) && message.contains("replicas.rs"), "{message}");
    }
}

/// Micro-batches are dealt anew in each batch, so a training goes on with the same sums; not with other replicas.
#[test]
fn a_training_goes_on_with_the_same_replicas() {
    let train = |rt: &Runtime, replicas: [usize; 3], epochs: usize, path: Option<&std::path::Path>| {
        let arena = rt.arena();
        let mut model = dense::<f32>(&arena)?;
        let trainer = Trainer::new(&mut model, CrossEntropy, AdamW::new(1e-2));
        // Five micro-batches, which two replicas do not share equally.
        let mut trainer = trainer.batch_size(10).micro_batch_size(2).epochs(epochs);
        if let Some(path) = path {
            trainer = trainer.checkpoints(Checkpoints::new(path).keep(1)).resume(path);
        }
        let history = trainer.parallel(Parallel::pipeline(CUTS).replicas(replicas)).fit(&data(2))?;
        Bits::of(&history, &model)
    };
    let folder = tempfile::tempdir().expect("a folder");
    let expected = alone(|rt| train(rt, [2, 1, 3], 4, None));
    on_ranks(3, 1, |rt| train(rt, [2, 1, 3], 2, Some(folder.path()))).expect("no rank fails");
    let refused =
        alone(|rt| Ok(train(rt, [2, 1, 2], 4, Some(folder.path())).expect_err("others").to_string()));
    assert!(refused.contains("replicas") && refused.contains("[3, 4, 5]"), "{refused}");
    let found = on_ranks(2, 2, |rt| train(rt, [2, 1, 3], 4, Some(folder.path()))).expect("no rank fails");
    assert_eq!(found, expected);
}
