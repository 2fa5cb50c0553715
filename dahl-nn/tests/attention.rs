//! Attention token by token with a cache gives the same as all at once.

use dahl::prelude::*;
use dahl_nn::prelude::*;

fn cached<T: Real>(tolerance: f64, key_heads: usize, rotary: bool) -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let layer =
        MultiHeadAttention::<T>::with_key_heads(&mut Init::new(&arena, 3), 16, 4, key_heads)?.causal();
    let layer = if rotary { layer.rotary(10_000.0) } else { layer };
    let (batch, tokens) = (2, 9);
    let values: Vec<T> = (0..batch * tokens * 16).map(|i| T::from_f64((i as f64 * 0.7).sin())).collect();
    let x = rt.from_vec([batch, tokens, 16], values)?;
    let whole = layer.evaluate(&rt, |step, layer| layer.forward(step, &x)?.to_vec())?;
    let mut cache = KeyValueCache::new(&rt, &layer, batch, tokens)?;
    assert!(cache.is_empty());
    for range in [0..4, 4..5, 5..9] {
        let out = layer.evaluate(&rt, |step, layer| {
            let part = dahl::ops::slice_init(step, &x, 1, range.start, range.len())?;
            layer.forward_cached(step, &part, &mut cache)?.to_vec()
        })?;
        for (index, value) in out.iter().enumerate() {
            let (sample, rest) = (index / (range.len() * 16), index % (range.len() * 16));
            let expected = whole[sample * tokens * 16 + range.start * 16 + rest].to_f64();
            assert!(
                (value.to_f64() - expected).abs() <= tolerance,
                "{index} of {range:?}: {value:?}, {expected}"
            );
        }
    }
    assert_eq!((cache.len(), cache.capacity()), (tokens, tokens));
    let one = rt.from_vec([batch, 1, 16], vec![T::ONE; batch * 16])?;
    let error = layer.evaluate(&rt, |step, layer| layer.forward_cached(step, &one, &mut cache).map(drop));
    assert!(error.unwrap_err().to_string().contains("more than its 9"));
    cache.truncate(3);
    assert_eq!(cache.len(), 3);
    Ok(())
}

#[test]
fn a_cache_gives_the_same_in_f64() -> dahl::Result<()> {
    cached::<f64>(1e-14, 4, false)?;
    cached::<f64>(1e-14, 2, true)
}

#[test]
fn a_cache_gives_the_same_in_f32() -> dahl::Result<()> {
    cached::<f32>(1e-6, 1, true)
}
