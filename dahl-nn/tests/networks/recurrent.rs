//! A long short-term memory on tokens.

use dahl::prelude::*;
use dahl_nn::prelude::*;

use super::char_lstm::{CharLstm, Extents, generate};
use super::{Trajectory, compare, start_from, windows};

const EXTENTS: Extents = Extents { vocabulary: 20, features: 8, width: 12, layers: 2 };

pub(super) fn lstm<T: Real>() -> dahl::Result<Trajectory> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let mut model = CharLstm::<T>::new(&mut Init::new(&arena, 1), EXTENTS)?;
    start_from(&mut model, "lstm")?;
    let (inputs, targets) = windows(&rt, [4, 9], 20)?;
    let mut adam = Adam::new(1e-3);
    compare("lstm", &mut model, |model, _| {
        let loss = model.learn(&rt, |step, model| {
            CrossEntropy.of_tokens(step, &model.forward(step, &inputs)?, &targets)
        })?;
        adam.step(model)?;
        Ok(loss)
    })
}

/// At a temperature of almost 0, the token with the highest score is written.
#[test]
fn an_lstm_writes_the_best_tokens() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let model = CharLstm::<f64>::new(&mut Init::new(&arena, 3), EXTENTS)?;
    let mut tokens = vec![3, 1, 4];
    let mut written = Vec::new();
    generate(&rt, &model, &tokens, [6, 4], 1e-9, |token| written.push(token))?;
    assert_eq!(written.len(), 6);
    for token in written {
        let last = tokens[tokens.len().saturating_sub(4)..].to_vec();
        let input = rt.from_vec([1, last.len()], last)?;
        let scores = model.evaluate(&rt, |step, model| model.forward(step, &input)?.to_vec())?;
        let scores = &scores[scores.len() - 20..];
        let best = (0..20).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
        assert_eq!(token, best as u32, "after {tokens:?}");
        tokens.push(token);
    }
    Ok(())
}
