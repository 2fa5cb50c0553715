//! [`Gpt`]: the training of a small transformer on random tokens.

use dahl::ops::{add_init, gelu_init};
use dahl::prelude::*;
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

/// Attention and a network of two layers, each added to its input.
#[derive(Module)]
struct Block<'m, T: Real> {
    norm1: LayerNorm<'m, T>,
    attention: MultiHeadAttention<'m, T>,
    norm2: LayerNorm<'m, T>,
    up: Linear<'m, T>,
    down: Linear<'m, T>,
}

impl<'m, T: Real> Block<'m, T> {
    fn new(init: &mut Init<'m>) -> dahl::Result<Self> {
        Ok(Self {
            norm1: LayerNorm::new(init, WIDTH)?,
            attention: MultiHeadAttention::new(init, WIDTH, HEADS)?.causal(),
            norm2: LayerNorm::new(init, WIDTH)?,
            up: Linear::new(init, WIDTH, 4 * WIDTH)?,
            down: Linear::new(init, 4 * WIDTH, WIDTH)?,
        })
    }

    /// `x` and the result: `[batch, tokens, width]`.
    fn forward<'s>(&self, step: &'s Step<'_>, x: &Array<'_, T, 3>) -> dahl::Result<Array<'s, T, 3>> {
        let mixed = self.attention.forward(step, &self.norm1.forward(step, x)?)?;
        let x = add_init(step, x, &mixed)?;
        let wide = gelu_init(step, &self.up.forward(step, &self.norm2.forward(step, &x)?)?)?;
        add_init(step, &x, &self.down.forward(step, &wide)?)
    }
}

#[derive(Module)]
struct Network<'m, T: Real> {
    tokens: Embedding<'m, T>,
    positions: Embedding<'m, T>,
    blocks: Vec<Block<'m, T>>,
    norm: LayerNorm<'m, T>,
}

impl<'m, T: Real> Network<'m, T> {
    fn new(init: &mut Init<'m>) -> dahl::Result<Self> {
        Ok(Self {
            tokens: Embedding::new(init, VOCABULARY, WIDTH)?,
            positions: Embedding::new(init, CONTEXT, WIDTH)?,
            blocks: (0..LAYERS).map(|_| Block::new(init)).collect::<dahl::Result<_>>()?,
            norm: LayerNorm::new(init, WIDTH)?,
        })
    }

    /// `tokens: [batch, tokens]`; the result `[batch, tokens, vocabulary]`.
    fn forward<'s>(&self, step: &'s Step<'_>, tokens: &Matrix<'_, u32>) -> dahl::Result<Array<'s, T, 3>> {
        let embedded = self.tokens.forward(step, tokens)?;
        let mut x = self.positions.add_positions_from(step, embedded, 0)?;
        for block in &self.blocks {
            x = block.forward(step, &x)?;
        }
        self.tokens.scores(step, &self.norm.forward(step, &x)?)
    }
}

impl Gpt {
    /// Trains it, and returns the duration without the initialisation.
    pub(crate) fn train<T: Real>(&self, rt: &Runtime, seed: u64) -> dahl::Result<u64> {
        let arena = rt.arena();
        let mut network = Network::<T>::new(&mut Init::new(&arena, seed))?;
        let mut optimizer = AdamW::new(RATE);
        let count = CONTEXT * self.batch * self.steps + 1;
        let text: Vec<u32> = (0..count).map(|token| (token * token / 7 % VOCABULARY) as u32).collect();
        let windows = TokenWindows::new(&text, CONTEXT);
        rt.wait()?;
        let begin_ns = rt.clock().now_ns();
        for batch in windows.batches(rt, self.batch).shuffle(seed).take(self.steps) {
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
