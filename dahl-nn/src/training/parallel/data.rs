//! A batch whose shards are computed on several ranks.

use std::ops::Range;

use dahl::ndarray::Axis;
use dahl::ops;
use dahl::prelude::*;

use super::buckets::{Bucket, Buckets, lens};
use super::shards::{Shards, halves};
use super::{DataParallel, Parallel};
use crate::loader::{Reader, Source};
use crate::metric_accumulator::MetricAccumulator;
use crate::module::Module;
use crate::optimizer::Optimizer;
use crate::step::Step;
use crate::training::learning::{Learning, Share, update};
use crate::training::run::Run;

/// The sums of some shards: one for each bucket, and the loss.
struct Sums<T: Real> {
    buckets: Vec<Vector<'static, T>>,
    loss: Scalar<'static, T>,
}

/// What the shards of a batch are computed from.
struct Batch<'b, 's, 'r, 'd, 'a, T: Real, S: Source<T>> {
    samples: usize,
    shards: Shards,
    buckets: &'b Buckets,
    step: &'b mut Step<'s>,
    reader: &'b mut Reader<'r, 'd, T, S>,
    metrics: &'b mut MetricAccumulator<'a, T>,
}

impl<T, M, S, N, O> Run<'_, '_, T, M, S, N, O>
where
    T: Real,
    M: Module<T>,
    S: Source<T>,
    N: Learning<T, M, S>,
    O: Optimizer<T>,
{
    /// The shards of a batch, if it has some.
    pub(in crate::training) fn shards(&self) -> Option<Shards> {
        Some(self.options.parallel.as_ref()?.as_data()?.over(self.arena.ranks()))
    }

    /// How many micro-batches may be in flight so that this rank submits a whole batch without waiting for its own shards, if several ranks
    /// share it: they wait for the parameters that it sends when it submits theirs, and for its sums. What other ranks compute takes no memory here.
    pub(in crate::training) fn micro_batches_of_rank(&self) -> usize {
        let Some(shards) = self.shards().filter(|shards| shards.ranks > 1) else { return 0 };
        let shard_size = self.options.batch_size.div_ceil(shards.count);
        // And the one that is being submitted.
        shards.count.div_ceil(shards.ranks) * shard_size.div_ceil(self.micro_batch_size) + 1
    }

    /// Submits the tasks of a batch, shard by shard.
    pub(in crate::training) fn batch_over_ranks(
        &mut self,
        shards: Shards,
        samples: usize,
        step: &mut Step<'_>,
        reader: &mut Reader<'_, '_, T, S>,
        metrics: &mut MetricAccumulator<'_, T>,
    ) -> dahl::Result<()> {
        let buckets = match self.buckets.take() {
            Some(buckets) if buckets.is_of(&*self.model) => buckets,
            _ => self.new_buckets(shards.ranks)?,
        };
        let shard_size = self.options.batch_size.div_ceil(shards.count);
        let all = 0..samples.div_ceil(shard_size);
        let mut batch = Batch { samples, shards, buckets: &buckets, step, reader, metrics };
        let sums = self.sum(&mut batch, all)?;
        ops::copy(&sums.loss, &mut metrics.loss)?;
        self.take_gradients(&buckets, sums.buckets)?;
        update(self.model, &mut self.optimizer, self.options.max_norm)?;
        self.buckets = Some(buckets);
        Ok(())
    }

    /// The buckets of the model as it is now; makes their owners those of the parameters.
    fn new_buckets(&mut self, ranks: usize) -> dahl::Result<Buckets> {
        let data = self.options.parallel.as_ref().and_then(Parallel::as_data);
        let bytes = data.map_or(0, DataParallel::bytes_of_bucket);
        let gathered = data.and_then(DataParallel::bytes_gathered);
        let buckets = Buckets::new(lens(&*self.model), size_of::<T>(), bytes, ranks);
        let (arena, mut owners) = (self.arena, buckets.owners().into_iter());
        gathered.into_iter().for_each(|bytes| arena.set_gathered_bytes(bytes));
        self.model.for_each_parameter(|_, parameter| {
            if let Some(owner) = (!parameter.frozen).then(|| owners.next()).flatten() {
                arena.set_owner(&parameter.value, owner)?;
                arena.set_owner(&parameter.gradient, owner)?;
            }
            if gathered.is_some() {
                arena.set_sharded(&mut parameter.value, true);
            }
            Ok(())
        })?;
        Ok(buckets)
    }

    /// The training has ended: what reads parameters from now on keeps them.
    pub(in crate::training) fn end_sharding(&mut self) -> dahl::Result<()> {
        let data = self.options.parallel.as_ref().and_then(Parallel::as_data);
        if data.and_then(DataParallel::bytes_gathered).is_none() {
            return Ok(());
        }
        let arena = self.arena;
        arena.set_gathered_bytes(usize::MAX);
        self.model.for_each_parameter(|_, parameter| {
            arena.set_sharded(&mut parameter.value, false);
            Ok(())
        })
    }

    /// The sums of these shards.
    fn sum(
        &mut self,
        batch: &mut Batch<'_, '_, '_, '_, '_, T, S>,
        shards: Range<usize>,
    ) -> dahl::Result<Sums<T>> {
        if shards.len() <= 1 {
            return self.shard(batch, shards.start);
        }
        let (first, second) = halves(&shards);
        let mut sums = self.sum(batch, first)?;
        let others = self.sum(batch, second)?;
        let (arena, of) = (self.arena, batch.shards);
        for (number, Bucket { owner, .. }) in batch.buckets.buckets.iter().enumerate() {
            let (sum, other) = (&mut sums.buckets[number], &others.buckets[number]);
            let rank = of.rank_of_sum(&shards, number, *owner);
            arena.on_rank(rank, || ops::axpy_self(other, sum, T::ONE))?;
        }
        let rank = of.rank_of_sum(&shards, 0, 0);
        arena.on_rank(rank, || ops::axpy_self(&others.loss, &mut sums.loss, T::ONE))?;
        Ok(sums)
    }

    /// The gradients and the loss of a shard.
    fn shard(&mut self, batch: &mut Batch<'_, '_, '_, '_, '_, T, S>, shard: usize) -> dahl::Result<Sums<T>> {
        let (arena, rank) = (self.arena, batch.shards.rank_of(shard));
        arena.on_rank(rank, || self.shard_here(batch, shard))
    }

    fn shard_here(
        &mut self,
        batch: &mut Batch<'_, '_, '_, '_, '_, T, S>,
        shard: usize,
    ) -> dahl::Result<Sums<T>> {
        let Batch { samples: of, buckets, step, reader, metrics, .. } = batch;
        let mut loss: Scalar<'static, T> = metrics.loss.zeros_of([])?;
        loss.invalidate()?;
        let mut gradients = Vec::with_capacity(buckets.lens().len());
        for len in buckets.lens() {
            let mut gradient: Vector<'static, T> = metrics.loss.zeros_of([*len])?;
            gradient.invalidate()?;
            gradients.push(gradient);
        }
        let shard_size = self.options.batch_size.div_ceil(batch.shards.count);
        let samples = (*of - shard * shard_size).min(shard_size);
        let first = shard * shard_size / self.micro_batch_size;
        for number in first..first + samples.div_ceil(self.micro_batch_size) {
            let (part, samples) = reader.next(step.detached())?;
            let share = Share { number, samples, of: *of };
            let of_part = self.learning.loss(step, &*self.model, &part, share, &mut metrics.correct)?;
            ops::sum(&*of_part.reshaped([1])?, &mut loss)?;
            step.accumulate_to(&of_part, &*self.model, gradients.iter_mut().collect())?;
            drop((of_part, part));
            step.forget();
            self.release(step);
        }
        let mut gradients = gradients.into_iter().map(Some).collect::<Vec<_>>();
        let mut joined = Vec::with_capacity(buckets.buckets.len());
        for Bucket { parameters, .. } in &buckets.buckets {
            let of_bucket: Vec<_> =
                gradients[parameters.clone()].iter_mut().filter_map(Option::take).collect();
            joined.push(join(of_bucket)?);
        }
        Ok(Sums { buckets: joined, loss })
    }

    /// Makes the sums the gradients of the parameters, on the ranks that own these.
    fn take_gradients(&mut self, buckets: &Buckets, mut sums: Vec<Vector<'static, T>>) -> dahl::Result<()> {
        let mut parts = Vec::with_capacity(sums.len());
        for (bucket, sum) in buckets.buckets.iter().zip(&mut sums) {
            parts.push(sum.partition_mut_by(Axis(0), buckets.lens_of(bucket))?);
        }
        // The last bucket has the first parameters.
        let mut parts = parts.iter().rev().flat_map(|parts| parts.iter());
        self.model.for_each_parameter(|_, parameter| {
            match (!parameter.frozen).then(|| parts.next()).flatten() {
                Some(part) => ops::copy(part, &mut parameter.gradient),
                None => Ok(()),
            }
        })
    }
}

/// Gradients as one array.
fn join<T: Real>(mut gradients: Vec<Vector<'static, T>>) -> dahl::Result<Vector<'static, T>> {
    if gradients.len() == 1
        && let Some(gradient) = gradients.pop()
    {
        return Ok(gradient);
    }
    let len = gradients.iter().map(|gradient| gradient.len()).sum();
    let mut whole = gradients[0].zeros_of([len])?;
    ops::concat(&gradients.iter().collect::<Vec<_>>(), &mut whole, 0)?;
    Ok(whole)
}
