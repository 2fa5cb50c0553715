//! [`Submission`]: what a task says, copied before it is submitted.

use super::builder::Task;
use crate::error::Result;

/// The extents of a task's accesses, `SCRATCH` among them, and its encoded arguments.
#[derive(Clone, Debug)]
pub struct Submission {
    /// In the order of the declaration.
    pub extents: Vec<Vec<usize>>,
    /// One after the other.
    pub arguments: Vec<u8>,
}

impl Task<'_> {
    /// What the runtime would get. The task is not submitted.
    ///
    /// # Errors
    /// As for [`submit`](Task::submit), as far as they are known now.
    pub(crate) fn submission(mut self) -> Result<Submission> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let (_, record) = self.target.expect("a codelet has an array");
        let extents = record.accesses().map(|access| access.body().layout.extents().to_vec()).collect();
        Ok(Submission { extents, arguments: record.body().arguments.clone() })
    }
}
