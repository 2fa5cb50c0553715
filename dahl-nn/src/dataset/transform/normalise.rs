//! [`Normalise`]: features with a mean of 0 and a standard deviation of 1.

use dahl::prelude::*;

use super::Transform;
use crate::dataset::Random;
use crate::error::Error;
use crate::setting::Settings;

/// Subtracts the mean of each channel and divides by its standard deviation: `(x - mean) / deviation`. Channels are the
/// first axis of a sample. One mean and deviation are for all channels.
#[derive(Clone, Debug)]
pub struct Normalise {
    means: Vec<f64>,
    deviations: Vec<f64>,
    settings: Settings,
}

impl Normalise {
    /// Normalises by the means and the standard deviations of the channels, or by one for all. An invalid setting is
    /// returned as an error when a data set is transformed.
    #[track_caller]
    pub fn new(means: impl Into<Vec<f64>>, deviations: impl Into<Vec<f64>>) -> Self {
        let (means, deviations) = (means.into(), deviations.into());
        let mut settings = Settings::default();
        let are_positive = deviations.iter().all(|&deviation| deviation > 0.0 && deviation.is_finite());
        let are_finite = means.iter().all(|mean| mean.is_finite());
        settings.require(are_finite, "Normalise: means", format!("{means:?}"), "finite numbers");
        let of_each = are_positive && deviations.len() == means.len() && !means.is_empty();
        let expected = "a positive number for each mean";
        settings.require(of_each, "Normalise: deviations", format!("{deviations:?}"), expected);
        Self { means, deviations, settings }
    }
}

impl Transform for Normalise {
    fn shape(&self, shape: &[usize]) -> dahl::Result<Vec<usize>> {
        self.settings.check()?;
        let channels = self.means.len();
        if channels != 1 && shape.first() != Some(&channels) {
            let expected = format!("{channels} channels");
            let error = Error::TransformShape { transform: "Normalise", expected, found: shape.to_vec() };
            return Err(error.into());
        }
        Ok(shape.to_vec())
    }

    fn apply<T: Real>(&self, _: &[usize], features: &mut Vec<T>, _: &mut Random) -> dahl::Result<()> {
        let of_channel = features.len().checked_div(self.means.len()).unwrap_or(0).max(1);
        let moments = self.means.iter().zip(&self.deviations);
        for (features, (&mean, &deviation)) in features.chunks_mut(of_channel).zip(moments) {
            let (mean, deviation) = (T::Compute::from_f64(mean), T::Compute::from_f64(deviation));
            for feature in features {
                *feature = T::narrow((feature.widen() - mean) / deviation);
            }
        }
        Ok(())
    }
}
