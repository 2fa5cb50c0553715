//! A transformer that predicts the next token: the architecture of GPT-2 (Radford et al. 2019, *Language Models are
//! Unsupervised Multitask Learners*), which reads its published weights.

use std::path::Path;

use dahl::ops::{self, add_init, gelu_tanh_init};
use dahl::prelude::*;
use dahl_nn::module::TensorName;
use dahl_nn::prelude::*;

/// The extents of a model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extents {
    /// Tokens that there are.
    pub(crate) vocabulary: usize,
    /// The most tokens that the model sees.
    pub(crate) context: usize,
    /// Features of a token.
    pub(crate) width: usize,
    /// Heads of each attention.
    pub(crate) heads: usize,
    /// Blocks.
    pub(crate) layers: usize,
}

/// Attention and a network of two layers, each added to its input.
#[derive(Module)]
pub(crate) struct Block<'m, T: Real> {
    norm1: LayerNorm<'m, T>,
    attention: MultiHeadAttention<'m, T>,
    norm2: LayerNorm<'m, T>,
    up: Linear<'m, T>,
    down: Linear<'m, T>,
    dropout: Dropout,
}

impl<'m, T: Real> Block<'m, T> {
    fn new(init: &mut Init<'m>, extents: Extents, dropout: f64) -> dahl::Result<Self> {
        let Extents { width, heads, layers, .. } = extents;
        let mut block = Self {
            norm1: LayerNorm::new(init, width)?,
            attention: MultiHeadAttention::new(init, width, heads)?.causal(),
            norm2: LayerNorm::new(init, width)?,
            up: Linear::new(init, width, 4 * width)?,
            down: Linear::new(init, 4 * width, width)?,
            dropout: Dropout::new(dropout),
        };
        // As GPT-2: a deviation of 0.02, less for the layers whose outputs are added up, and no biases.
        let deviation = 0.02;
        let added = deviation / (2.0 * layers as f64).sqrt();
        init.fill(&mut block.attention.in_proj_weight, Initializer::Normal { deviation })?;
        init.fill(&mut block.attention.out_proj.weight, Initializer::Normal { deviation: added })?;
        init.fill(&mut block.up.weight, Initializer::Normal { deviation })?;
        init.fill(&mut block.down.weight, Initializer::Normal { deviation: added })?;
        for bias in [&mut block.up.bias, &mut block.down.bias].into_iter().flatten() {
            init.fill(bias, Initializer::Constant(0.0))?;
        }
        Ok(block)
    }

    /// `x` and the result: `[batch, tokens, width]`.
    fn forward<'s>(
        &self,
        step: &'s Step<'_>,
        x: &Array<'_, T, 3>,
        cache: Option<&mut KeyValueCache<T>>,
    ) -> dahl::Result<Array<'s, T, 3>> {
        let normed = self.norm1.forward(step, x)?;
        let mixed = match cache {
            Some(cache) => self.attention.forward_cached(step, &normed, cache)?,
            None => self.attention.forward(step, &normed)?,
        };
        let x = add_init(step, x, &self.dropped(step, mixed)?)?;
        let wide = gelu_tanh_init(step, &self.up.forward(step, &self.norm2.forward(step, &x)?)?)?;
        let narrow = self.down.forward(step, &wide)?;
        add_init(step, &x, &self.dropped(step, narrow)?)
    }

    fn dropped<'s>(&self, step: &'s Step<'_>, x: Array<'s, T, 3>) -> dahl::Result<Array<'s, T, 3>> {
        if step.is_training() { self.dropout.forward(step, &x) } else { Ok(x) }
    }
}

/// The model. Its output layer shares the weights of the tokens.
#[derive(Module)]
pub(crate) struct Gpt<'m, T: Real> {
    tokens: Embedding<'m, T>,
    positions: Embedding<'m, T>,
    blocks: Vec<Block<'m, T>>,
    norm: LayerNorm<'m, T>,
    #[module(skip)]
    extents: Extents,
}

