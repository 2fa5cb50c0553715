//! [`Evaluation`]: loss and accuracy of a model on a data set; and a model's predictions.

use std::collections::VecDeque;
use std::sync::Arc;

use dahl::ops;
use dahl::prelude::*;

use super::Sequential;
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::loader::{DeviceTurns, Division, Part, Reader, features};
use crate::loss::Loss;
use crate::metric_accumulator::MetricAccumulators;
use crate::step::Step;

/// Samples of a batch.
const BATCH: usize = 256;

/// How good a model is on a data set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// The mean loss of a sample.
    pub loss: f64,
    /// The fraction of samples whose label is predicted.
    pub accuracy: f64,
    /// The number of samples whose label is predicted.
    pub correct: u64,
}

impl<'m, T: Real> Sequential<'m, T> {
    /// Maps every sample through the model and compares with its label.
    ///
    /// It hides [`Module::evaluate`](crate::Module::evaluate), which code for any module calls. A step of evaluation of your own is
    /// `Step::evaluating(&rt)`, with [`forward`](Self::forward).
    ///
    /// # Errors
    /// If the data set does not fit the model, or a task fails.
    pub fn evaluate(&self, loss: impl Loss<T>, data: &impl Dataset) -> dahl::Result<Evaluation> {
        self.require_fit("evaluate", data)?;
        let totals = self.arena().sibling();
        let mut accumulators = MetricAccumulators::new(&totals, self.batches_ahead(BATCH));
        let mut step = Step::in_arena(self.arena().sibling());
        let division = Division { samples: data.len(), batch_size: BATCH, part_size: BATCH };
        Reader::with(data, 0, self.arena(), |reader| {
            reader.begin(0, Arc::new((0..division.samples).collect()), division, 0);
            for _ in 0..division.batches() {
                let (Part { features, labels }, samples) = reader.next(step.detached())?;
                let output = self.forward(&step, &features)?;
                let mut metrics = accumulators.next(samples)?;
                let batch_loss = loss.of(&step, &output, &labels, 1.0 / samples as f64)?;
                metrics.add(&batch_loss)?;
                ops::count_correct(&output, &labels, &mut metrics.correct)?;
                accumulators.push(metrics)?;
                drop((features, labels, output, batch_loss));
                step.reset();
            }
            Ok(())
        })?;
        let sum = accumulators.finish()?;
        Ok(Evaluation { loss: sum.mean_loss(), accuracy: sum.accuracy(), correct: sum.correct })
    }

    /// The class that the model predicts for every sample. Labels are not read.
    ///
    /// # Errors
    /// If the data set does not fit the model, or a task fails.
    pub fn predict(&self, data: &impl Dataset) -> dahl::Result<Vec<u32>> {
        self.require_fit("predict", data)?;
        let outcomes = self.arena().sibling();
        let ahead = self.batches_ahead(BATCH);
        let mut predicted: VecDeque<Matrix<u32>> = VecDeque::new();
        let mut classes = Vec::with_capacity(data.len());
        let mut step = Step::in_arena(self.arena().sibling());
        let mut turns = DeviceTurns::new(step.detached());
        let indices: Vec<usize> = (0..data.len()).collect();
        for indices in indices.chunks(BATCH) {
            let input = features(data, step.detached(), indices, 0)?;
            if let Some(device) = turns.next() {
                input.prefetch(device);
            }
            let output = self.forward(&step, &input)?;
            predicted.push_back(ops::arg_max_init(&outcomes, &output, 1)?);
            drop((input, output));
            step.reset();
            if predicted.len() > ahead {
                classes.extend(
                    predicted.pop_front().map(|batch| batch.to_vec()).transpose()?.into_iter().flatten(),
                );
            }
        }
        for batch in predicted {
            classes.extend(batch.to_vec()?);
        }
        Ok(classes)
    }

    /// Requires that the shape and the classes of the data set are the model's.
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
