//! [`Tag`]: a dependency between tasks that share no array.

use std::fmt;

use crate::array::Array;
use crate::error::Result;

/// A tag that a task gets with [`Task::tag`](crate::Task::tag), and that others wait for with
/// [`Task::after`](crate::Task::after).
///
/// A tag only orders tasks: a task runs even if the one that it comes after failed. The tag belongs to the task that
/// got it last; giving it to another one waits for the tasks that come after the first.
///
/// ```ignore
/// let mut written = rt.tag()?;
/// WriteFile::task(&x, path).tag(&mut written).submit()?;
/// ReadFile::task(path, &mut y).after(&written).submit()?;
/// ```
pub struct Tag {
    array: Array<'static, u8, 1>,
}

impl Tag {
    /// The tag with the array `array`, which has no elements.
    pub(crate) fn new(array: Array<'static, u8, 1>) -> Self {
        Self { array }
    }

    pub(super) fn array(&self) -> &Array<'static, u8, 1> {
        &self.array
    }

    /// Waits for the task that has the tag.
    ///
    /// # Errors
    /// If that task failed; or inside a kernel.
    #[track_caller]
    pub fn wait(&self) -> Result<()> {
        self.array.read().map(drop)
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tag")
    }
}
