//! Stage `s` of `n` has activations of at most `n - s` micro-batches.

use std::sync::atomic::{AtomicI64, Ordering};

use dahl::ndarray::{ArrayView2, ArrayViewMut2};
use dahl::prelude::*;
use dahl_nn::prelude::*;

use crate::models::{Bits, alone, on_ranks};

const STAGES: usize = 3;
/// Micro-batches of a batch.
const PARTS: usize = 8;

/// Of each stage: the micro-batches that have been forward, and not backward yet; and the most of them at a time.
static LIVE: [AtomicI64; STAGES] = [const { AtomicI64::new(0) }; STAGES];
static MOST: [AtomicI64; STAGES] = [const { AtomicI64::new(0) }; STAGES];

/// `out = x`: a micro-batch is live in a stage.
#[codelet(R, W, shape(out = x), cpu_only, gradient = adjoint(leave))]
fn enter<T: Real>(x: ArrayView2<T>, mut out: ArrayViewMut2<T>, stage: u64) {
    let live = LIVE[stage as usize].fetch_add(1, Ordering::SeqCst) + 1;
    MOST[stage as usize].fetch_max(live, Ordering::SeqCst);
    out.assign(&x);
}

/// `out = x`: it is no more.
#[codelet(R, W, shape(out = x), cpu_only, gradient = none)]
fn leave<T: Real>(x: ArrayView2<T>, mut out: ArrayViewMut2<T>, stage: u64) {
    LIVE[stage as usize].fetch_sub(1, Ordering::SeqCst);
    out.assign(&x);
}

/// A layer that changes nothing, and counts the micro-batches in a stage.
#[derive(Module)]
struct Counter {
    shape: Vec<usize>,
    stage: u64,
}

impl<T: Real> Layer<T> for Counter {
    fn name(&self) -> &'static str {
        "counter"
    }

    fn output_shape(&self) -> &[usize] {
        &self.shape
    }

    fn forward<'s>(&self, step: &'s Step<'_>, input: &Matrix<'_, T>) -> dahl::Result<Matrix<'s, T>> {
        enter_init(step, input, self.stage)
    }
}

fn train(rt: &Runtime, parallel: impl Into<Parallel>) -> dahl::Result<Bits> {
    let arena = rt.arena();
    let counter = |stage: u64, features: usize| Counter { shape: vec![features], stage };
    let mut model = Sequential::<f32>::new(&arena, [6], 42)
        .dense(8)?
        .layer(counter(0, 8))
        .dense(7)?
        .layer(counter(1, 7))
        .dense(3)?
        .layer(counter(2, 3));
    let data = Synthetic::new(&[6], 3, 3 * 4 * PARTS, 1);
    let trainer = Trainer::new(&mut model, CrossEntropy, AdamW::new(1e-2)).no_shuffle();
    let trainer = trainer.batch_size(4 * PARTS).micro_batch_size(4).epochs(2);
    let history = trainer.parallel(parallel).fit(&data)?;
    Bits::of(&history, &model)
}

/// Requires the bits of other runs, and at most so many micro-batches at a time in each stage.
fn require_bound(what: &str, bits: Bits, most: [i64; STAGES], expected: &mut Option<Bits>) {
    for stage in 0..STAGES {
        let found = MOST[stage].swap(0, Ordering::SeqCst);
        assert!((1..=most[stage]).contains(&found), "{what}: {found} at a time in stage {stage}");
        assert_eq!(LIVE[stage].load(Ordering::SeqCst), 0, "{what}: the training has ended");
    }
    assert_eq!(bits, *expected.get_or_insert(bits.clone()), "{what}");
}

/// In one test, since it counts for the whole process.
#[test]
fn a_stage_has_activations_of_as_many_micro_batches_as_pass_through_it() {
    let pipeline = || Parallel::pipeline([2, 4]);
    let (most, mut expected) = ([3, 2, 1], None);
    require_bound("one runtime", alone(|rt| train(rt, pipeline())), most, &mut expected);
    for ranks in [1, 2, 3] {
        for seed in 0..3 {
            let bits = on_ranks(ranks, seed, |rt| train(rt, pipeline())).expect("no rank fails");
            require_bound(&format!("{ranks} ranks, seed {seed}"), bits, most, &mut expected);
        }
    }
    let bits = on_ranks(2, 1, |rt| train(rt, pipeline().interleaved())).expect("no rank fails");
    require_bound("interleaved", bits, most, &mut expected);

    // Of two replicas, each has `1 + ceil(2 / 2)`; of three, `1 + ceil(1 / 3)`.
    for (replicas, most, of_ranks) in
        [([2, 1, 1], [4, 2, 1], [24, 24, 48, 48, 0]), ([1, 3, 1], [5, 6, 1], [48, 18, 18, 12, 48])]
    {
        let train = |rt: &Runtime| train(rt, pipeline().replicas(replicas));
        let mut expected = None;
        require_bound("replicas on one runtime", alone(train), most, &mut expected);
        for seed in 0..3 {
            let places = replicas.iter().sum();
            let bits = on_ranks(places, seed, |rt| {
                let bits = train(rt)?;
                rt.wait()?;
                let statistics = rt.statistics();
                let forward = statistics.codelets.iter().filter(|codelet| codelet.codelet == "enter");
                let forward: u64 = forward.map(|codelet| codelet.count).sum();
                assert_eq!(
                    forward,
                    of_ranks[rt.rank()],
                    "{replicas:?}: forward passes of rank {}",
                    rt.rank()
                );
                Ok(bits)
            });
            let what = format!("replicas {replicas:?}, seed {seed}");
            require_bound(&what, bits.expect("no rank fails"), most, &mut expected);
        }
    }
}
