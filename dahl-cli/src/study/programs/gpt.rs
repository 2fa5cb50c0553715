//! [`Gpt`]: the training of a small transformer on random tokens.

use dahl::prelude::*;
use dahl_nn::layer::TransformerActivation;
use dahl_nn::prelude::*;

const VOCABULARY: usize = 64;
const CONTEXT: usize = 32;
const WIDTH: usize = 64;
const HEADS: usize = 4;
const LAYERS: usize = 2;
const RATE: f64 = 1e-3;

/// The training of a transformer that predicts the next token: forward, backward and AdamW.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Gpt {
    /// Windows of a step.
    pub(crate) batch: usize,
    pub(crate) steps: usize,
}

#[derive(Module)]
struct Network<'m, T: Real> {
    tokens: Embedding<'m, T>,
    positions: Embedding<'m, T>,
    encoder: TransformerEncoder<'m, T>,
}

impl<'m, T: Real> Network<'m, T> {
    fn new(init: &mut Init<'m>) -> dahl::Result<Self> {
        let layer = TransformerOptions::new(WIDTH, HEADS).feed_forward(4 * WIDTH).dropout(0.0).norm_first();
        let layer = layer.activation(TransformerActivation::Gelu);
        Ok(Self {
            tokens: Embedding::new(init, VOCABULARY, WIDTH)?,
            positions: Embedding::new(init, CONTEXT, WIDTH)?,
            encoder: TransformerEncoder::new(init, layer, LAYERS)?.norm(LayerNorm::new(init, WIDTH)?),
        })
    }

    /// `tokens: [batch, tokens]`; the result `[batch, tokens, vocabulary]`.
    fn forward<'s>(&self, step: &'s Step<'_>, tokens: &Matrix<'_, u32>) -> dahl::Result<Array<'s, T, 3>> {
        let embedded = self.tokens.forward(step, tokens)?;
        let x = self.positions.add_positions_from(step, embedded, 0)?;
        self.tokens.scores(step, &self.encoder.forward(step, &x, AttentionMask::default().causal())?)
    }
}

impl Gpt {
    /// Trains it for `warm_up` steps, and then for its own. Returns the duration of these.
    pub(crate) fn train<T: Real>(&self, rt: &Runtime, warm_up: usize, seed: u64) -> dahl::Result<u64> {
        let arena = rt.arena();
        let mut network = Network::<T>::new(&mut Init::new(&arena, seed))?;
        let mut optimizer = AdamW::new(RATE);
        let steps = warm_up + self.steps;
        let count = CONTEXT * self.batch * steps + 1;
        let text: Vec<u32> = (0..count).map(|token| (token * token / 7 % VOCABULARY) as u32).collect();
        let windows = TokenWindows::new(&text, CONTEXT);
        let mut begin_ns = 0;
        for (step, batch) in windows.batches(rt, self.batch).shuffle(seed).take(steps).enumerate() {
            if step == warm_up {
                rt.wait()?;
                begin_ns = rt.clock().now_ns();
            }
            let (inputs, targets) = batch?;
            network.learn(rt, |step, network| {
                CrossEntropy.of_tokens(step, &network.forward(step, &inputs)?, &targets)
            })?;
            optimizer.step(&mut network)?;
        }
        rt.wait()?;
        Ok(rt.clock().now_ns() - begin_ns)
    }
}
