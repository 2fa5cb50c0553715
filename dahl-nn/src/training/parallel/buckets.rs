//! [`Buckets`]: which gradients are sent together, and which rank owns them.

use std::ops::Range;

use dahl::prelude::*;

use crate::gradients::for_each_learned;
use crate::module::Module;

/// Gradients that are sent together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bucket {
    /// The numbers of its parameters, among those that learn.
    pub(crate) parameters: Range<usize>,
    /// The rank that has the sum of the gradients, and updates the parameters.
    pub(crate) owner: usize,
}

/// The buckets of a model's gradients.
#[derive(Debug)]
pub(crate) struct Buckets {
    /// The elements of each parameter that learns.
    lens: Vec<usize>,
    /// The last parameters first: a backward pass ends with the first ones.
    pub(crate) buckets: Vec<Bucket>,
}

impl Buckets {
    /// Buckets of at least so many bytes, the last one less; each belongs to the rank that owns the fewest elements so far.
    pub(crate) fn new(lens: Vec<usize>, element_bytes: usize, bucket_bytes: usize, ranks: usize) -> Self {
        let (mut buckets, mut elements_of) = (Vec::new(), vec![0; ranks]);
        let mut end = lens.len();
        while end > 0 {
            let (mut start, mut elements) = (end, 0);
            while start > 0 && (start == end || elements * element_bytes < bucket_bytes) {
                start -= 1;
                elements += lens[start];
            }
            let owner = (0..ranks).min_by_key(|rank| elements_of[*rank]).unwrap_or(0);
            elements_of[owner] += elements;
            buckets.push(Bucket { parameters: start..end, owner });
            end = start;
        }
        Self { lens, buckets }
    }

    /// Whether they are those of this model, of which other parameters may learn now.
    pub(crate) fn is_of<T: Real>(&self, model: &impl Module<T>) -> bool {
        self.lens == lens(model)
    }

    /// The elements of each parameter of a bucket.
    pub(crate) fn lens_of(&self, bucket: &Bucket) -> &[usize] {
        &self.lens[bucket.parameters.clone()]
    }

    /// The elements of each parameter that learns.
    pub(crate) fn lens(&self) -> &[usize] {
        &self.lens
    }

    /// The owner of each parameter that learns.
    pub(crate) fn owners(&self) -> Vec<usize> {
        let mut owners = vec![0; self.lens.len()];
        for Bucket { parameters, owner } in &self.buckets {
            owners[parameters.clone()].fill(*owner);
        }
        owners
    }
}

/// The elements of each parameter of a model that learns.
pub(crate) fn lens<T: Real>(model: &impl Module<T>) -> Vec<usize> {
    let mut lens = Vec::new();
    for_each_learned(model, |_, parameter| lens.push(parameter.len()));
    lens
}

#[cfg(test)]
mod tests {
    use super::{Bucket, Buckets};

    fn buckets(lens: &[usize], bytes: usize, ranks: usize) -> Vec<Bucket> {
        Buckets::new(lens.to_vec(), 4, bytes, ranks).buckets
    }

    #[test]
    fn small_gradients_are_together_and_owners_have_as_much() {
        let of = |parameters, owner| Bucket { parameters, owner };
        assert_eq!(buckets(&[], 64, 2), []);
        assert_eq!(buckets(&[100, 4, 4, 4], 40, 2), [of(1..4, 0), of(0..1, 1)]);
        assert_eq!(buckets(&[3, 5, 2], 0, 2), [of(2..3, 0), of(1..2, 1), of(0..1, 0)]);
        assert_eq!(buckets(&[3, 5], 1000, 7), [of(0..2, 0)]);
    }
}
