//! [`Observer`]: a hook that is called for every submitted task.

mod submitted;

pub(crate) use submitted::Forecast;
pub use submitted::{Observer, Submission};

pub use crate::description::{AccessDesc, ArrayId, ArrayUse, TaskDesc};
pub use crate::submission::Replay;
