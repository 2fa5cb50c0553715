//! [`History`]: the results of a training, epoch by epoch.

use std::fmt::Write as _;
use std::path::Path;

use crate::error::Error;
use crate::sequential::Evaluation;

/// The results of one epoch.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Epoch {
    /// Its number, from 1.
    pub epoch: usize,
    /// The mean loss of a sample, during the epoch.
    pub loss: f64,
    /// The fraction of samples whose label was predicted, during the epoch.
    pub accuracy: f64,
    /// The number of samples whose label was predicted.
    pub correct: u64,
    /// Samples trained per second.
    pub samples_per_second: f64,
    /// On the validation data, after the epoch.
    pub validation: Option<Evaluation>,
}

/// The results of a training.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The epochs, in order.
    pub epochs: Vec<Epoch>,
}

impl History {
    /// Writes a CSV file with a line for each epoch: `epoch,loss,accuracy,samples_per_second`, and
    /// `validation_loss,validation_accuracy` if there was validation data.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn to_csv(&self, path: impl AsRef<Path>) -> dahl::Result<()> {
        let path = path.as_ref();
        let validated = self.epochs.iter().any(|epoch| epoch.validation.is_some());
        let mut text = "epoch,loss,accuracy,samples_per_second".to_owned();
        text += if validated { ",validation_loss,validation_accuracy\n" } else { "\n" };
        for Epoch { epoch, loss, accuracy, samples_per_second, validation, .. } in &self.epochs {
            let _ = write!(text, "{epoch},{loss},{accuracy},{samples_per_second:.1}");
            match validation {
                Some(Evaluation { loss, accuracy, .. }) => {
                    let _ = write!(text, ",{loss},{accuracy}");
                }
                None if validated => text.push_str(",,"),
                None => {}
            }
            text.push('\n');
        }
        dahl_files::save(path, text).map_err(|error| Error::Io { path: path.to_owned(), error }.into())
    }
}
