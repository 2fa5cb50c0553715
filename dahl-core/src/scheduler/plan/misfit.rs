//! [`Misfits`]: where a plan and the run that should follow it differ.

use std::path::{Path, PathBuf};

use crate::sync::{Mutex, MutexGuard};

/// Misfits that are printed and kept, at most.
const SHOWN: usize = 8;

/// Where a plan and the run that should follow it differ. Each is printed once; of many, the first ones.
#[derive(Debug)]
pub(crate) struct Misfits {
    path: PathBuf,
    found: Mutex<Found>,
}

#[derive(Debug, Default)]
struct Found {
    texts: Vec<String>,
    count: usize,
}

impl Misfits {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), found: Mutex::default() }
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// Notes one: the line of the plan, if there is one, and what is wrong.
    pub(super) fn note(&self, line: Option<usize>, fact: &str) {
        let mut found = self.found();
        found.count += 1;
        if found.count > SHOWN {
            if found.count == SHOWN + 1 {
                eprintln!("dahl: {}: there are more differences from the plan", self.path.display());
            }
            return;
        }
        let line = line.map(|line| format!("line {line}: ")).unwrap_or_default();
        let text = format!("{}: {line}{fact}", self.path.display());
        eprintln!("dahl: {text}");
        found.texts.push(text);
    }

    /// The first ones.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.found().texts.clone()
    }
}
