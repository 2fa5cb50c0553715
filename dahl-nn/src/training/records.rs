//! [`Records`]: the files of results that a trainer writes while it runs.

use std::path::PathBuf;

use super::history::History;
use super::tensorboard::TensorBoard;

/// A file of results.
#[derive(Clone, Debug)]
pub(super) enum Record {
    Csv(PathBuf),
    JsonLines(PathBuf),
    /// The folder of an event file.
    TensorBoard(PathBuf),
}

/// The files of a training. Those of text are written anew after each epoch, so an epoch is never in them twice.
#[derive(Debug)]
pub(super) struct Records {
    files: Vec<Record>,
    events: Vec<TensorBoard>,
}

impl Records {
    /// Begins, or goes on after the epochs of this history.
    pub(super) fn begin(files: Vec<Record>, history: &History) -> dahl::Result<Self> {
        let next = history.epochs.last().map_or(1, |epoch| epoch.epoch as u64 + 1);
        let mut events = Vec::new();
        for file in &files {
            if let Record::TensorBoard(folder) = file {
                events.push(TensorBoard::restart(folder, next)?);
            }
        }
        let records = Self { files, events };
        if !history.epochs.is_empty() {
            records.write_texts(history)?; // without the epochs after the checkpoint
        }
        Ok(records)
    }

    /// Writes the results of the last epoch.
    pub(super) fn write(&mut self, history: &History) -> dahl::Result<()> {
        self.write_texts(history)?;
        if let Some(epoch) = history.epochs.last() {
            for events in &mut self.events {
                epoch.write_to(events)?;
            }
        }
        Ok(())
    }

    fn write_texts(&self, history: &History) -> dahl::Result<()> {
        for file in &self.files {
            match file {
                Record::Csv(path) => history.to_csv(path)?,
                Record::JsonLines(path) => history.to_json_lines(path)?,
                Record::TensorBoard(_) => {}
            }
        }
        Ok(())
    }
}
