//! [`ReplicaSums`]: the gradients of a batch, of each replica of a pipeline's stages, and their sum.

use std::num::NonZeroUsize;
use std::ops::Range;

use dahl::ops;
use dahl::prelude::*;

use super::shards::halves;
use super::stash::Stash;
use crate::module::Module;

/// The gradients of a batch by the parameters that learn.
pub(crate) struct ReplicaSums<T: Real> {
    parameters: Vec<OfParameter<T>>,
}

/// The gradients by one parameter.
struct OfParameter<T: Real> {
    /// Of each replica that has micro-batches of the batch, in the order of their turns.
    sums: Vec<Vector<'static, T>>,
    /// The places of these replicas.
    places: Vec<usize>,
    owner: usize,
}

impl<T: Real> ReplicaSums<T> {
    /// No gradients yet, for a batch of so many micro-batches. So many contributions to a gradient of a length share a leaf.
    pub(crate) fn new(
        stash: &Stash<T>,
        model: &impl Module<T>,
        micro_batches: usize,
        leaf_len: impl Fn(usize) -> NonZeroUsize,
    ) -> dahl::Result<Self> {
        let mut parameters = Vec::new();
        for (index, named) in model.parameters().enumerate() {
            let parameter = named.parameter();
            if parameter.frozen {
                continue;
            }
            let (places, owner) = stash.places_and_owner(index);
            let places = places[..places.len().min(micro_batches)].to_vec();
            let len = parameter.len();
            let mut sums = Vec::with_capacity(places.len());
            for _ in &places {
                let mut sum: Vector<'static, T> = parameter.value.zeros_of([len])?;
                sum.invalidate()?;
                sum.set_leaf_len(leaf_len(len));
                sums.push(sum);
            }
            parameters.push(OfParameter { sums, places, owner });
        }
        Ok(Self { parameters })
    }

    /// The sums to which the gradients of a micro-batch are added, by its number in the batch: one for each parameter.
    pub(crate) fn of_micro_batch(&mut self, number: usize) -> Vec<&mut Vector<'static, T>> {
        let of_parameters = self.parameters.iter_mut().filter_map(|OfParameter { sums, .. }| {
            let count = sums.len();
            sums.get_mut(number % count)
        });
        of_parameters.collect()
    }

    /// Adds the sums of the replicas by the tree over their places, and makes them the gradients of the parameters.
    pub(crate) fn take_gradients(
        self,
        stash: &Stash<T>,
        model: &mut impl Module<T>,
        arena: &Arena,
    ) -> dahl::Result<()> {
        let mut of_parameters = self.parameters.into_iter();
        model.for_each_parameter(|_, parameter| {
            match (!parameter.frozen).then(|| of_parameters.next()).flatten() {
                Some(of) => ops::copy(&of.total(stash, arena)?, &mut parameter.gradient),
                None => Ok(()),
            }
        })
    }
}

impl<T: Real> OfParameter<T> {
    fn total(self, stash: &Stash<T>, arena: &Arena) -> dahl::Result<Vector<'static, T>> {
        let mut by_place: Vec<_> = self.places.into_iter().zip(self.sums).collect();
        by_place.sort_by_key(|(place, _)| *place);
        let (places, sums): (Vec<_>, Vec<_>) = by_place.into_iter().unzip();
        let ranks: Vec<_> = places.into_iter().map(|place| stash.stages().rank_of_place(place)).collect();
        let mut sums: Vec<_> = sums.into_iter().map(Some).collect();
        add(&mut sums, &ranks, 0..ranks.len(), self.owner, arena)
    }
}

/// The sum of these replicas, on the owner of the parameter if it is one of them.
fn add<T: Real>(
    sums: &mut [Option<Vector<'static, T>>],
    ranks: &[usize],
    replicas: Range<usize>,
    owner: usize,
    arena: &Arena,
) -> dahl::Result<Vector<'static, T>> {
    if replicas.len() == 1 {
        return Ok(sums[replicas.start].take().expect("each replica is added once"));
    }
    let (first, second) = halves(&replicas);
    let mut sum = add(sums, ranks, first, owner, arena)?;
    let other = add(sums, ranks, second, owner, arena)?;
    let rank = if ranks[replicas.clone()].contains(&owner) { owner } else { ranks[replicas.start] };
    arena.on_rank(rank, || ops::axpy_self(&other, &mut sum, T::ONE))?;
    Ok(sum)
}
