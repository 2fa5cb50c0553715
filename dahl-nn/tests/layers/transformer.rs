//! Attention with masks, and the layers of transformers.

use dahl::prelude::*;
use dahl_nn::layer::TransformerActivation;
use dahl_nn::prelude::*;

use super::{Check, With, input};

/// Which keys are seen, as in the script: of each query, and of each sample.
const PAIRS: [u8; 25] = [1, 0, 1, 1, 1, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 1, 0, 0, 1, 1, 1, 1, 1, 0, 1];
const KEYS: [u8; 10] = [1, 1, 1, 1, 1, 1, 1, 1, 0, 0];
const MEMORY_KEYS: [u8; 8] = [1, 1, 0, 0, 1, 1, 1, 1];

fn memory<'a, T: Real, M: Module<T>>(model: &'a With<'_, T, M>) -> dahl::Result<dahl::Reshaped<'a, T, 3>> {
    input(model.memory.as_ref().expect("the case has one"))
}

pub(super) fn all<T: Real>(rt: &Runtime, table: &mut Check<'_>) {
    let arena = rt.arena();
    let mut init = Init::new(&arena, 1);
    let init = &mut init;
    let pairs = rt.from_vec([1, 5, 5], PAIRS.to_vec()).unwrap();
    let keys = rt.from_vec([2, 5], KEYS.to_vec()).unwrap();
    let memory_keys = rt.from_vec([2, 4], MEMORY_KEYS.to_vec()).unwrap();
    let (masked, seen) = (AttentionMask::default().queries(&pairs).keys(&keys), AttentionMask::default());
    let (causal, of_memory) = (seen.causal(), seen.keys(&memory_keys));

    let mut attention = || MultiHeadAttention::<T>::new(init, 8, 2).unwrap();
    let layers = [attention(), attention(), attention()];
    let [plain, with_mask, cross] = layers;
    table.check(rt, init, "multi_head_attention", plain, |step, model| {
        model.module.forward(step, &*input(&model.x)?)
    });
    table.check(rt, init, "multi_head_attention_masked", with_mask, |step, model| {
        model.module.forward_masked(step, &*input(&model.x)?, masked)
    });
    table.check(rt, init, "multi_head_attention_cross", cross, |step, model| {
        let memory = memory(model)?;
        model.module.forward_cross(step, &*input(&model.x)?, &memory, &memory, of_memory)
    });

    let without_bias = MultiHeadAttention::<T>::new(init, 8, 2).unwrap().without_bias();
    table.check(rt, init, "multi_head_attention_without_bias", without_bias, |step, model| {
        let memory = memory(model)?;
        model.module.forward_cross(step, &*input(&model.x)?, &memory, &memory, of_memory)
    });

    let grouped = MultiHeadAttention::<T>::with_key_heads(init, 16, 4, 2).unwrap().causal().rotary(10_000.0);
    table.check(rt, init, "multi_head_attention_grouped", grouped, |step, model| {
        model.module.forward(step, &*input(&model.x)?)
    });

    let options = TransformerOptions::new(8, 2).feed_forward(12).dropout(0.0);
    let first = options.norm_first().activation(TransformerActivation::Gelu);
    let layer = TransformerEncoderLayer::<T>::new(init, options).unwrap();
    table.check(rt, init, "transformer_encoder_layer", layer, |step, model| {
        model.module.forward(step, &*input(&model.x)?, masked)
    });
    let layer = TransformerEncoderLayer::<T>::new(init, first.epsilon(1e-3)).unwrap();
    table.check(rt, init, "transformer_encoder_layer_norm_first", layer, |step, model| {
        model.module.forward(step, &*input(&model.x)?, seen)
    });
    let layer = TransformerEncoderLayer::<T>::new(init, options.without_bias()).unwrap();
    table.check(rt, init, "transformer_encoder_layer_without_bias", layer, |step, model| {
        model.module.forward(step, &*input(&model.x)?, seen)
    });
    for (name, options) in
        [("transformer_decoder_layer", options), ("transformer_decoder_layer_norm_first", first)]
    {
        let layer = TransformerDecoderLayer::<T>::new(init, options).unwrap();
        table.check(rt, init, name, layer, |step, model| {
            model.module.forward(step, &*input(&model.x)?, &*memory(model)?, causal, of_memory)
        });
    }
    let masks = TransformerMasks { source: seen.keys(&keys), target: causal, memory: seen.keys(&keys) };
    let whole = Transformer::<T>::new(init, options, 2, 2).unwrap();
    table.check(rt, init, "transformer", whole, |step, model| {
        model.module.forward(step, &*memory(model)?, &*input(&model.x)?, masks)
    });
}

