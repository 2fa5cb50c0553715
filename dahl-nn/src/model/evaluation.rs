//! How good a model is: [`Evaluation`], and a model's predictions.

use dahl::ops;
use dahl::prelude::*;

use super::Sequential;
use crate::dataset::{Dataset, load, load_features};
use crate::error::{Error, Result};
use crate::loss::Loss;

/// Samples that are looked at together.
const BATCH: usize = 256;

/// How good a model is on a data set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// The mean loss of a sample.
    pub loss: f64,
    /// The share of samples whose label is predicted.
    pub accuracy: f64,
    /// The number of samples whose label is predicted.
    pub correct: u64,
}

impl<'m, T: Real> Sequential<'m, T> {
    /// Maps every sample through the model and compares with its label.
    ///
    /// # Errors
    /// If the data set does not fit the model, or a task fails.
    pub fn evaluate(&self, loss: impl Loss<T>, data: &impl Dataset) -> dahl::Result<Evaluation> {
        self.require_fit("evaluate", data)?;
        let mut step = self.arena().sibling();
        let totals = self.arena().sibling();
        let mut losses = Vec::new();
        let mut correct: Scalar<u32> = totals.zeros([])?;
        let indices: Vec<usize> = (0..data.len()).collect();
        for indices in indices.chunks(BATCH) {
            let (input, labels) = load(&step, data, indices)?;
            let trace = self.forward(&step, &input)?;
            let output = trace.output().unwrap_or(&input);
            let mut total: Scalar<T> = totals.zeros([])?;
            loss.add_to(&step, &mut total, output, &labels, 1.0 / indices.len() as f64)?;
            ops::count_correct(output, &labels, &mut correct)?;
            losses.push((total, indices.len()));
            step.reset();
        }
        let mut sum = 0.0;
        for (mean, count) in losses {
            sum += mean.read()?[[]].to_f64() * count as f64;
        }
        let (correct, samples) = (u64::from(correct.read()?[[]]), data.len() as f64);
        Ok(Evaluation { loss: sum / samples, accuracy: correct as f64 / samples, correct })
    }

    /// The class that the model predicts for every sample. Labels are not looked at.
    ///
    /// # Errors
    /// If the data set does not fit the model, or a task fails.
    pub fn predict(&self, data: &impl Dataset) -> dahl::Result<Vec<u32>> {
        self.require_fit("predict", data)?;
        let step = self.arena().sibling();
        let mut classes = Vec::with_capacity(data.len());
        let indices: Vec<usize> = (0..data.len()).collect();
        for indices in indices.chunks(BATCH) {
            let input = load_features(&step, data, indices)?;
            let trace = self.forward(&step, &input)?;
            let output = trace.output().unwrap_or(&input);
            classes.extend(ops::arg_max_init(&step, output, 1)?.to_vec()?);
        }
        Ok(classes)
    }

    /// Requires that the data set's samples and classes are the model's.
    pub(crate) fn require_fit(&self, call: &'static str, data: &impl Dataset) -> Result<()> {
        if data.is_empty() {
            return Err(Error::NoSamples { call });
        }
        if data.sample_shape() != self.input_shape() {
            let (expected, found) = (self.input_shape().to_vec(), data.sample_shape().to_vec());
            return Err(Error::SampleShape { expected, found });
        }
        let outputs = self.output_shape().iter().product();
        if data.classes() > outputs {
            return Err(Error::Classes { outputs, classes: data.classes() });
        }
        Ok(())
    }
}
