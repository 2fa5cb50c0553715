//! [`TokenWindows`]: windows of a text as inputs, and the tokens that follow as targets, for language models.

use dahl::prelude::*;

use super::random::Random;
use crate::setting::Settings;

/// The windows of a text of tokens: the inputs are `len` tokens, and the targets are the tokens that follow each of
/// them, so the same window one token later. There is a window at every place of the text, or at every
/// [`stride`](Self::stride)-th.
///
/// ```
/// use dahl::prelude::*;
/// use dahl_nn::dataset::TokenWindows;
///
/// let rt = Runtime::new()?;
/// let text: Vec<u32> = (0..100).collect();
/// let windows = TokenWindows::new(&text, 32);
/// for batch in windows.batches(&rt, 8).shuffle(7).take(3) {
///     let (inputs, targets) = batch?;
///     assert_eq!((inputs.shape(), targets.shape()), ([8, 32], [8, 32]));
///     assert_eq!(targets.read()?[[0, 0]], inputs.read()?[[0, 1]]);
/// }
/// # Ok::<(), dahl::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TokenWindows<'t> {
    text: &'t [u32],
    len: usize,
    stride: usize,
    settings: Settings,
}

impl<'t> TokenWindows<'t> {
    /// The windows of `len` tokens of `text`, one at every place. An invalid setting is returned as an error by the
    /// first batch, with the line that set it.
    #[track_caller]
    pub fn new(text: &'t [u32], len: usize) -> Self {
        let mut settings = Settings::default();
        settings.require(len > 0, "TokenWindows: len", len, "a number from 1");
        Self { text, len, stride: 1, settings }
    }

    /// Sets the tokens between the beginnings of two windows: 1 by default; the length of a window, if each token is to
    /// be an input once an epoch.
    #[track_caller]
    pub fn stride(mut self, tokens: usize) -> Self {
        self.settings.require(tokens > 0, "TokenWindows: stride", tokens, "a number from 1");
        self.stride = tokens;
        self
    }

    /// The number of windows. Each needs a token after it, as the last target.
    pub fn count(&self) -> usize {
        self.text.len().saturating_sub(self.len).div_ceil(self.stride.max(1))
    }

    /// The inputs and targets of window `index`.
    ///
    /// # Panics
    /// If there is no such window.
    pub fn window(&self, index: usize) -> (&'t [u32], &'t [u32]) {
        let start = index * self.stride;
        (&self.text[start..start + self.len], &self.text[start + 1..start + 1 + self.len])
    }

    pub(crate) fn check_settings(&self) -> dahl::Result<()> {
        Ok(self.settings.check()?)
    }

    /// Batches of `batch_size` windows as arrays of the runtime, epoch after epoch, for ever. Windows come in their
    /// order, unless they are [shuffled](TokenBatches::shuffle). What remains of an epoch after its last full batch is
    /// left out, so every batch has the same shape.
    #[track_caller]
    pub fn batches<'r>(&self, rt: &'r Runtime, batch_size: usize) -> TokenBatches<'t, 'r> {
        let mut windows = self.clone();
        let fits = batch_size > 0 && batch_size <= windows.count();
        let expected = "a number from 1 to that of the windows in the text";
        windows.settings.require(fits, "TokenWindows: batch_size", batch_size, expected);
        TokenBatches { windows, rt, batch_size, seed: None, epoch: 0, order: Vec::new(), failed: false }
    }
}

/// Batches of [`TokenWindows`], for ever: an iterator over inputs and targets, each `[batch_size, len]`.
///
/// After an error it ends.
#[derive(Debug)]
pub struct TokenBatches<'t, 'r> {
    windows: TokenWindows<'t>,
    rt: &'r Runtime,
    batch_size: usize,
    seed: Option<u64>,
    /// The number of the next epoch, from 0.
    epoch: u64,
    /// The windows of this epoch that are left, last one first.
    order: Vec<usize>,
    failed: bool,
}

impl TokenBatches<'_, '_> {
    /// Brings the windows into a random order, another one each epoch, which depends only on the seed and the epoch.
    pub fn shuffle(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    fn next_epoch(&mut self) {
        self.order = (0..self.windows.count()).rev().collect();
        if let Some(seed) = self.seed {
            Random::new(seed, &[self.epoch]).shuffle(&mut self.order);
        }
        self.epoch += 1;
    }

    fn batch(&mut self) -> dahl::Result<(Matrix<'static, u32>, Matrix<'static, u32>)> {
        self.windows.settings.check()?;
        if self.order.len() < self.batch_size {
            self.next_epoch();
        }
        let shape = [self.batch_size, self.windows.len];
        let mut inputs = Vec::with_capacity(shape[0] * shape[1]);
        let mut targets = Vec::with_capacity(shape[0] * shape[1]);
        for index in self.order.drain(self.order.len() - self.batch_size..).rev() {
            let (input, target) = self.windows.window(index);
            inputs.extend_from_slice(input);
            targets.extend_from_slice(target);
        }
        Ok((self.rt.from_vec(shape, inputs)?, self.rt.from_vec(shape, targets)?))
    }
}

impl Iterator for TokenBatches<'_, '_> {
    type Item = dahl::Result<(Matrix<'static, u32>, Matrix<'static, u32>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let batch = self.batch();
        self.failed = batch.is_err();
        Some(batch)
    }
}
