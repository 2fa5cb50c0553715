//! [`unchecked`]: the runtime of a study.

use dahl::{Runtime, RuntimeBuilder};

/// A runtime that does not check tasks, whatever the build is: checks take time of their own.
pub(crate) fn unchecked() -> RuntimeBuilder {
    Runtime::builder().check(false)
}
