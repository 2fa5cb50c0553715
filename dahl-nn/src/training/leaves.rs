//! How many contributions to a gradient share a leaf of its reduction.

use std::num::NonZeroUsize;

use dahl::LEAF_LEN;
use dahl::prelude::*;

use super::learning::Learning;
use super::run::Run;
use crate::loader::Source;
use crate::module::Module;
use crate::optimizer::Optimizer;

/// Bytes of a gradient that, most likely, is folded in less time than a task takes to add to it.
const SMALL_GRADIENT_BYTES: usize = 64 << 10;

impl<T, M, S, N, O> Run<'_, '_, T, M, S, N, O>
where
    T: Real,
    M: Module<T>,
    S: Source<T>,
    N: Learning<T, M, S>,
    O: Optimizer<T>,
{
    /// Gives each contribution to small gradients a leaf of its own if a batch has few micro-batches, so that workers add
    /// the contributions in parallel. Many micro-batches need no such leaves: they add to different gradients at a time.
    pub(super) fn share_leaves(&mut self) -> dahl::Result<()> {
        let leaf_len = self.leaf_len();
        self.model.for_each_parameter(|_, parameter| {
            parameter.gradient.set_leaf_len(leaf_len(parameter.len()));
            Ok(())
        })
    }

    /// How many contributions to a gradient of a length share a leaf.
    pub(super) fn leaf_len(&self) -> impl Fn(usize) -> NonZeroUsize + use<T, M, S, N, O> {
        let are_few = self.options.batch_size.div_ceil(self.micro_batch_size) < LEAF_LEN.get();
        move |len| {
            let is_small = len * size_of::<T>() <= SMALL_GRADIENT_BYTES;
            if are_few && is_small { NonZeroUsize::MIN } else { LEAF_LEN }
        }
    }
}
