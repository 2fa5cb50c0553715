//! [`Note`]: what a rank keeps of a submission until the ranks have compared it.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::Location;

/// Something that the program did: a hash of all that must be the same on all ranks, and what errors say of it. It is small, since
/// there is one for each task of all ranks.
#[derive(Debug)]
pub(crate) struct Note {
    pub(super) hash: u64,
    what: What,
}

#[derive(Debug)]
enum What {
    Task { codelet: &'static str, location: &'static Location<'static> },
    Call(Box<str>),
}

impl Note {
    /// A task. `details` adds to the hash its arrays, shapes, arguments and the like.
    pub(crate) fn task(
        codelet: &'static str,
        location: &'static Location<'static>,
        details: impl FnOnce(&mut DefaultHasher),
    ) -> Self {
        // Without random keys: equal in all processes of one build.
        let mut hasher = DefaultHasher::new();
        (codelet, location).hash(&mut hasher);
        details(&mut hasher);
        Self { hash: hasher.finish(), what: What::Task { codelet, location } }
    }

    /// A call of the host.
    pub(crate) fn call(line: String) -> Self {
        let mut hasher = DefaultHasher::new();
        line.hash(&mut hasher);
        Self { hash: hasher.finish(), what: What::Call(line.into_boxed_str()) }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::Task { codelet, location } => write!(f, "{codelet}, submitted at {location}"),
            What::Call(line) => f.write_str(line),
        }
    }
}
