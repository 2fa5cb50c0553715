//! [`Recording`]: the plan of a run, recorded as it runs.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dahl_files::Target;

use super::Plan;
use crate::observer::Submission;
use crate::scheduler::{Scheduler, Workers};
use crate::sync::{Mutex, MutexGuard};
use crate::task::ReadyTask;

/// The worker of each task, in the order in which they ended.
#[derive(Debug)]
pub(crate) struct Recording {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    workers: Vec<String>,
    running: Vec<(u64, &'static str)>,
    tasks: Vec<(u64, &'static str, usize)>,
}

/// A scheduler whose placement is recorded. It gives no tasks to the submitting thread, which is not a worker.
#[derive(Debug)]
pub(crate) struct Recorded {
    scheduler: Box<dyn Scheduler>,
    recording: Arc<Recording>,
}

impl Recording {
    /// A recording that will be written to a file.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        Target::find(path)?.try_out()?;
        // The program may change its working directory.
        Ok(Self { path: std::path::absolute(path)?, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// Writes the file.
    pub(crate) fn finish(&self) {
        let state = self.state();
        let text = Plan::to_text(&state.workers, &state.tasks);
        drop(state);
        if let Err(error) = dahl_files::save(&self.path, text) {
            eprintln!("dahl: the plan {} cannot be written: {error}", self.path.display());
        }
    }
}

impl Recorded {
    pub(crate) fn new(scheduler: Box<dyn Scheduler>, recording: Arc<Recording>) -> Self {
        Self { scheduler, recording }
    }
}

impl Scheduler for Recorded {
    fn name(&self) -> &'static str {
        self.scheduler.name()
    }

    fn start(&mut self, workers: &Workers) {
        self.recording.state().workers = workers.as_slice().iter().map(|info| info.name.clone()).collect();
        self.scheduler.start(workers);
    }

    fn submitted(&self, task: &Submission<'_>) {
        self.scheduler.submitted(task);
    }

    fn host_waits(&self) {
        self.scheduler.host_waits();
    }

    fn push(&self, task: ReadyTask, worker: Option<usize>) {
        self.scheduler.push(task, worker);
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        let task = self.scheduler.pop(Some(worker?))?;
        self.recording.state().running.push((task.sequence(), task.codelet()));
        Some(task)
    }

    fn completed(&self, sequence: u64, worker: Option<usize>) {
        let mut state = self.recording.state();
        if let Some(index) = state.running.iter().position(|&(running, _)| running == sequence) {
            let (_, codelet) = state.running.swap_remove(index);
            if let Some(worker) = worker {
                state.tasks.push((sequence, codelet, worker));
            }
        }
        drop(state);
        self.scheduler.completed(sequence, worker);
    }

    fn wakes_workers(&self) -> bool {
        self.scheduler.wakes_workers()
    }

    fn serves_any_worker(&self) -> bool {
        self.scheduler.serves_any_worker()
    }
}
