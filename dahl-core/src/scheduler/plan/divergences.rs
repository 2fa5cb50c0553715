//! [`PlanDivergences`]: the differences between a plan and the run that follows it.

use std::path::{Path, PathBuf};

use crate::sync::{Mutex, MutexGuard};

/// The most divergences that are printed and kept.
const SHOWN: usize = 8;

/// The divergences of a run from its plan. Each is printed once; if there are many, only the first ones.
#[derive(Debug)]
pub(crate) struct PlanDivergences {
    path: PathBuf,
    noted: Mutex<Noted>,
}

#[derive(Debug, Default)]
struct Noted {
    texts: Vec<String>,
    count: usize,
}

impl PlanDivergences {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), noted: Mutex::default() }
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// Records one: the line of the plan, if any, and a description.
    pub(super) fn note(&self, line: Option<usize>, fact: &str) {
        let mut noted = self.noted();
        noted.count += 1;
        if noted.count > SHOWN {
            if noted.count == SHOWN + 1 {
                eprintln!("dahl: {}: there are more differences from the plan", self.path.display());
            }
            return;
        }
        let line = line.map(|line| format!("line {line}: ")).unwrap_or_default();
        let text = format!("{}: {line}{fact}", self.path.display());
        eprintln!("dahl: {text}");
        noted.texts.push(text);
    }

    /// The first ones.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.noted().texts.clone()
    }
}
