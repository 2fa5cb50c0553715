//! Layers of sequences: attention, transformers, recurrent layers.

use dahl::ops;
use dahl::prelude::*;
use dahl_nn::layer::TransformerActivation;
use dahl_nn::prelude::*;

use super::{check, runtime};

#[test]
fn attention() {
    let rt = runtime();
    let arena = rt.arena();
    let layer = |heads| MultiHeadAttention::with_key_heads(&mut Init::new(&arena, 5), 8, 4, heads).unwrap();
    let layers = [layer(4), layer(4).causal(), layer(2).causal().rotary(10_000.0)];
    for layer in layers {
        check(&rt, "attention", layer, [2, 5, 8], |step, layer, x| layer.forward(step, x));
    }
}

/// Attention, and the sequence that it looks at.
#[derive(Module)]
struct WithMemory<'m, T: Real> {
    memory: Parameter<'m, T>,
    layer: MultiHeadAttention<'m, T>,
}

#[test]
fn attention_with_masks_and_dropout() {
    let rt = runtime();
    let arena = rt.arena();
    let layer = |heads| MultiHeadAttention::with_key_heads(&mut Init::new(&arena, 5), 8, 4, heads).unwrap();
    let keys = rt.from_vec([2, 5], vec![1_u8, 1, 0, 1, 1, 1, 1, 1, 1, 0]).unwrap();
    let mask = AttentionMask::default().causal().keys(&keys);
    for layer in [layer(4), layer(2).rotary(10_000.0), layer(2).dropout(0.3)] {
        check(&rt, "masked", layer, [2, 5, 8], |step, layer, x| layer.forward_masked(step, x, mask));
    }
    for layer in [layer(4), layer(2).dropout(0.3)] {
        let seen = AttentionMask::default().keys(&keys);
        let memory = Init::new(&arena, 6).uniform(&[2, 5, 8], 1.0).unwrap();
        check(&rt, "cross", WithMemory { memory, layer }, [2, 3, 8], |step, model, x| {
            let memory = model.memory.value.reshaped([2, 5, 8])?;
            model.layer.forward_cross(step, x, &memory, &memory, seen)
        });
    }
}

#[test]
fn transformers() {
    let rt = runtime();
    let arena = rt.arena();
    let init = || Init::new(&arena, 5);
    // Smooth: the differences of a kink are no gradient.
    let options = TransformerOptions::new(4, 2).feed_forward(6).activation(TransformerActivation::Gelu);
    let seen = AttentionMask::default();
    for options in [options.dropout(0.0), options.norm_first(), options.dropout(0.3)] {
        let layer = TransformerEncoderLayer::new(&mut init(), options).unwrap();
        check(&rt, "encoder", layer, [2, 3, 4], |step, layer, x| layer.forward(step, x, seen.causal()));
        let decoder = TransformerDecoder::new(&mut init(), options, 2).unwrap();
        check(&rt, "decoder", decoder, [2, 3, 4], |step, layer, x| {
            let memory = ops::scale_init(step, x, 0.5)?;
            layer.forward(step, x, &memory, seen.causal(), seen)
        });
    }
}

#[test]
fn recurrent() {
    let rt = runtime();
    let arena = rt.arena();
    let init = || Init::new(&arena, 7);
    let rnn = Rnn::new(&mut init(), 3, 4, 2).unwrap();
    check(&rt, "rnn", rnn, [2, 3, 3], |step, layer, x| layer.forward(step, x));
    let lstm = Lstm::new(&mut init(), 3, 4, 2).unwrap();
    check(&rt, "lstm", lstm, [2, 3, 3], |step, layer, x| layer.forward(step, x));
    let gru = Gru::new(&mut init(), 3, 4, 1).unwrap();
    check(&rt, "gru", gru, [2, 3, 3], |step, layer, x| layer.forward(step, x));
    let lstm = Lstm::new(&mut init(), 3, 4, 1).unwrap();
    check(&rt, "packed", lstm, [3, 4, 3], |step, layer, x| {
        Ok(layer.forward_packed(step, x, &[4, 1, 2])?.output)
    });
}

#[test]
fn recurrent_in_both_directions() {
    let rt = runtime();
    let arena = rt.arena();
    let init = || Init::new(&arena, 7);
    let rnn = Rnn::bidirectional(&mut init(), 3, 2, 2).unwrap();
    check(&rt, "rnn", rnn, [2, 3, 3], |step, layer, x| layer.forward(step, x));
    let lstm = Lstm::bidirectional(&mut init(), 3, 2, 2).unwrap().dropout(0.4);
    check(&rt, "lstm", lstm, [2, 3, 3], |step, layer, x| layer.forward(step, x));
    let gru = Gru::bidirectional(&mut init(), 3, 2, 1).unwrap();
    check(&rt, "gru", gru, [3, 4, 3], |step, layer, x| Ok(layer.forward_packed(step, x, &[4, 1, 2])?.output));
}

#[test]
fn what_follows_the_end_of_a_sequence_has_no_effect() -> dahl::Result<()> {
    let rt = runtime();
    let arena = rt.arena();
    let lstm = Lstm::<f64>::new(&mut Init::new(&arena, 7), 2, 3, 2)?;
    let values: Vec<f64> = (0..12).map(|i| f64::from(i).sin()).collect();
    let x = rt.from_vec([1, 6, 2], values.clone())?;
    let short = rt.from_vec([1, 4, 2], values[..8].to_vec())?;
    lstm.evaluate(&rt, |step, lstm| {
        let packed = lstm.forward_packed(step, &x, &[4])?;
        let alone = lstm.forward_packed(step, &short, &[4])?;
        assert_eq!(packed.output.to_vec()?[..12], alone.output.to_vec()?);
        assert!(packed.output.to_vec()?[12..].iter().all(|value| *value == 0.0));
        for (packed, alone) in packed.states.iter().flatten().zip(alone.states.iter().flatten()) {
            assert_eq!(packed.to_vec()?, alone.to_vec()?);
        }
        assert_eq!((packed.states.len(), packed.states[0].len()), (2, 2));
        Ok(())
    })?;
    let error = lstm.evaluate(&rt, |step, lstm| lstm.forward_packed(step, &x, &[7]).map(drop)).unwrap_err();
    assert!(error.to_string().contains("[7]"), "{error}");
    Ok(())
}
