//! Networks that predict the next token of the King James Bible: a GPT of characters, GPT-2 small of words, and an LSTM.

use std::collections::HashMap;

use dahl::ops::scale_init;
use dahl::prelude::*;
use dahl::program::ProgramArgument;
use dahl_nn::dataset::king_james_bible;
use dahl_nn::module::Init;
use dahl_nn::optimizer::{Stateful, UpdateRule};
use dahl_nn::prelude::*;

use crate::char_lstm::{self, CharLstm};
use crate::gpt::{Extents, Gpt};
use crate::plans::{self, Placing};
use crate::{Settings, serve};

/// A GPT, and how it is trained.
pub(crate) struct Case {
    pub(crate) extents: Extents,
    batch_size: usize,
    /// Whether tokens are words: characters otherwise, which are as many as the text has.
    of_words: bool,
    learning_rate: f64,
}

/// The example's.
pub(crate) const GPT: Case = Case {
    extents: Extents { vocabulary: 0, context: 64, width: 128, heads: 4, layers: 4 },
    batch_size: 12,
    of_words: false,
    learning_rate: 1e-3,
};

/// A GPT in a size that says nothing, to show that it works.
pub(crate) const GPT_TINY: Case = Case {
    extents: Extents { vocabulary: 0, context: 8, width: 16, heads: 2, layers: 1 },
    batch_size: 2,
    of_words: false,
    learning_rate: 1e-3,
};

/// GPT-2 small, of which the vocabulary is larger than that of the text.
pub(crate) const GPT2: Case = Case {
    extents: Extents { vocabulary: 50_257, context: 256, width: 768, heads: 12, layers: 12 },
    batch_size: 4,
    of_words: true,
    learning_rate: 1e-4,
};

/// Tokens of one window of the LSTM, and windows of a batch.
const LSTM: [usize; 2] = [64, 32];
const LSTM_WIDTH: usize = 256;

/// A network that gives the scores of the next token after each token.
trait Scores<T: Real>: Module<T> {
    fn scores<'s>(&self, step: &'s Step<'_>, tokens: &Matrix<'_, u32>) -> dahl::Result<Array<'s, T, 3>>;
}

impl<T: Real> Scores<T> for Gpt<'_, T> {
    fn scores<'s>(&self, step: &'s Step<'_>, tokens: &Matrix<'_, u32>) -> dahl::Result<Array<'s, T, 3>> {
        self.forward(step, tokens)
    }
}

impl<T: Real> Scores<T> for CharLstm<'_, T> {
    fn scores<'s>(&self, step: &'s Step<'_>, tokens: &Matrix<'_, u32>) -> dahl::Result<Array<'s, T, 3>> {
        self.forward(step, tokens)
    }
}

/// A step of the examples: the mean cross-entropy, gradients whose norm is at most 1, an update.
#[program]
fn learn_tokens<'s, T: Real, N: Scores<T>, R: UpdateRule>(
    step: &'s Step<'_>,
    inputs: &Matrix<'_, u32>,
    targets: &Matrix<'_, u32>,
    model: &mut N,
    optimizer: &mut Stateful<T, R>,
) -> dahl::Result<Scalar<'s, T>>
where
    for<'a> &'a mut N: ProgramArgument,
{
    model.for_each_parameter(|_, parameter| parameter.gradient.invalidate())?;
    let loss = CrossEntropy.of_tokens(step, &model.scores(step, inputs)?, targets)?;
    step.accumulate(&loss, model)?;
    clip_gradient_norm(model, 1.0)?;
    optimizer.step(model)?;
    scale_init(step, &loss, T::ONE)
}

/// The words of a text, numbered as they first appear.
pub(crate) fn words(text: &str) -> Vec<u32> {
    let mut numbers = HashMap::new();
    let mut number = |word| {
        let next = numbers.len() as u32;
        *numbers.entry(word).or_insert(next)
    };
    text.split_whitespace().map(&mut number).collect()
}

/// Trains a GPT.
pub(crate) fn gpt<T: Real>(settings: &Settings, case: &Case) -> Result<(), Box<dyn std::error::Error>> {
    let text = king_james_bible();
    let characters = CharacterTokenizer::new(&text);
    let tokens = if case.of_words { words(&text) } else { characters.encode(&text)? };
    let vocabulary = if case.of_words { case.extents.vocabulary } else { characters.vocabulary().len() };
    let extents = Extents { vocabulary, ..case.extents };
    let rt = settings.runtime()?;
    let arena = rt.arena();
    let model = Gpt::<T>::new(&mut Init::new(&arena, 42), extents, 0.0)?;
    let optimizer = AdamW::new(case.learning_rate).weight_decay(0.1);
    train(settings, &rt, model, optimizer, &tokens, [extents.context, case.batch_size])
}

/// Trains two layers of an LSTM.
pub(crate) fn lstm<T: Real>(settings: &Settings) -> Result<(), Box<dyn std::error::Error>> {
    let text = king_james_bible();
    let characters = CharacterTokenizer::new(&text);
    let tokens = characters.encode(&text)?;
    let vocabulary = characters.vocabulary().len();
    let extents = char_lstm::Extents { vocabulary, features: LSTM_WIDTH, width: LSTM_WIDTH, layers: 2 };
    let rt = settings.runtime()?;
    let arena = rt.arena();
    let model = CharLstm::<T>::new(&mut Init::new(&arena, 42), extents)?;
    train(settings, &rt, model, Adam::new(5e-3), &tokens, LSTM)
}

/// Trains with one window after the other, `len` tokens each.
fn train<T: Real, N: Scores<T>, R: UpdateRule>(
    settings: &Settings,
    rt: &Runtime,
    mut model: N,
    mut optimizer: Stateful<T, R>,
    tokens: &[u32],
    [len, batch_size]: [usize; 2],
) -> Result<(), Box<dyn std::error::Error>>
where
    for<'a> &'a mut N: ProgramArgument,
{
    if let Some(path) = &settings.save {
        model.save(path)?;
    }
    optimizer.prepare(&mut model)?;
    let windows = TokenWindows::new(tokens, len).stride(len);
    let mut batches = windows.batches(rt, batch_size);
    if settings.plans {
        for placing in Placing::ALL {
            let Some(batch) = batches.next() else { continue };
            let (inputs, targets) = batch?;
            let learn = LearnTokens::new(rt);
            let mut learn = if let Placing::Tight = placing { learn.tight() } else { learn };
            let step = || {
                learn.call(&inputs, &targets, &mut model, &mut optimizer)?;
                Ok(learn.memory_plan().clone())
            };
            plans::print(rt, placing, step)?;
        }
        return Ok(());
    }
    let mut learn = LearnTokens::new(rt);
    let step = || {
        let Some(batch) = batches.next() else { return Ok(f64::NAN) };
        let (inputs, targets) = batch?;
        let loss = learn.call(&inputs, &targets, &mut model, &mut optimizer)?;
        Ok(loss.read()?[[]].to_f64())
    };
    serve(rt, step)
}