impl<'m, T: Real> Gpt<'m, T> {
    /// A model with random weights.
    pub(crate) fn new(init: &mut Init<'m>, extents: Extents, dropout: f64) -> dahl::Result<Self> {
        let mut model = Self {
            tokens: Embedding::new(init, extents.vocabulary, extents.width)?,
            positions: Embedding::new(init, extents.context, extents.width)?,
            blocks: (0..extents.layers)
                .map(|_| Block::new(init, extents, dropout))
                .collect::<dahl::Result<_>>()?,
            norm: LayerNorm::new(init, extents.width)?,
            extents,
        };
        for embedding in [&mut model.tokens, &mut model.positions] {
            init.fill(&mut embedding.weight, Initializer::Normal { deviation: 0.02 })?;
        }
        Ok(model)
    }

    /// The extents.
    pub(crate) fn extents(&self) -> Extents {
        self.extents
    }

    /// The scores of the next token after each token.
    ///
    /// # Shapes
    /// `tokens: [batch, tokens]`; the result `[batch, tokens, vocabulary]`.
    pub(crate) fn forward<'s>(
        &self,
        step: &'s Step<'_>,
        tokens: &Matrix<'_, u32>,
    ) -> dahl::Result<Array<'s, T, 3>> {
        self.run(step, tokens, None)
    }

    /// As [`forward`](Self::forward), for tokens that continue those of the caches, one for each block.
    pub(crate) fn forward_cached<'s>(
        &self,
        step: &'s Step<'_>,
        tokens: &Matrix<'_, u32>,
        caches: &mut [KeyValueCache<T>],
    ) -> dahl::Result<Array<'s, T, 3>> {
        self.run(step, tokens, Some(caches))
    }

    fn run<'s>(
        &self,
        step: &'s Step<'_>,
        tokens: &Matrix<'_, u32>,
        mut caches: Option<&mut [KeyValueCache<T>]>,
    ) -> dahl::Result<Array<'s, T, 3>> {
        let first = caches.as_ref().and_then(|caches| caches.first()).map_or(0, KeyValueCache::len);
        let embedded = self.tokens.forward(step, tokens)?;
        let mut x = self.positions.add_positions_from(step, embedded, first)?;
        for (index, block) in self.blocks.iter().enumerate() {
            x = block.forward(step, &x, caches.as_mut().map(|caches| &mut caches[index]))?;
        }
        self.tokens.scores(step, &self.norm.forward(step, &x)?)
    }

    /// Empty caches for one sequence, one for each block.
    pub(crate) fn caches(&self, rt: &Runtime) -> dahl::Result<Vec<KeyValueCache<T>>> {
        let cache = |block: &Block<'m, T>| KeyValueCache::new(rt, &block.attention, 1, self.extents.context);
        self.blocks.iter().map(cache).collect()
    }

    /// Reads the weights of GPT-2 by their published names. Its matrices are stored transposed.
    pub(crate) fn load_gpt2(&mut self, path: impl AsRef<Path>) -> dahl::Result<()> {
        self.load_as(path, |name| {
            let name = name
                .replace("tokens.", "wte.")
                .replace("positions.", "wpe.")
                .replace("blocks.", "h.")
                .replace("norm1.", "ln_1.")
                .replace("norm2.", "ln_2.")
                .replace("attention.in_proj_", "attn.c_attn.")
                .replace("attention.out_proj.", "attn.c_proj.")
                .replace("up.", "mlp.c_fc.")
                .replace("down.", "mlp.c_proj.");
            let name = name.strip_prefix("norm.").map_or(name.clone(), |rest| format!("ln_f.{rest}"));
            let is_matrix = name.contains(".c_") && name.ends_with("weight");
            if is_matrix { TensorName::new(name).transposed() } else { TensorName::new(name) }
        })
    }
}

