//! [`Trace`]: the trace of a runtime, and the thread that writes it.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::clock_probe::ClockProbe;
use super::file::TraceFile;
use super::recorder::Recorder;
use super::writer::{Stage, Writer};
use crate::machine::WorkerInfo;
use crate::ranks::Transport;
use crate::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use crate::sync::thread::{Builder, JoinHandle};
use crate::sync::{Condvar, Mutex, MutexGuard};

/// How long events are buffered before they are written.
const PERIOD: Duration = Duration::from_millis(20);
/// After how many periods the clock is compared with that of rank 0: about a second.
const PERIODS_OF_CLOCK: u64 = 50;
/// In virtual time: steps of the simulation after which events are written.
const STEPS: u32 = 256;

/// The trace of a runtime.
#[derive(Debug)]
pub(crate) struct Trace {
    desk: Arc<Desk>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Steps of a simulation since events were written.
    steps: AtomicU32,
    /// Workers that have not ended. In virtual time none has a thread, and none ends.
    present: AtomicUsize,
}

/// The state that is shared with the writing thread.
#[derive(Debug)]
struct Desk {
    recorder: Arc<Recorder>,
    /// Compares clocks, if there are several ranks.
    probe: Option<Arc<ClockProbe>>,
    /// None once the file has ended.
    writer: Mutex<Option<Writer>>,
    is_over: Mutex<bool>,
    over: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Trace {
    /// Writes the events of `recorder` to `file`.
    pub(crate) fn new(
        file: TraceFile,
        recorder: Arc<Recorder>,
        workers: &[WorkerInfo],
        nodes: &[String],
        scheduler: &str,
        transport: Option<&Arc<dyn Transport>>,
    ) -> Self {
        let is_virtual = recorder.clock().is_virtual();
        let ranks = transport.filter(|transport| transport.ranks() > 1);
        let rank = ranks.map(|transport| (transport.rank(), transport.ranks()));
        let writer = Writer::new(file, Stage { workers, nodes, scheduler, is_virtual, rank });
        let desk = Desk {
            probe: ranks.and_then(|ranks| ClockProbe::new(Arc::clone(ranks), Arc::clone(&recorder))),
            recorder,
            writer: Mutex::new(Some(writer)),
            is_over: Mutex::new(false),
            over: Condvar::new(),
        };
        let present = AtomicUsize::new(workers.len());
        Self { desk: Arc::new(desk), thread: Mutex::new(None), steps: AtomicU32::new(0), present }
    }

    /// Starts the writing thread. In virtual time there is none.
    pub(crate) fn start(&self) -> std::io::Result<()> {
        if self.desk.recorder.clock().is_virtual() {
            return Ok(());
        }
        let desk = Arc::clone(&self.desk);
        if let Some(probe) = &desk.probe {
            probe.answer();
            probe.begin_round();
        }
        let thread = Builder::new().name("dahl trace".to_owned()).spawn(move || desk.write_until_over())?;
        *lock(&self.thread) = Some(thread);
        Ok(())
    }

    /// Counts a step of a simulation.
    pub(crate) fn step(&self) {
        // Which thread writes, and exactly when, does not matter, as long as it happens periodically.
        if self.steps.fetch_add(1, Ordering::Relaxed) + 1 >= STEPS {
            self.steps.store(0, Ordering::Relaxed);
            self.desk.write();
        }
    }

    /// A worker ends. The last one ends the file.
    pub(crate) fn leave(&self) {
        if self.present.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.finish();
        }
    }

