//! [`Mpi`]: this process as one of the ranks that `mpirun` has started.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};

use dahl_core::ranks::{Destination, Message, Tag, Transport};
use dahl_core::{Result, Runtime, RuntimeBuilder};
use dahl_ranks::{RankFailed, as_rank, panic_message};

use crate::communication::{Communication, Event};
use crate::communicator::Communicator;
use crate::settings::Settings;

/// Why this process is not a rank.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotInitialised(String);

/// This process as a rank. Dropping it waits until all ranks drop theirs, and finalises MPI.
///
/// A process that ends without dropping it, by `std::process::exit` or a signal, makes `mpirun` end all others.
#[derive(Debug)]
pub struct Mpi {
    rank: usize,
    ranks: usize,
    /// The number of runs so far.
    runs: Cell<u64>,
    events: Sender<Event>,
    thread: Option<JoinHandle<()>>,
}

/// Makes this process one of the ranks that `mpirun` has started, with the default [`Settings`]. Every rank calls it.
///
/// # Errors
/// As [`Settings::init`].
pub fn init() -> std::result::Result<Mpi, NotInitialised> {
    Settings::default().init()
}

impl Mpi {
    pub(crate) fn new(settings: Settings) -> std::result::Result<Self, NotInitialised> {
        let (events, receiver) = channel();
        let (tell, told) = channel();
        let serve = move || match Communicator::new() {
            Ok(communicator) => {
                // Who waits for it is there.
                let _ = tell.send(Ok((communicator.rank(), communicator.ranks())));
                Communication::new(communicator, settings, receiver).serve();
            }
            Err(error) => drop(tell.send(Err(error))),
        };
        let failed = |error: String| NotInitialised(error);
        let thread = thread::Builder::new().name("dahl-mpi".to_owned()).spawn(serve);
        let thread = thread.map_err(|error| failed(format!("no thread for messages: {error}")))?;
        let ranks = told.recv().unwrap_or_else(|_| Err("the thread for messages panicked".to_owned()));
        let (rank, ranks) = ranks.map_err(failed)?;
        Ok(Self { rank, ranks, runs: Cell::new(0), events, thread: Some(thread) })
    }

    /// This rank, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Runs `program` on all ranks, each with a runtime that `builder` configures, and returns what it returns on this
    /// one. At the end each rank waits for all of its tasks, and for the others. Every rank makes this call.
    ///
    /// # Errors
    /// The first rank whose program returned an error or panicked, or whose tasks failed, on all ranks.
    pub fn run<R>(
        &self,
        builder: RuntimeBuilder,
        program: impl FnOnce(&Runtime) -> Result<R>,
    ) -> std::result::Result<R, RankFailed> {
        self.run_on(self.ranks, builder, program).map(|result| result.expect("this rank is one of them"))
    }

    /// Runs `program` on the first `ranks` ranks only, as [`run`](Self::run) does; the others return `None` at once. Every
    /// rank makes this call.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    ///
    /// # Panics
    /// If there are fewer ranks, or `ranks` is 0.
    pub fn run_on<R>(
        &self,
        ranks: usize,
        builder: RuntimeBuilder,
        program: impl FnOnce(&Runtime) -> Result<R>,
    ) -> std::result::Result<Option<R>, RankFailed> {
        self.exchange(ranks, |transport| {
            let mut cause = String::new();
            let result = as_rank(
                transport,
                || builder,
                program,
                |text| {
                    // The others hear of it before the runtime waits for its last tasks.
                    self.tell(Event::Fails { cause: text.to_owned() });
                    text.clone_into(&mut cause);
                },
            );
            result.ok_or(cause)
        })
    }

    /// Gives `part` the messages of the first `ranks` ranks, without a runtime: for what only exchanges messages. Else as
    /// [`run_on`](Self::run_on).
    ///
    /// # Errors
    /// The first rank that has failed; the error of `part` is the cause.
    ///
    /// # Panics
    /// As [`run_on`](Self::run_on). A panic of `part` continues here, after the other ranks have ended with its message.
    pub fn exchange<R>(
        &self,
        ranks: usize,
        part: impl FnOnce(Arc<dyn Transport>) -> std::result::Result<R, String>,
    ) -> std::result::Result<Option<R>, RankFailed> {
        assert!(
            (1..=self.ranks).contains(&ranks),
            "a program runs on 1 to {} ranks, not {ranks}",
            self.ranks
        );
        self.runs.set(self.runs.get() + 1);
        self.tell(Event::Begins { run: self.runs.get(), ranks });
        if self.rank >= ranks {
            return Ok(None);
        }
        let network = Arc::new(Network { rank: self.rank, ranks, events: self.events.clone() });
        let result = catch_unwind(AssertUnwindSafe(|| part(network)));
        let cause = match &result {
            Ok(Ok(_)) => None,
            Ok(Err(cause)) => Some(cause.clone()),
            Err(panic) => Some(panic_message(&**panic)),
        };
        if let Some(cause) = cause {
            self.tell(Event::Fails { cause });
        }
        let (done, ended) = channel();
        self.tell(Event::Ends { done });
        let failed = ended.recv().unwrap_or_else(|_| {
            Some(RankFailed { rank: self.rank, cause: "the thread for messages panicked".to_owned() })
        });
        let result = result.unwrap_or_else(|panic| resume_unwind(panic));
        failed.map_or_else(|| Ok(result.ok()), Err)
    }

    fn tell(&self, event: Event) {
        // If its thread has panicked, what waits for messages hears of it, since what it held is dropped.
        let _ = self.events.send(event);
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        self.tell(Event::Leaves { has_panicked: thread::panicking() });
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The ranks of a run.
struct Network {
    rank: usize,
    ranks: usize,
    events: Sender<Event>,
}

impl Transport for Network {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn send(&self, to: usize, tag: Tag, message: Message) {
        let _ = self.events.send(Event::Send { to, tag, message });
    }

    fn receive(&self, from: usize, tag: Tag, destination: Box<dyn Destination>) {
        let _ = self.events.send(Event::Expected { from, tag, destination });
    }
}
