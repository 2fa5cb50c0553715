//! [`OwnedArray`]: an array whose type is not known, under a tape. Only `dahl-testing` uses it.

use std::fmt;
use std::panic::Location;

use super::gradient::Gradient;
use super::tape::Tape;
use crate::array::{Array, Shared};
use crate::element::{Element, ElementType};
use crate::error::Result;
use crate::submission::Task;

/// One more owner of an array that is no part of another one, without the array's type.
pub struct OwnedArray(Shared);

impl OwnedArray {
    /// The owner; none for a part of another array.
    pub fn of<T: Element, const N: usize>(array: &Array<'_, T, N>) -> Option<Self> {
        Shared::of(array.state()).map(Self)
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        *self.0.element()
    }

    /// Waits for the tasks that write the array, and copies its elements, in row-major order.
    ///
    /// # Errors
    /// As for [`Array::read`].
    ///
    /// # Panics
    /// If the elements are of another type.
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.0.share().into_array([self.0.len()]).to_vec()
    }

    /// Submits a task, which a tape remembers as one with this gradient.
    ///
    /// # Errors
    /// As for [`Task::submit`].
    pub fn remember(tape: &Tape<'_>, task: Task<'_>, gradient: &'static Gradient) -> Result<()> {
        tape.run(task, gradient)
    }

    /// The gradients by `wanted` of what depends on this array, whose own gradient is `gradient`; none by an array that this
    /// one does not depend on.
    ///
    /// # Errors
    /// As for [`Tape::gradients_from`].
    #[track_caller]
    pub fn gradients(&self, tape: &Tape<'_>, gradient: &Self, wanted: &[&Self]) -> Result<Vec<Option<Self>>> {
        let wanted: Vec<&Shared> = wanted.iter().map(|wanted| &wanted.0).collect();
        let found = tape.gradients_of_any(&self.0, &gradient.0, &wanted, Location::caller())?;
        Ok(found.into_iter().map(|found| found.map(Self)).collect())
    }
}

impl fmt::Debug for OwnedArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array of {} elements of {}", self.0.len(), self.element().name)
    }
}
