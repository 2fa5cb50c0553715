//! [`Communication`]: the thread of a rank that makes all calls to MPI. It matches what arrives with what is expected.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use dahl_core::ranks::{Destination, Message, Tag, deliver};
use dahl_ranks::RankFailed;

use crate::communicator::{self, Any, Communicator, Receiving, Sending};
use crate::discarded::Discarded;
use crate::header::{Header, Kind};
use crate::pulse::Pulse;
use crate::run::Run;
use crate::settings::Settings;

/// What the thread is told.
pub(crate) enum Event {
    /// This rank takes part in a run.
    Begins {
        run: u64,
        ranks: usize,
    },
    Send {
        to: usize,
        tag: Tag,
        message: Message,
    },
    Expected {
        from: usize,
        tag: Tag,
        destination: Box<dyn Destination>,
    },
    /// This rank's program has failed.
    Fails {
        cause: String,
    },
    /// Its runtime is no more. `done` hears when all ranks are so far, and the first failure.
    Ends {
        done: Sender<Option<RankFailed>>,
    },
    /// The process needs no messages any more. It waits for the others, but not for long if it panicked.
    Leaves {
        has_panicked: bool,
    },
}

/// A message that nobody has expected so far.
enum Arrived {
    Bytes(Result<Vec<u8>, String>),
    /// A large one, which the sender keeps until then.
    Large {
        len: usize,
        large: u64,
    },
}

/// The most bytes of a message that follow its header at once.
const SMALL: usize = 8192 - Header::LEN;
/// How often the thread looks in vain before it sleeps.
const LOOKS: u32 = 1000;
/// The longest sleep, after which it looks again.
const SLEEP: Duration = Duration::from_millis(1);

/// The state of the thread.
pub(crate) struct Communication {
    communicator: Communicator,
    settings: Settings,
    events: Receiver<Event>,
    /// The next header.
    next: Option<Any>,
    sending: Vec<Sending>,
    receiving: Vec<Receiving>,
    /// By run, sender and tag.
    arrived: HashMap<(u64, usize, Tag), Arrived>,
    /// Of the current run.
    expected: HashMap<(usize, Tag), Box<dyn Destination>>,
    /// The number of large messages to each rank.
    large: Vec<u64>,
    pulse: Pulse,
    run: Run,
    leaves: Option<Leaving>,
}

#[derive(Clone, Copy)]
struct Leaving {
    since: Instant,
    has_panicked: bool,
}

fn header_memory() -> Box<[u8]> {
    vec![0; Header::LEN + SMALL].into_boxed_slice()
}

impl Communication {
    pub(crate) fn new(communicator: Communicator, settings: Settings, events: Receiver<Event>) -> Self {
        let ranks = communicator.ranks();
        Self {
            next: Some(communicator.receive_any(header_memory())),
            sending: Vec::new(),
            receiving: Vec::new(),
            arrived: HashMap::new(),
            expected: HashMap::new(),
            large: vec![0; ranks],
            pulse: Pulse::new(communicator.rank(), ranks, settings.silence, Instant::now()),
            run: Run::new(communicator.rank(), ranks),
            leaves: None,
            communicator,
            settings,
            events,
        }
    }

    /// Serves this rank until all ranks leave.
    pub(crate) fn serve(mut self) {
        let mut looks = 0;
        loop {
            let mut is_idle = true;
            while let Ok(event) = self.events.try_recv() {
                is_idle = false;
                self.take(event);
            }
            while self.hear() {
                is_idle = false;
            }
            is_idle &= !self.progress();
            if self.settle() {
                break;
            }
            looks = if is_idle { looks + 1 } else { 0 };
            if looks % 64 == 0 {
                self.watch();
            }
            if looks > LOOKS {
                let doubled = (looks - LOOKS).min(5);
                self.watch();
                match self.events.recv_timeout(SLEEP / (1 << (5 - doubled))) {
                    Ok(event) => self.take(event),
                    Err(RecvTimeoutError::Timeout) => {}
                    // The process is about to leave, or it panicked while it began.
                    Err(RecvTimeoutError::Disconnected) => thread::sleep(SLEEP),
                }
            } else if looks > LOOKS / 10 {
                thread::yield_now();
            }
        }
        self.communicator.finalise(self.next);
    }

