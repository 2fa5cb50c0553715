//! [`Order`]: the samples of an epoch of a trainer, and their order.

use dahl::ops;
use dahl::prelude::*;

use crate::dataset::require_samples;
use crate::loader::Sampler;

/// How a trainer orders the samples of an epoch.
pub(super) enum Order<'t> {
    /// As the source has them.
    OfSource,
    /// By the permutation of this seed and the epoch.
    Shuffled(u64),
    /// By a sampler, which may also choose among them.
    Sampled(Box<dyn Sampler + 't>),
}

impl Order<'_> {
    /// The samples of epoch number `epoch`, from 1.
    pub(super) fn of_epoch(&self, arena: &Arena, samples: usize, epoch: usize) -> dahl::Result<Vec<usize>> {
        match self {
            Order::OfSource => Ok((0..samples).collect()),
            Order::Shuffled(seed) => {
                let arena = arena.sibling();
                let mut order: Vector<u32> = arena.zeros([samples])?;
                ops::permutation(&mut order, seed.wrapping_add(epoch as u64))?;
                Ok(order.to_vec()?.into_iter().map(|index| index as usize).collect())
            }
            Order::Sampled(sampler) => {
                let order = sampler.order(samples, epoch as u64 - 1)?;
                require_samples(&order, samples)?;
                Ok(order)
            }
        }
    }
}
