//! [`Stages`]: which rank has which layers of a [`Sequential`](crate::Sequential).

use crate::error::{Error, Result};

/// The stages of a pipeline: consecutive layers, in blocks over the ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stages {
    /// The first layer of each stage but the first one.
    cuts: Vec<usize>,
    ranks: usize,
    /// Whether the stages of a rank are not neighbours.
    is_interleaved: bool,
}

impl Stages {
    /// Stages with these first layers, over so many ranks.
    pub(crate) fn new(cuts: &[usize], ranks: usize, is_interleaved: bool) -> Self {
        Self { cuts: cuts.to_vec(), ranks, is_interleaved }
    }

    /// Requires that each stage has a layer.
    pub(crate) fn check(
        &self,
        layers: usize,
        location: &'static std::panic::Location<'static>,
    ) -> Result<()> {
        let bounds = [0].iter().chain(&self.cuts).chain([&layers]);
        let have_layers = bounds.clone().zip(bounds.skip(1)).all(|(start, end)| start < end);
        if have_layers {
            return Ok(());
        }
        let value = format!("{:?} of {layers} layers", self.cuts);
        let expected = "the first layer of each stage but the first one, so that each stage has a layer";
        Err(Error::Setting { setting: "Parallel: cuts", value, expected, location })
    }

    /// The number of stages.
    pub(crate) fn len(&self) -> usize {
        self.cuts.len() + 1
    }

    /// The stage that has a layer.
    pub(crate) fn of_layer(&self, layer: usize) -> usize {
        self.cuts.iter().take_while(|cut| **cut <= layer).count()
    }

    /// The rank that runs a stage.
    pub(crate) fn rank_of(&self, stage: usize) -> usize {
        if self.is_interleaved { stage % self.ranks } else { stage * self.ranks / self.len() }
    }

    /// The stage of each parameter, if the layers have so many of them.
    pub(crate) fn of_parameters(&self, of_layers: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let repeated = |(layer, count): (usize, usize)| std::iter::repeat_n(self.of_layer(layer), count);
        of_layers.into_iter().enumerate().flat_map(repeated).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use super::Stages;

    #[test]
    fn stages_are_in_blocks_on_all_ranks() {
        let stages = Stages::new(&[2, 3], 2, false);
        assert_eq!([0, 1, 2, 3, 4].map(|layer| stages.of_layer(layer)), [0, 0, 1, 2, 2]);
        assert_eq!([0, 1, 2].map(|stage| stages.rank_of(stage)), [0, 0, 1]);
        let interleaved = Stages::new(&[1, 2, 3], 2, true);
        assert_eq!([0, 1, 2, 3].map(|stage| interleaved.rank_of(stage)), [0, 1, 0, 1]);
        assert_eq!(stages.of_parameters([2, 0, 1, 0, 2]), [0, 0, 1, 2, 2]);
    }

    #[test]
    fn each_stage_has_a_layer() {
        let check = |cuts: &[usize]| Stages::new(cuts, 1, false).check(4, Location::caller()).is_ok();
        assert!(check(&[]) && check(&[1, 2, 3]));
        assert!(!check(&[0]) && !check(&[4]) && !check(&[2, 2]) && !check(&[3, 1]));
    }
}