    /// Ends the file. Later events are in no trace.
    pub(crate) fn finish(&self) {
        let now_ns = self.desk.recorder.now_ns(); // the time to write the rest is no part of the run
        *lock(&self.desk.is_over) = true;
        self.desk.over.notify_all();
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            let _ = thread.join(); // should it have panicked, the file ends there
        }
        self.desk.finish(now_ns);
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
        for period in 1_u64.. {
            if *is_over {
                return;
            }
            drop(is_over);
            self.write();
            if let Some(probe) = self.probe.as_ref().filter(|_| period.is_multiple_of(PERIODS_OF_CLOCK)) {
                probe.begin_round();
            }
            is_over = lock(&self.is_over);
            if !*is_over {
                let waited = self.over.wait_timeout(is_over, PERIOD);
                is_over = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    fn write(&self) {
        let mut place = lock(&self.writer);
        let Some(mut writer) = place.take() else { return };
        let off = TurnOff(&self.recorder); // should it panic, nobody will write any more, and the file ends there
        self.recorder.lanes.drain(|event| writer.take(event));
        writer.flush();
        std::mem::forget(off);
        *place = Some(writer);
    }

    fn finish(&self, now_ns: u64) {
        let Some(mut writer) = lock(&self.writer).take() else { return };
        self.recorder.turn_off();
        self.recorder.lanes.drain(|event| writer.take(event));
        writer.end(now_ns);
    }
}

struct TurnOff<'a>(&'a Recorder);

impl Drop for TurnOff<'_> {
    fn drop(&mut self) {
        self.0.turn_off();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::path::PathBuf;

    use super::*;
    use crate::access::AccessMode;
    use crate::clock::Clock;
    use crate::description::ArrayId;
    use crate::memory::NotesBytes;
    use crate::trace::event::{Ordered, TraceEvent};
    use crate::trace::waiting::tests::{ended, task};

    const RW: (u64, AccessMode) = (1, AccessMode::RW);

    /// A trace that is written only on request, and its file.
    fn trace(name: &str) -> (Trace, PathBuf) {
        let path = std::env::temp_dir().join(format!("dahl-{name}-{}.json", std::process::id()));
        let file = TraceFile::from_settings(Some(path.clone()), None).expect("it can be written");
        let recorder = Arc::new(Recorder::new(Clock::start()));
        let workers: Vec<_> = (0..3).map(|worker| WorkerInfo::cpu(worker, None)).collect();
        let trace =
            Trace::new(file.expect("it is set"), recorder, &workers, &["main".to_owned()], "eager", None);
        (trace, path)
    }

    #[test]
    fn what_was_noted_when_the_writer_looks_is_in_the_file() {
        const TASKS: u64 = 9_000;
        let (trace, path) = trace("unwritten");
        let lanes = &trace.desk.recorder.lanes;
        // The lanes are emptied in the order of their threads: the last tasks first.
        for worker in (0..3).rev() {
            std::thread::scope(|threads| {
                let end = || {
                    (worker..TASKS).step_by(3).for_each(|sequence| {
                        lanes.push(TraceEvent::Ended(ended(sequence, Some(worker as usize))));
                    })
                };
                threads.spawn(end);
            });
        }
        for sequence in 0..TASKS {
            lanes.push(TraceEvent::Ordered(lanes.next_number(), Ordered::Task(task(sequence, &[RW]))));
        }
        trace.desk.write();
        assert_eq!(lock(&trace.desk.writer).as_ref().map(Writer::unwritten), Some(0));
        let text = fs::read_to_string(&path).expect("the trace"); // as it is if the program crashes now
        assert_eq!(text.matches("\"cat\":\"task\"").count() as u64, TASKS);
        drop(trace);
        fs::remove_file(path).expect("it is there");
    }

    #[test]
    fn nothing_is_noted_for_a_writer_that_has_panicked() {
        let (trace, path) = trace("panicked");
        let recorder = &trace.desk.recorder;
        recorder.lanes.push(TraceEvent::Ordered(recorder.lanes.next_number(), Ordered::Task(task(0, &[]))));
        recorder.lanes.push(TraceEvent::Ended(ended(0, Some(9)))); // there is no such worker
        assert!(catch_unwind(AssertUnwindSafe(|| trace.desk.write())).is_err());
        recorder.lanes.drain(drop);
        recorder.gone(ArrayId::new(1));
        recorder.reserved(0, 1);
        recorder.lanes.drain(|event| panic!("{event:?}"));
        drop(trace);
        fs::remove_file(path).expect("it is there");
    }
}
