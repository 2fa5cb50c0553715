//! A long short-term memory on tokens.

use dahl::prelude::*;
use dahl_nn::prelude::*;

use super::{compare, start_from, windows};

#[derive(Module)]
struct CharLstm<'m, T: Real> {
    tokens: Embedding<'m, T>,
    lstm: Lstm<'m, T>,
    output: Linear<'m, T>,
}

impl<T: Real> CharLstm<'_, T> {
    fn forward<'s>(&self, step: &'s Step<'_>, tokens: &Matrix<'_, u32>) -> dahl::Result<Array<'s, T, 3>> {
        self.output.forward(step, &self.lstm.forward(step, &self.tokens.forward(step, tokens)?)?)
    }
}

fn lstm<T: Real>(max_relative: f64) -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let mut init = Init::new(&arena, 1);
    let (tokens, lstm) = (Embedding::new(&mut init, 20, 8)?, Lstm::new(&mut init, 8, 12, 2)?);
    let mut model = CharLstm::<T> { tokens, lstm, output: Linear::new(&mut init, 12, 20)? };
    start_from(&mut model, "lstm")?;
    let (inputs, targets) = windows(&rt, [4, 9], 20)?;
    let mut adam = Adam::new(1e-3);
    compare("lstm", max_relative, &mut model, |model, _| {
        let loss = model.learn(&rt, |step, model| {
            CrossEntropy.of_tokens(step, &model.forward(step, &inputs)?, &targets)
        })?;
        adam.step(model)?;
        Ok(loss)
    })
}

#[test]
fn an_lstm_with_adam() -> dahl::Result<()> {
    lstm::<f64>(1e-10)?;
    lstm::<f32>(1e-5)
}
