//! [`Trace`]: the trace of a runtime, and the thread that writes it.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::file::TraceFile;
use super::recorder::Recorder;
use super::writer::{Stage, Writer};
use crate::scheduler::WorkerInfo;
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::thread::{Builder, JoinHandle};
use crate::sync::{Condvar, Mutex, MutexGuard};

/// How long what was noted waits until it is written.
const PERIOD: Duration = Duration::from_millis(20);
/// In virtual time: steps of the simulation after which what was noted is written.
const STEPS: u32 = 256;

/// The trace of a runtime.
#[derive(Debug)]
pub(crate) struct Trace {
    desk: Arc<Desk>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Steps of a simulation since something was written.
    steps: AtomicU32,
}

/// What the thread shares that writes.
#[derive(Debug)]
struct Desk {
    recorder: Arc<Recorder>,
    /// None once the file is at its end.
    writer: Mutex<Option<Writer>>,
    is_over: Mutex<bool>,
    over: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Trace {
    /// Writes what `recorder` notes to `file`.
    pub(crate) fn new(
        file: TraceFile,
        recorder: Arc<Recorder>,
        workers: &[WorkerInfo],
        nodes: &[String],
        scheduler: &str,
    ) -> Self {
        let is_virtual = recorder.clock().is_virtual();
        let writer = Writer::new(file, Stage { workers, nodes, scheduler, is_virtual });
        let desk = Desk {
            recorder,
            writer: Mutex::new(Some(writer)),
            is_over: Mutex::new(false),
            over: Condvar::new(),
        };
        Self { desk: Arc::new(desk), thread: Mutex::new(None), steps: AtomicU32::new(0) }
    }

    pub(crate) fn recorder(&self) -> &Recorder {
        &self.desk.recorder
    }

    /// Starts the thread that writes. In virtual time there is none.
    pub(crate) fn start(&self) -> std::io::Result<()> {
        if self.desk.recorder.clock().is_virtual() {
            return Ok(());
        }
        let desk = Arc::clone(&self.desk);
        let thread = Builder::new().name("dahl trace".to_owned()).spawn(move || desk.write_until_over())?;
        *lock(&self.thread) = Some(thread);
        Ok(())
    }

    /// A step of a simulation has been made.
    pub(crate) fn step(&self) {
        // Which thread writes, and exactly when, does not matter; that it happens now and then does.
        if self.steps.fetch_add(1, Ordering::Relaxed) + 1 >= STEPS {
            self.steps.store(0, Ordering::Relaxed);
            self.desk.write();
        }
    }

    /// Ends the file. What happens from now on is in no trace.
    pub(crate) fn finish(&self) {
        *lock(&self.desk.is_over) = true;
        self.desk.over.notify_all();
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            let _ = thread.join(); // should it have panicked, the file ends there
        }
        self.desk.finish();
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        self.finish();
    }
}

impl Desk {
    fn write_until_over(&self) {
        let mut is_over = lock(&self.is_over);
        while !*is_over {
            drop(is_over);
            self.write();
            is_over = lock(&self.is_over);
            if !*is_over {
                let waited = self.over.wait_timeout(is_over, PERIOD);
                is_over = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    fn write(&self) {
        if let Some(writer) = &mut *lock(&self.writer) {
            self.recorder.lanes.drain(|event| writer.take(event));
            writer.flush();
        }
    }

    fn finish(&self) {
        let Some(mut writer) = lock(&self.writer).take() else { return };
        self.recorder.turn_off();
        self.recorder.lanes.drain(|event| writer.take(event));
        writer.end(self.recorder.now_ns());
    }
}