    /// Takes the next header. False if none has arrived.
    fn hear(&mut self) -> bool {
        let Some(next) = self.next.take() else { return false };
        match next.test() {
            Err(next) => {
                self.next = Some(next);
                false
            }
            Ok(communicator::Arrived { from, len, memory }) => {
                self.pulse.heard(from, Instant::now());
                self.take_header(from, &memory[..len]);
                self.next = Some(self.communicator.receive_any(memory));
                true
            }
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Begins { run, ranks } => {
                if let Some(failed) = self.run.begin(run, ranks) {
                    self.run_has_failed(failed);
                }
            }
            Event::Send { to, tag, message } => match message {
                Ok(payload) if (*payload).as_ref().len() > SMALL => {
                    let (len, large) = ((*payload).as_ref().len() as u64, self.large[to]);
                    self.large[to] += 1;
                    self.send(
                        to,
                        Header { kind: Kind::Program(tag), run: self.run.number(), len, large },
                        &[],
                    );
                    let tag = self.communicator.payload_tag(large);
                    let sending = self.communicator.send(to, tag, self.settings.chunk_bytes, payload);
                    self.sending.extend(sending.test());
                }
                Ok(payload) => self.send_text(to, Kind::Program(tag), (*payload).as_ref()),
                Err(reason) => self.send_text(to, Kind::NoValue(tag), reason.as_bytes()),
            },
            Event::Expected { from, tag, destination } => {
                let arrived = self.arrived.remove(&(self.run.number(), from, tag));
                match (arrived, self.run.failure()) {
                    (Some(Arrived::Bytes(bytes)), _) => {
                        deliver(bytes.as_ref().map(Vec::as_slice).map_err(String::clone), destination);
                    }
                    (Some(Arrived::Large { len, large }), _) => self.receive(from, len, large, destination),
                    (None, Some(failed)) => deliver(Err(failed.to_string()), destination),
                    (None, None) => drop(self.expected.insert((from, tag), destination)),
                }
            }
            // The first failure says why, on all ranks.
            Event::Fails { .. } if self.run.failure().is_some() => {}
            Event::Fails { cause } => {
                let own = self.communicator.rank();
                self.tell_others(Kind::Failed, &cause, None);
                self.run_has_failed(RankFailed { rank: own, cause });
            }
            Event::Ends { done } => {
                self.run.end_own(done);
                self.tell_others(Kind::Ended, "", None);
            }
            Event::Leaves { has_panicked } => {
                self.leaves = Some(Leaving { since: Instant::now(), has_panicked });
                self.tell_others(Kind::Leaves, "", None);
            }
        }
    }

    fn take_header(&mut self, from: usize, bytes: &[u8]) {
        let Some(Header { kind, run, len, large }) = Header::from_bytes(bytes) else {
            return self.end_all("a message of another program arrived on dahl's communicator");
        };
        let bytes = &bytes[Header::LEN..];
        let text = || String::from_utf8_lossy(bytes).into_owned();
        match kind {
            Kind::Program(tag) | Kind::NoValue(tag) => {
                let arrived = match kind {
                    Kind::NoValue(_) => Arrived::Bytes(Err(text())),
                    _ if len as usize > SMALL => Arrived::Large { len: len as usize, large },
                    _ => {
                        if run == self.run.number()
                            && let Some(destination) = self.expected.remove(&(from, tag))
                        {
                            return deliver(Ok(bytes), destination);
                        }
                        Arrived::Bytes(Ok(bytes.to_vec()))
                    }
                };
                self.take_message(run, from, tag, arrived);
            }
            Kind::Answers => {}
            Kind::Failed => {
                let failed = RankFailed { rank: from, cause: text() };
                if self.run.fails(run, failed.clone()) {
                    self.run_has_failed(failed);
                }
            }
            Kind::Silent => self.is_silent(large as usize, &text()),
            Kind::Ended => self.run.ended(run, from),
            Kind::Leaves => {
                if let Some(failed) = self.run.left(from) {
                    self.run_has_failed(failed);
                }
            }
        }
    }

    fn take_message(&mut self, run: u64, from: usize, tag: Tag, arrived: Arrived) {
        let is_over = run < self.run.number() || (run == self.run.number() && self.run.failure().is_some());
        let expected = (run == self.run.number()).then(|| self.expected.remove(&(from, tag))).flatten();
        match (arrived, expected) {
            (Arrived::Bytes(bytes), Some(destination)) => {
                deliver(bytes.as_ref().map(Vec::as_slice).map_err(String::clone), destination);
            }
            (Arrived::Large { len, large }, Some(destination)) => self.receive(from, len, large, destination),
            // So that the sender can end.
            (Arrived::Large { len, large }, None) if is_over => {
                self.receive(from, len, large, Box::new(Discarded::default()));
            }
            (arrived, None) => drop(self.arrived.insert((run, from, tag), arrived)),
        }
    }

    fn receive(&mut self, from: usize, len: usize, large: u64, destination: Box<dyn Destination>) {
        let (tag, chunk) = (self.communicator.payload_tag(large), self.settings.chunk_bytes);
        match self.communicator.receive(from, tag, chunk, len, destination) {
            Ok(receiving) => self.receiving.extend(receiving.test()),
            Err((destination, error)) => {
                destination.arrived(Err(error));
                self.receive(from, len, large, Box::new(Discarded::default()));
            }
        }
    }

