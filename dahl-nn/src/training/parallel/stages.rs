//! [`Stages`]: which rank has which layers of a [`Sequential`](crate::Sequential).

use std::panic::Location;

use super::replicas::Replicas;
use crate::error::{Error, Result};

/// The stages of a pipeline: consecutive layers, whose replicas are in blocks over the ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stages {
    /// The first layer of each stage but the first one.
    cuts: Vec<usize>,
    replicas: Replicas,
    ranks: usize,
    /// Whether the places of a rank are not neighbours.
    is_interleaved: bool,
}

impl Stages {
    /// Stages with these first layers, over so many ranks.
    pub(crate) fn new(cuts: &[usize], replicas: Replicas, ranks: usize, is_interleaved: bool) -> Self {
        Self { cuts: cuts.to_vec(), replicas, ranks, is_interleaved }
    }

    /// Requires that each stage has a layer and a replica.
    pub(crate) fn check(&self, layers: usize, location: &'static Location<'static>) -> Result<()> {
        let bounds = [0].iter().chain(&self.cuts).chain([&layers]);
        let have_layers = bounds.clone().zip(bounds.skip(1)).all(|(start, end)| start < end);
        if !have_layers {
            let value = format!("{:?} of {layers} layers", self.cuts);
            let expected = "the first layer of each stage but the first one, so that each stage has a layer";
            return Err(Error::Setting { setting: "Parallel: cuts", value, expected, location });
        }
        let counts: Vec<_> =
            (0..self.replicas.stages()).map(|stage| self.replicas.of_stage(stage).len()).collect();
        if counts.len() != self.len() || counts.contains(&0) {
            let value = format!("{counts:?} of {} stages", self.len());
            let expected = "a number of replicas for each stage, from 1 on";
            return Err(Error::Setting { setting: "Parallel: replicas", value, expected, location });
        }
        Ok(())
    }

    /// The number of stages.
    pub(crate) fn len(&self) -> usize {
        self.cuts.len() + 1
    }

    /// The replicas of the stages.
    pub(crate) fn replicas(&self) -> &Replicas {
        &self.replicas
    }

    /// The first layer and the places of each stage, if some have replicas: then sums depend on them.
    pub(crate) fn replicated(&self) -> Option<String> {
        let first = [0].iter().chain(&self.cuts).enumerate();
        let stages = || first.map(|(stage, layer)| format!("{layer}: {:?}", self.replicas.of_stage(stage)));
        self.replicas.are_several().then(|| stages().collect::<Vec<_>>().join(", "))
    }

    /// The stage that has a layer.
    pub(crate) fn of_layer(&self, layer: usize) -> usize {
        self.cuts.iter().take_while(|cut| **cut <= layer).count()
    }

    /// The rank of a place.
    pub(crate) fn rank_of_place(&self, place: usize) -> usize {
        if self.is_interleaved { place % self.ranks } else { place * self.ranks / self.replicas.places() }
    }

    /// The rank that runs a stage for a micro-batch, by its number in its batch.
    pub(crate) fn rank_of(&self, stage: usize, micro_batch: usize) -> usize {
        let places = self.replicas.of_stage(stage);
        self.rank_of_place(places[micro_batch % places.len()])
    }

    /// The stage of each parameter, if the layers have so many of them.
    pub(crate) fn of_parameters(&self, of_layers: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let repeated = |(layer, count): (usize, usize)| std::iter::repeat_n(self.of_layer(layer), count);
        of_layers.into_iter().enumerate().flat_map(repeated).collect()
    }

    /// The rank that owns each parameter, if they have these stages and lengths: that of the place of its stage that has the
    /// fewest elements so far.
    pub(crate) fn owners(&self, of_parameters: impl IntoIterator<Item = (usize, usize)>) -> Vec<usize> {
        let mut elements_of = vec![0; self.replicas.places()];
        let mut owner = |(stage, len): (usize, usize)| {
            let places = self.replicas.of_stage(stage).iter();
            let place = places.copied().min_by_key(|place| elements_of[*place]).unwrap_or(0);
            elements_of[place] += len;
            self.rank_of_place(place)
        };
        of_parameters.into_iter().map(&mut owner).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use super::{Replicas, Stages};

    fn single(cuts: &[usize], ranks: usize, is_interleaved: bool) -> Stages {
        Stages::new(cuts, Replicas::of(vec![1; cuts.len() + 1]), ranks, is_interleaved)
    }

    #[test]
    fn stages_are_in_blocks_on_all_ranks() {
        let stages = single(&[2, 3], 2, false);
        assert_eq!([0, 1, 2, 3, 4].map(|layer| stages.of_layer(layer)), [0, 0, 1, 2, 2]);
        assert_eq!([0, 1, 2].map(|stage| stages.rank_of(stage, 7)), [0, 0, 1]);
        let interleaved = single(&[1, 2, 3], 2, true);
        assert_eq!([0, 1, 2, 3].map(|stage| interleaved.rank_of(stage, 0)), [0, 1, 0, 1]);
        assert_eq!(stages.of_parameters([2, 0, 1, 0, 2]), [0, 0, 1, 2, 2]);
    }

    #[test]
    fn replicas_have_turns_and_share_the_parameters() {
        let stages = Stages::new(&[2], Replicas::of([3, 1]), 4, false);
        let of_stage = |stage| [0, 1, 2, 3].map(|micro_batch| stages.rank_of(stage, micro_batch));
        assert_eq!((of_stage(0), of_stage(1)), ([0, 1, 2, 0], [3, 3, 3, 3]));
        assert_eq!(stages.owners([(0, 10), (0, 4), (0, 4), (0, 5), (1, 1)]), [0, 1, 2, 1, 3]);
        let on_two = Stages::new(&[2], Replicas::of([3, 1]), 2, false);
        assert_eq!([0, 1, 2].map(|micro_batch| on_two.rank_of(0, micro_batch)), [0, 0, 1]);
    }

    #[test]
    fn each_stage_has_a_layer_and_a_replica() {
        let check = |cuts: &[usize]| single(cuts, 1, false).check(4, Location::caller()).is_ok();
        assert!(check(&[]) && check(&[1, 2, 3]));
        assert!(!check(&[0]) && !check(&[4]) && !check(&[2, 2]) && !check(&[3, 1]));
        let check = |counts: &[usize]| {
            let stages = Stages::new(&[1], Replicas::of(counts.to_vec()), 3, false);
            stages.check(4, Location::caller()).map_err(|error| error.to_string())
        };
        assert_eq!(check(&[2, 1]), Ok(()));
        for counts in [&[2][..], &[1, 0], &[1, 1, 1]] {
            let error = check(counts).expect_err("it is refused");
            assert!(error.contains(&format!("{counts:?} of 2 stages")), "{error}");
        }
    }
}
