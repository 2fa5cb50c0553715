//! [`History`]: the results of a training, epoch by epoch.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use dahl::energy::Joules;

use super::{LearningCurves, TensorBoard};
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
    /// The fraction of samples whose label was predicted, during the epoch. Not a number if a function computed the loss:
    /// then predictions are not counted.
    pub accuracy: f64,
    /// The number of samples whose label was predicted.
    pub correct: u64,
    /// The number of samples.
    pub samples: usize,
    /// The energy of all memory nodes of the machine during the epoch, without validation, and where it is from: measured,
    /// simulated, or unavailable with the reason.
    pub energy: Joules,
    /// Samples trained per second, by the process that ended the epoch.
    pub samples_per_second: f64,
    /// On the validation data, after the epoch.
    pub validation: Option<Evaluation>,
}

impl Epoch {
    /// The energy of a sample in joules, if it is known.
    pub fn joules_per_sample(&self) -> Option<f64> {
        self.energy.value().map(|joules| joules / self.samples as f64)
    }

    /// Adds the results to an event file. One that is not a number, as an accuracy that is not counted, is left out.
    pub(super) fn write_to(&self, events: &mut TensorBoard) -> dahl::Result<()> {
        let mut scalar = |tag: &str, value: f64| {
            if value.is_nan() { Ok(()) } else { events.scalar(tag, self.epoch as u64, value) }
        };
        scalar("loss/train", self.loss)?;
        scalar("accuracy/train", self.accuracy)?;
        scalar("samples_per_second", self.samples_per_second)?;
        scalar("joules", self.energy.value().unwrap_or(f64::NAN))?;
        if let Some(validation) = &self.validation {
            scalar("loss/validation", validation.loss)?;
            scalar("accuracy/validation", validation.accuracy)?;
        }
        Ok(())
    }
}

/// The results of a training.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The epochs, in order.
    pub epochs: Vec<Epoch>,
    /// Why steps were submitted one by one and not [replayed](super::Trainer::replays), if that was so for all or for
    /// batches of some shape: the last reason.
    pub submitted: Option<String>,
    /// The numbers, from 1, of the steps that the [loss scaler](super::Trainer::loss_scaler) skipped: not all of their
    /// gradients were finite.
    pub skipped_steps: Vec<usize>,
}

impl History {
    /// Writes a CSV file with a line for each epoch: `epoch,loss,accuracy,samples_per_second`,
    /// `validation_loss,validation_accuracy` if there was validation data, and `joules` if the energy of an epoch is known. What
    /// was not counted or is not known is an empty cell.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn to_csv(&self, path: impl AsRef<Path>) -> dahl::Result<()> {
        let validated = self.epochs.iter().any(|epoch| epoch.validation.is_some());
        let mut text = "epoch,loss,accuracy,samples_per_second".to_owned();
        text += if validated { ",validation_loss,validation_accuracy" } else { "" };
        let is_known = self.epochs.iter().any(|epoch| epoch.energy.value().is_some());
        text += if is_known { ",joules\n" } else { "\n" };
        for Epoch { epoch, loss, accuracy, samples_per_second, validation, energy, .. } in &self.epochs {
            let _ = write!(text, "{epoch},{loss},{},{samples_per_second:.1}", counted(*accuracy));
            match validation {
                Some(Evaluation { loss, accuracy, .. }) => {
                    let _ = write!(text, ",{loss},{}", counted(*accuracy));
                }
                None if validated => text.push_str(",,"),
                None => {}
            }
            if is_known {
                text.push(',');
                text += &energy.value().map_or_else(String::new, |joules| joules.to_string());
            }
            text.push('\n');
        }
        save(path.as_ref(), text)
    }

    /// Writes a file of JSON lines, an object for each epoch, with the names of [`to_csv`](Self::to_csv) and `correct`,
    /// `samples`, `energy` (an object with `joules`, `source`, and the reason if they are not known), and `validation_correct` with
    /// validation data. A number that is not finite is `null`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn to_json_lines(&self, path: impl AsRef<Path>) -> dahl::Result<()> {
        let mut text = String::new();
        for epoch in &self.epochs {
            let Epoch { epoch, loss, accuracy, correct, samples, energy, samples_per_second, validation } =
                epoch;
            let energy = serde_json::to_value(energy).unwrap_or_default();
            let [loss, accuracy, speed] =
                [*loss, *accuracy, *samples_per_second].map(serde_json::Value::from);
            let _ = write!(
                text,
                "{{\"epoch\":{epoch},\"loss\":{loss},\"accuracy\":{accuracy},\"correct\":{correct},\
                 \"samples\":{samples},\"energy\":{energy},\"samples_per_second\":{speed}"
            );
            if let Some(Evaluation { loss, accuracy, correct }) = validation {
                let [loss, accuracy] = [*loss, *accuracy].map(serde_json::Value::from);
                let _ = write!(
                    text,
                    ",\"validation_loss\":{loss},\"validation_accuracy\":{accuracy},\"validation_correct\":{correct}"
                );
            }
            text += "}\n";
        }
        save(path.as_ref(), text)
    }

    /// Writes an event file for TensorBoard into `folder`, which is made if it is not there, and returns its path. The
    /// scalars are `loss/train`, `loss/validation`, `accuracy/train`, `accuracy/validation`, `samples_per_second`, and `joules` if known; a
    /// step is an epoch. `tensorboard --logdir FOLDER` shows them, in place of those of files that were there before.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn to_tensorboard(&self, folder: impl AsRef<Path>) -> dahl::Result<PathBuf> {
        let mut events =
            TensorBoard::restart(folder, self.epochs.first().map_or(1, |epoch| epoch.epoch as u64))?;
        for epoch in &self.epochs {
            epoch.write_to(&mut events)?;
        }
        Ok(events.path().to_owned())
    }

    /// Draws loss, accuracy and speed against the epochs, as SVG. `dahl plot` does the same with a file that
    /// [`to_csv`](Self::to_csv) has written.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn plot_svg(&self, path: impl AsRef<Path>) -> dahl::Result<()> {
        LearningCurves::from(self).to_svg(path)
    }
}

/// The cell of an accuracy: empty if it was not counted.
fn counted(accuracy: f64) -> String {
    if accuracy.is_nan() { String::new() } else { accuracy.to_string() }
}

fn save(path: &Path, text: String) -> dahl::Result<()> {
    dahl_files::save(path, text).map_err(|error| Error::Io { path: path.to_owned(), error }.into())
}