/// The stored weights, of which none is dropped here, give the same attention as the operation that does not store them.
fn of_stored_weights<T: Real>(tolerance: f64) -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    // So small a probability drops nothing, and scales by 1.
    let layers = [0.0, 1e-300].map(|dropout| {
        let layer = MultiHeadAttention::<T>::with_key_heads(&mut Init::new(&arena, 3), 8, 4, 2).unwrap();
        layer.causal().dropout(dropout)
    });
    let x = rt.from_vec([2, 5, 8], (0..80).map(|i| T::from_f64((f64::from(i) * 0.7).sin())).collect())?;
    // The third query of the second sample sees nothing.
    let mut pairs = [PAIRS, PAIRS].concat();
    pairs[35..40].fill(0);
    let pairs = rt.from_vec([2, 5, 5], pairs)?;
    let keys = rt.from_vec([2, 5], KEYS.to_vec())?;
    for mask in [AttentionMask::default(), AttentionMask::default().queries(&pairs).keys(&keys)] {
        let results = layers.each_ref().map(|layer| {
            let step = Step::learning(&rt);
            let out = layer.forward_masked(&step, &x, mask).unwrap();
            let squares = dahl::ops::mul_init(&step, &out, &out).unwrap();
            let total = dahl::ops::sum_init(&step, &squares).unwrap();
            let by_x = step.tape().unwrap().gradients(&total, &x).unwrap();
            [out.to_vec().unwrap(), by_x.to_vec().unwrap()].concat()
        });
        for (one, other) in results[0].iter().zip(&results[1]) {
            assert!((one.to_f64() - other.to_f64()).abs() <= tolerance, "{one:?}, {other:?}");
        }
    }
    Ok(())
}

#[test]
fn stored_weights_give_the_same_attention() -> dahl::Result<()> {
    of_stored_weights::<f64>(1e-13)?;
    of_stored_weights::<f32>(2e-5)
}

#[test]
fn dropout_changes_attention_in_training_alone() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let options = TransformerOptions::new(8, 2).feed_forward(12).dropout(0.5);
    let layer = TransformerEncoderLayer::<f32>::new(&mut Init::new(&arena, 3), options)?;
    let x = rt.from_vec([2, 5, 8], (0..80).map(|i| (i as f32 * 0.7).sin()).collect())?;
    let run = |is_training, seed| -> dahl::Result<Vec<f32>> {
        let mut step = Step::evaluating(&rt).seed(seed);
        step.set_training(is_training);
        layer.forward(&step, &x, AttentionMask::default())?.to_vec()
    };
    assert_eq!(run(false, 1)?, run(false, 2)?);
    assert_eq!(run(true, 1)?, run(true, 1)?);
    assert_ne!(run(true, 1)?, run(true, 2)?);
    assert_ne!(run(true, 1)?, run(false, 1)?);
    Ok(())
}

#[test]
fn masks_of_other_tokens_are_refused() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let layer = MultiHeadAttention::<f32>::new(&mut Init::new(&arena, 3), 8, 2)?;
    let (x, wide) = (rt.zeros([2, 5, 8])?, rt.zeros([2, 5, 9])?);
    let (pairs, keys) = (rt.zeros([1, 4, 5])?, rt.zeros([3, 5])?);
    let step = Step::evaluating(&rt);
    let seen = AttentionMask::default();
    assert!(layer.forward_masked(&step, &x, seen.queries(&pairs)).is_err());
    assert!(layer.forward_masked(&step, &x, seen.keys(&keys)).is_err());
    assert!(layer.forward_cross(&step, &x, &wide, &wide, seen).is_err());
    let error = layer.dropout(1.0);
    let mut step = Step::evaluating(&rt);
    step.set_training(true);
    assert!(error.forward(&step, &x).is_err());
    Ok(())
}
