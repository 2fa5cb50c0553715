//! Gradients are sent while the backward pass runs: on a simulated cluster, where time is virtual.

use dahl::prelude::*;
use dahl_core::Machine;
use dahl_nn::prelude::*;

use crate::models::{Bits, builder};

const FEATURES: usize = 128;
/// The bytes of a layer's weight.
const WEIGHT_BYTES: usize = 4 * FEATURES * FEATURES;

/// The virtual time of one step on two ranks that send so many bytes in a second, and the bits.
fn step(layers: usize, gbytes_per_s: f64, bucket_bytes: usize) -> (f64, Bits) {
    let machine = Machine::from_toml(&format!(
        "cpu = {{ speed = {{ gflops = 10, gbytes_per_s = 100 }} }}
         cluster = {{ ranks = 2, level = [{{ latency_us = 1, gbytes_per_s = {gbytes_per_s} }}] }}"
    ));
    let machine = machine.expect("it is a machine");
    let train = |rt: &Runtime| {
        let arena = rt.arena();
        let mut model = Sequential::<f32>::new(&arena, [FEATURES], 42);
        for _ in 0..layers {
            model = model.dense(FEATURES)?;
        }
        let data = Synthetic::new(&[FEATURES], FEATURES, 64, 1);
        let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.1)).batch_size(64).no_shuffle();
        let history = trainer.parallel(Parallel::data(2).bucket_bytes(bucket_bytes)).fit(&data)?;
        rt.wait()?;
        let end_us = rt.clock().now_ns() as f64 / 1e3;
        Ok((end_us, Bits::of(&history, &model)?))
    };
    let of_ranks = dahl_ranks::cluster(&machine, builder, train).expect("no rank fails");
    let end = of_ranks.iter().map(|(end_us, _)| *end_us).fold(0.0, f64::max);
    (end, of_ranks[0].1.clone())
}

/// A reduction of all gradients at the end of the backward pass takes the time of all messages after it. Of buckets of a layer each,
/// only the last one does, however many layers there are.
#[test]
fn buckets_are_sent_while_the_backward_pass_runs() {
    const FAST: f64 = 1e6;
    // A layer takes longer than its messages, also on the way forward: the initial parameters are sent by their owners.
    const GBYTES_PER_S: f64 = 1.0;
    let message_us = WEIGHT_BYTES as f64 / (GBYTES_PER_S * 1e3);
    for layers in [4, 8, 16] {
        // What comes after the backward pass, beside what also does if messages take no time.
        let after = |bucket_bytes: usize| {
            let (with_network, bits) = step(layers, GBYTES_PER_S, bucket_bytes);
            let (without, of_fast) = step(layers, FAST, bucket_bytes);
            assert!(bits == of_fast, "the network changes no bit");
            (with_network - without, with_network, bits)
        };
        let (of_buckets, end_us, bits) = after(WEIGHT_BYTES);
        let (of_reduction, end_of_reduction_us, of_one_bucket) = after(usize::MAX);
        assert!(bits == of_one_bucket, "buckets change no bit");
        let all_us = layers as f64 * message_us;
        println!(
            "{layers} layers, messages of {all_us:.0} us: {end_us:.0} us with buckets, {of_buckets:.0} of them after the \
             backward pass; {end_of_reduction_us:.0} us with one reduction, {of_reduction:.0} of them after it"
        );
        assert!(of_reduction >= all_us, "{of_reduction} us after the backward pass, of {all_us}");
        assert!(of_buckets <= 2.0 * message_us, "{of_buckets} us after the backward pass");
        assert!(end_us + (layers - 2) as f64 * message_us <= end_of_reduction_us, "{end_us} us");
    }
}

/// The virtual time of so many batches in a stashed pipeline of two stages, a layer each.
fn stashed_us(batches: usize, batch: usize) -> f64 {
    let machine = Machine::from_toml(
        "cpu = { speed = { gflops = 10, gbytes_per_s = 1000, overhead_us = 0 } }
         cluster = { ranks = 2, level = [{ latency_us = 1, gbytes_per_s = 100 }] }",
    );
    let train = |rt: &Runtime| {
        let arena = rt.arena();
        let mut model = Sequential::<f32>::new(&arena, [FEATURES], 42).dense(FEATURES)?.dense(FEATURES)?;
        let data = Synthetic::new(&[FEATURES], FEATURES, batches * batch, 1);
        let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(1e-3)).batch_size(batch);
        let trainer = trainer.micro_batch_size(batch / 2).no_shuffle();
        trainer.parallel(Parallel::pipeline([1]).stash_weights()).fit(&data)?;
        rt.wait()?;
        Ok(rt.clock().now_ns() as f64 / 1e3)
    };
    let of_ranks = dahl_ranks::cluster(&machine.expect("it is a machine"), builder, train);
    of_ranks.expect("no rank fails").into_iter().fold(0.0, f64::max)
}

/// The slower stage never waits, also if a batch is so large that one is enough to keep the workers of one machine busy.
#[test]
fn large_batches_of_a_stashed_pipeline_overlap() {
    for batch in [256, 2048] {
        let of_batch_us = (stashed_us(7, batch) - stashed_us(3, batch)) / 4.0;
        // The products of the second layer: forward, and by both of its inputs.
        let products_us = 6.0 * (batch * FEATURES * FEATURES) as f64 / 10e3;
        println!("batches of {batch}: {of_batch_us:.0} us each, of which products {products_us:.0}");
        assert!(of_batch_us >= products_us && of_batch_us < 1.05 * products_us, "{of_batch_us} us");
    }
}