/// How the next token is drawn from its scores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampling {
    /// Scores are divided by it; 0 takes the best token.
    pub(crate) temperature: f64,
    /// Only so many of the best tokens are drawn; 0 for all.
    pub(crate) top_k: usize,
    /// Only the best tokens that together have this probability are drawn.
    pub(crate) top_p: f64,
}

impl Sampling {
    /// The token that the number `uniform`, from 0 to 1, stands for.
    pub(crate) fn draw(&self, scores: &[f64], uniform: f64) -> u32 {
        let better = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b));
        let mut order: Vec<usize> = (0..scores.len()).collect();
        if self.temperature == 0.0 || scores.len() < 2 {
            return order.into_iter().min_by(better).unwrap_or(0) as u32;
        }
        if (1..scores.len()).contains(&self.top_k) {
            order.select_nth_unstable_by(self.top_k - 1, better);
            order.truncate(self.top_k);
        }
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let power = |token: usize| ((scores[token] - best) / self.temperature).exp();
        let powers: Vec<f64> = (0..scores.len()).map(power).collect();
        let mut total = order.iter().map(|&token| powers[token]).sum::<f64>();
        if self.top_p < 1.0 {
            let last = first_place(&mut order, &powers, better, |sum| sum >= self.top_p * total);
            order.truncate(last + 1);
            total = order.iter().map(|&token| powers[token]).sum();
        }
        let place = first_place(&mut order, &powers, better, |sum| sum > uniform * total);
        order[place] as u32
    }
}

/// The first place, in the order of `better`, up to which the sum of the powers is enough; the last one if none is. What is before
/// it in `order` then comes before it in that order. A vocabulary is large, so it is not sorted: half of it is looked at, then
/// a quarter, and so on.
fn first_place(
    order: &mut [usize],
    powers: &[f64],
    better: impl Fn(&usize, &usize) -> std::cmp::Ordering,
    is_enough: impl Fn(f64) -> bool,
) -> usize {
    let (mut first, mut rest, mut before) = (0, order, 0.0);
    while rest.len() > 1 {
        let half = rest.len() / 2;
        rest.select_nth_unstable_by(half, &better);
        let (left, right) = std::mem::take(&mut rest).split_at_mut(half);
        let sum = before + left.iter().map(|&token| powers[token]).sum::<f64>();
        if is_enough(sum) {
            rest = left;
        } else {
            (first, rest, before) = (first + half, right, sum);
        }
    }
    first
}

/// Continues `prompt` by `count` tokens, and calls `see` with each. After `context` tokens the oldest half is forgotten.
pub(crate) fn generate<T: Real>(
    rt: &Runtime,
    model: &Gpt<'_, T>,
    prompt: &[u32],
    count: usize,
    sampling: Sampling,
    mut see: impl FnMut(u32),
) -> dahl::Result<()> {
    let context = model.extents().context;
    let mut tokens = prompt.to_vec();
    let mut caches = model.caches(rt)?;
    let mut seen = 0;
    let mut draws: Vector<f64> = rt.zeros([count])?;
    ops::uniform(&mut draws, 0.0, 1.0, ops::Philox::new(rt.next_seed()))?;
    for uniform in draws.to_vec()? {
        if tokens.len() > context {
            tokens.drain(..tokens.len() - context / 2);
            caches.iter_mut().for_each(|cache| cache.truncate(0));
            seen = 0;
        }
        let new = rt.from_vec([1, tokens.len() - seen], tokens[seen..].to_vec())?;
        seen = tokens.len();
        let scores =
            model.evaluate(rt, |step, model| model.forward_cached(step, &new, &mut caches)?.to_vec())?;
        let last = &scores[scores.len() - model.extents().vocabulary..];
        let last: Vec<f64> = last.iter().map(|score| score.to_f64()).collect();
        let token = sampling.draw(&last, uniform);
        tokens.push(token);
        see(token);
    }
    Ok(())
}