    fn send(&mut self, to: usize, header: Header, bytes: &[u8]) {
        let message: Vec<u8> = [&header.to_bytes(), bytes].concat();
        let sending = self.communicator.send(to, 0, usize::MAX, Box::new(message));
        self.sending.extend(sending.test());
    }

    /// Sends a small message; of a longer text the first part.
    fn send_text(&mut self, to: usize, kind: Kind, bytes: &[u8]) {
        let bytes = &bytes[..bytes.len().min(SMALL)];
        self.send(to, Header { kind, run: self.run.number(), len: bytes.len() as u64, large: 0 }, bytes);
    }

    /// Tells it to all other ranks, except for one that does not answer.
    fn tell_others(&mut self, kind: Kind, text: &str, silent: Option<usize>) {
        let own = self.communicator.rank();
        let bytes = &text.as_bytes()[..text.len().min(SMALL)];
        let (run, len, large) = (self.run.number(), bytes.len() as u64, silent.unwrap_or(0) as u64);
        for rank in (0..self.communicator.ranks()).filter(|&rank| rank != own && Some(rank) != silent) {
            self.send(rank, Header { kind, run, len, large }, bytes);
        }
    }

    /// Whether any message has been sent or has arrived.
    fn progress(&mut self) -> bool {
        let before = self.sending.len() + self.receiving.len();
        let sending = std::mem::take(&mut self.sending);
        self.sending = sending.into_iter().filter_map(Sending::test).collect();
        let receiving = std::mem::take(&mut self.receiving);
        self.receiving = receiving.into_iter().filter_map(Receiving::test).collect();
        self.sending.len() + self.receiving.len() < before
    }

    /// Sends a sign of life if it is time, and says who gives none.
    fn watch(&mut self) {
        let now = Instant::now();
        if let Some(to) = self.pulse.beats(now).filter(|&to| !self.run.is_gone(to)) {
            self.send_text(to, Kind::Answers, &[]);
        }
        if let Some(rank) = self.pulse.silent(now).filter(|&rank| !self.run.is_gone(rank)) {
            let cause = format!("it has not answered for {:?}", self.settings.silence);
            self.tell_others(Kind::Silent, &cause, Some(rank));
            self.is_silent(rank, &cause);
        }
        if let Some(failed) = self.run.is_stuck(now, self.settings.silence) {
            self.end_all(&format!("{failed}; some ranks have not ended since"));
        }
    }

    fn is_silent(&mut self, rank: usize, cause: &str) {
        let failed = RankFailed { rank, cause: cause.to_owned() };
        self.run.is_silent(failed.clone());
        self.run_has_failed(failed);
    }

    /// What is expected does not come any more, and nobody needs what has come.
    fn run_has_failed(&mut self, failed: RankFailed) {
        let cause = self.run.fail(failed).to_string();
        for (_, destination) in self.expected.drain() {
            deliver(Err(cause.clone()), destination);
        }
        self.discard();
    }

    /// Receives the large messages of the run, or of earlier ones, so that the senders can end, and forgets the others.
    fn discard(&mut self) {
        let run = self.run.number();
        let over: Vec<_> = self.arrived.extract_if(|(of, ..), _| *of <= run).collect();
        for ((_, from, _), arrived) in over {
            if let Arrived::Large { len, large } = arrived {
                self.receive(from, len, large, Box::new(Discarded::default()));
            }
        }
    }

    /// Ends the run and the process's part where all ranks do. Returns whether all ranks have left.
    fn settle(&mut self) -> bool {
        if self.run.all_ended() {
            self.discard();
            // Of the questions for the time, the next ones are expected.
            self.expected.clear();
            if self.sending.is_empty() && self.receiving.is_empty() {
                self.run.conclude();
            }
        }
        let Some(Leaving { since, has_panicked }) = self.leaves else { return false };
        if let Some(failed) = self.run.silent() {
            // MPI cannot be finalised without it.
            let is_late = since.elapsed() > self.settings.silence;
            if self.run.all_left() || is_late {
                let text = failed.to_string();
                self.end_all(&text);
            }
            return false;
        }
        if self.run.all_left() {
            return self.sending.is_empty() && self.receiving.is_empty();
        }
        if has_panicked && since.elapsed() > self.settings.silence {
            self.end_all("its process panicked, and others have not ended");
        }
        false
    }

    /// Ends all ranks.
    fn end_all(&self, cause: &str) {
        eprintln!("dahl: rank {} ends all ranks: {cause}", self.communicator.rank());
        self.communicator.abort();
    }
}
