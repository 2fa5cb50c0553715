//! [`DataParallel`]: the settings of data parallel training.

use std::panic::Location;

use super::shards::Shards;
use crate::error::{Error, Result};

/// Bytes of gradients that are sent together: enough that a message takes longer than its cost, few enough that the first
/// one is sent long before the backward pass has ended.
const BUCKET_BYTES: usize = 4 << 20;

/// Bytes of parameters that are asked for ahead: several layers, so that they come while others are computed.
const GATHER_BYTES: usize = 64 << 20;

/// Data parallel training ([`Parallel::data`](super::Parallel::data)). Each batch is cut into shards of consecutive samples, in blocks over the ranks;
/// a rank computes the gradients of its shards. These are added by a tree over the shards' numbers:
/// `((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7))`. So losses and parameters have the same bits for any number of ranks. They
/// depend on the number of shards, by rounding. Take a multiple of the number of ranks that you will ever use.
///
/// Gradients are sent in [buckets](Self::bucket_bytes), while the backward pass still runs. One rank owns each bucket: it
/// has the sum of its gradients, updates its parameters, and alone uses the optimizer's state of these (Rajbhandari et al. 2020,
/// [arXiv:1910.02054](https://arxiv.org/abs/1910.02054), sections 5.1 and 5.2). Ranks that need the parameters receive them. If each rank
/// has a power of two of shards, a bucket is sent `ranks - 1` times. Else some ranks have shards that the tree adds to those of
/// other ranks first, and a bucket is sent more often: with 6 shards on 2 ranks, shard 2 is added to shard 3 before either rank has the
/// sum of its own shards.
///
/// Layers that look at several samples see a micro-batch, which by default is a shard: batch normalisation takes the
/// statistics of each one, and its running statistics follow them in the order of the shards.
///
/// A shorter last batch has fewer shards of the same number of samples. An invalid number is an error of the call that
/// trains: there is at least one shard, a whole batch has samples for each (10 samples in 6 shards are 2 in each of 5), and the
/// samples of a micro-batch divide those of a shard.
#[derive(Clone, Debug)]
pub struct DataParallel {
    shards: usize,
    bucket_bytes: usize,
    /// The bytes of parameters that a rank asks others for ahead of its tasks, if each rank keeps only its own.
    gather_bytes: Option<usize>,
}

impl DataParallel {
    pub(super) fn new(shards: usize) -> Self {
        Self { shards, bucket_bytes: BUCKET_BYTES, gather_bytes: None }
    }

    /// Sets how many bytes of gradients are sent together, at least: 4 MiB by default. Results do not depend on it.
    pub fn bucket_bytes(mut self, bytes: usize) -> Self {
        self.bucket_bytes = bytes;
        self
    }

    /// Shards the parameters too (ZeRO 3, section 5.3 of the same paper): a rank keeps those that it owns. Others come for each task
    /// that reads them, on the way forward and on the way back, and their memory is given back after it. Results do not depend
    /// on it. It sends each parameter to each other rank twice for each micro-batch, and not once for each batch.
    ///
    /// After the training each parameter is on its owner; who reads one receives it.
    pub fn shard_parameters(mut self) -> Self {
        self.gather_bytes.get_or_insert(GATHER_BYTES);
        self
    }

    /// As [`shard_parameters`](Self::shard_parameters), and sets how many bytes of others' parameters a rank asks for ahead of its tasks:
    /// 64 MiB by default. A larger parameter comes alone.
    pub fn gather_bytes(mut self, bytes: usize) -> Self {
        self.gather_bytes = Some(bytes);
        self
    }

    /// Requires samples for each shard, and micro-batches that are in one shard.
    pub(super) fn check(
        &self,
        batch_size: usize,
        micro_batch_size: Option<usize>,
        location: &'static Location<'static>,
    ) -> Result<()> {
        if self.shards == 0 || self.shards > batch_size {
            let value = format!("{} for batches of {batch_size}", self.shards);
            let expected = "a number from 1 to the batch size";
            return Err(Error::Setting { setting: "Parallel: shards", value, expected, location });
        }
        let shard_size = self.shard_size(batch_size);
        let filled = batch_size.div_ceil(shard_size);
        if filled != self.shards {
            let value =
                format!("{}, but shards of {shard_size} of {batch_size} samples are {filled}", self.shards);
            let expected = "as many shards as have a sample";
            return Err(Error::Setting { setting: "Parallel: shards", value, expected, location });
        }
        match micro_batch_size {
            Some(samples) if samples == 0 || !shard_size.is_multiple_of(samples) => {
                let value = format!("{samples} in shards of {shard_size}");
                let expected = "a divisor of the samples of a shard";
                Err(Error::Setting { setting: "Trainer: micro_batch_size", value, expected, location })
            }
            _ => Ok(()),
        }
    }

    /// The samples of a shard; the last one may have fewer.
    pub(super) fn shard_size(&self, batch_size: usize) -> usize {
        batch_size.div_ceil(self.shards.max(1))
    }

    /// The bytes of parameters that are asked for ahead, if parameters are sharded.
    pub(super) fn bytes_gathered(&self) -> Option<usize> {
        self.gather_bytes
    }

    pub(super) fn bytes_of_bucket(&self) -> usize {
        self.bucket_bytes
    }

    /// The shards of a batch, over so many ranks.
    pub(super) fn over(&self, ranks: usize) -> Shards {
        Shards { count: self.shards, ranks }
    }
}
