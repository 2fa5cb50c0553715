//! [`unchecked`]: the runtime of a study.

use dahl::{Runtime, RuntimeBuilder};

/// A runtime without checked mode, in every build: checks take time.
pub(crate) fn unchecked() -> RuntimeBuilder {
    Runtime::builder().check(false)
}
