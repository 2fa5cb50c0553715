//! [`cluster`]: runs a program on the ranks of a simulated cluster, which are threads of this process.
//!
//! # Virtual time
//!
//! Each rank is a simulated machine with a clock of its own: the ends of its tasks are its events. What the network does is an
//! event of the rank that it concerns: a message has left, or has arrived. One [`Timeline`] orders the events of all ranks.
//! A rank whose thread has nothing to do before its next event says when that is, and waits. When all ranks wait, the
//! earliest event of all happens, on the thread of its rank, and no other rank runs meanwhile. So:
//!
//! * no rank goes past a message that could still come: whoever could send it waits too, and its next event is not earlier;
//! * a run is the same every time. What ranks do side by side, before they all wait for the first time, they do at time 0, and
//!   the messages that they send then are put in the order of their times, their senders, and each sender's own order.
//!
//! Events of one time happen in the order: those of the network as they were made, then those of the ranks by number.
//!
//! A rank whose thread waits for another by other means than this module's keeps all from going on.
//!
//! Messages by which ranks compare their programs arrive after the latency and use no port: they are checks, not data.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use dahl_core::ranks::{Destination, Message, Payload, Tag, Transport, Turn, Turns, deliver};
use dahl_core::{Cluster, Machine, NetworkLevel, Result, Runtime, RuntimeBuilder};

use crate::launcher::{RankFailed, as_rank};
use crate::ports::Ports;

/// Runs `program` on each rank of the [cluster](dahl_core::Cluster) that `machine` describes, in virtual time, and returns what
/// each of them returns. A machine without a cluster is one rank. `builder` configures the runtime of each rank.
///
/// Kernels really run, on one thread at a time. Their durations, and those of messages, are those of the description, so
/// two runs take the same virtual time to the nanosecond.
///
/// ```
/// use dahl_core::{Machine, Runtime};
///
/// let machine = Machine::from_toml(
///     "cluster = { ranks = 64, level = [{ latency_us = 1.5, gbytes_per_s = 12.5 }] }",
/// )?;
/// let builder = || Runtime::builder().cpu_workers(4);
/// let sums = dahl_ranks::cluster(&machine, builder, |rt| {
///     let x = rt.from_vec([2], vec![1.0_f32, 2.0])?;
///     Ok(x.read()?.sum())
/// });
/// assert_eq!(sums.map(|sums| sums.len()), Ok(64));
/// # dahl_core::Result::Ok(())
/// ```
///
/// # Errors
/// The first rank whose program returned an error or panicked, or whose tasks failed. The others end with its cause.
pub fn cluster<R: Send>(
    machine: &Machine,
    builder: impl Fn() -> RuntimeBuilder + Sync,
    program: impl Fn(&Runtime) -> Result<R> + Sync,
) -> std::result::Result<Vec<R>, RankFailed> {
    let builder = || builder().virtual_machine(machine.clone());
    let alone = || Cluster {
        ranks: 1,
        levels: vec![NetworkLevel { ranks: None, latency_us: 0.0, gbytes_per_s: 1.0 }],
    };
    let description = &machine.cluster.clone().unwrap_or_else(alone);
    let timeline = Arc::new(Timeline::new(description));
    let run = |rank: usize| {
        let transport = Arc::new(SimulatedNetwork { rank, timeline: Arc::clone(&timeline) });
        let result = as_rank(transport, builder, &program, |cause| timeline.fail(rank, cause));
        timeline.end(rank);
        result
    };
    let results: Vec<Option<R>> = thread::scope(|scope| {
        let run = &run;
        let started: Vec<_> = (0..description.ranks).map(|rank| scope.spawn(move || run(rank))).collect();
        // `run` returns in any case.
        started.into_iter().map(|rank| rank.join().ok().flatten()).collect()
    });
    let failure = timeline.lock().failure.take();
    match failure {
        Some(failed) => Err(failed),
        None => Ok(results.into_iter().flatten().collect()),
    }
}

/// Runs `program` on the [`cluster`] that the file which `DAHL_MACHINE` names describes; without that setting, as the only rank of
/// a runtime that `builder` configures.
///
/// # Errors
/// As [`cluster`]. If the file is no description of a machine, rank 0 fails.
pub fn run<R: Send>(
    builder: impl Fn() -> RuntimeBuilder + Sync,
    program: impl Fn(&Runtime) -> Result<R> + Sync,
) -> std::result::Result<Vec<R>, RankFailed> {
    let Some(path) = std::env::var_os("DAHL_MACHINE").filter(|path| !path.is_empty()) else {
        return crate::threads(1, 0, builder, program);
    };
    match Machine::from_file(path) {
        Ok(machine) => cluster(&machine, builder, program),
        Err(error) => Err(RankFailed { rank: 0, cause: error.to_string() }),
    }
}

/// The network as a simulated rank sees it.
struct SimulatedNetwork {
    rank: usize,
    timeline: Arc<Timeline>,
}

impl Transport for SimulatedNetwork {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.timeline.wakes.len()
    }

    fn send(&self, to: usize, tag: Tag, message: Message) {
        self.send_at(to, tag, message, 0);
    }

    fn send_at(&self, to: usize, tag: Tag, message: Message, there_ns: u64) {
        self.timeline.lock().ranks[self.rank].outbox.push(Outgoing { to, tag, message, there_ns });
    }

    fn receive(&self, from: usize, tag: Tag, destination: Box<dyn Destination>) {
        let mut state = self.timeline.lock();
        let State { ranks, failure, .. } = &mut *state;
        let own = &mut ranks[self.rank];
        let told = failure.as_ref().filter(|_| own.knows_of_failure);
        let message = match (own.arrived.remove(&(from, tag)), told) {
            (Some(message), _) => message,
            (None, Some(failed)) => Err(failed.to_string()),
            (None, None) => return drop(own.expected.insert((from, tag), destination)),
        };
        drop(state);
        deliver(message.as_deref().map_err(String::clone), destination);
    }

    fn turns(&self) -> Option<&dyn Turns> {
        Some(self)
    }
}

impl Turns for SimulatedNetwork {
    fn next(&self, now_ns: u64, own_ns: Option<u64>) -> Turn {
        self.timeline.next(self.rank, now_ns, own_ns)
    }
}

type Bytes = std::result::Result<Vec<u8>, String>;

/// What a rank sends, until all ranks wait.
struct Outgoing {
    to: usize,
    tag: Tag,
    message: Message,
    /// When its bytes are in main memory.
    there_ns: u64,
}

/// What the thread of a rank does.
enum Doing {
    /// It runs.
    Runs,
    /// It waits for its turn; its own next event is at this time.
    Waits(Option<u64>),
    /// It has its turn, and has not seen that yet.
    Has(Turn),
    /// Its program has ended.
    Ended,
}

struct Rank {
    doing: Doing,
    /// The time of its last event.
    now_ns: u64,
    outbox: Vec<Outgoing>,
    /// Messages that nobody has asked for yet.
    arrived: HashMap<(usize, Tag), Bytes>,
    expected: HashMap<(usize, Tag), Box<dyn Destination>>,
    knows_of_failure: bool,
}

/// What the network does on a rank.
enum Happening {
    /// A message has left: the elements may change again.
    Left(Payload),
    Arrives(usize, Tag, Bytes),
}

struct State {
    ranks: Vec<Rank>,
    ports: Ports,
    /// The events of the network: time, number, rank.
    events: BinaryHeap<Reverse<(u64, u64, usize)>>,
    happenings: HashMap<u64, Happening>,
    made: u64,
    /// The first failure of a rank; of those at one time, that of the first rank.
    failure: Option<RankFailed>,
}

/// The events of all ranks, in the order of their time.
struct Timeline {
    state: Mutex<State>,
    /// Of each rank: wakes its thread, which waits for its turn.
    wakes: Vec<Condvar>,
}

impl Timeline {
    fn new(cluster: &Cluster) -> Self {
        let rank = |_| Rank {
            doing: Doing::Runs,
            now_ns: 0,
            outbox: Vec::new(),
            arrived: HashMap::new(),
            expected: HashMap::new(),
            knows_of_failure: false,
        };
        let state = State {
            ranks: (0..cluster.ranks).map(rank).collect(),
            ports: Ports::new(cluster),
            events: BinaryHeap::new(),
            happenings: HashMap::new(),
            made: 0,
            failure: None,
        };
        let wakes = (0..cluster.ranks).map(|_| Condvar::new()).collect();
        Self { state: Mutex::new(state), wakes }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next event of a rank.
    fn next(self: &Arc<Self>, rank: usize, now_ns: u64, own_ns: Option<u64>) -> Turn {
        let mut state = self.lock();
        state.ranks[rank].now_ns = now_ns;
        state.ranks[rank].doing = Doing::Waits(own_ns);
        self.go_on(&mut state);
        loop {
            match std::mem::replace(&mut state.ranks[rank].doing, Doing::Runs) {
                Doing::Has(turn) => return turn,
                doing => state.ranks[rank].doing = doing,
            }
            state = self.wakes[rank].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A rank's program has ended: nothing waits for it.
    fn end(self: &Arc<Self>, rank: usize) {
        let mut state = self.lock();
        state.ranks[rank].doing = Doing::Ended;
        self.go_on(&mut state);
    }

    /// A rank has failed. All ranks hear of it when they all wait.
    fn fail(&self, rank: usize, cause: &str) {
        let mut state = self.lock();
        let is_earlier = |failed: &RankFailed| {
            (state.ranks[rank].now_ns, rank) < (state.ranks[failed.rank].now_ns, failed.rank)
        };
        let is_known = state.ranks.iter().any(|rank| rank.knows_of_failure);
        if state.failure.as_ref().is_none_or(|failed| !is_known && is_earlier(failed)) {
            state.failure = Some(RankFailed { rank, cause: cause.to_owned() });
        }
    }

    /// Gives a rank its turn, if all wait.
    fn go_on(self: &Arc<Self>, state: &mut State) {
        if state.ranks.iter().any(|rank| matches!(rank.doing, Doing::Runs | Doing::Has(_))) {
            return;
        }
        state.post();
        let given = match state.next_of_failure(self) {
            Some((rank, turn)) => vec![(rank, turn)],
            None => state.next_of_all(self),
        };
        for (rank, turn) in given {
            let own = &mut state.ranks[rank];
            own.now_ns = match (&turn, &own.doing) {
                (Turn::Network { time_ns, .. }, _) => *time_ns,
                (Turn::Own, Doing::Waits(Some(own_ns))) => *own_ns,
                _ => own.now_ns,
            };
            state.ranks[rank].doing = Doing::Has(turn);
            self.wakes[rank].notify_one();
        }
    }
}

impl State {
    /// Sends what ranks have sent since all waited the last time, in the order of time.
    fn post(&mut self) {
        let mut sent = Vec::new();
        for (from, rank) in self.ranks.iter_mut().enumerate() {
            let now_ns = rank.now_ns;
            sent.extend(
                rank.outbox.drain(..).map(|outgoing| (now_ns.max(outgoing.there_ns), from, outgoing)),
            );
        }
        sent.sort_by_key(|(now_ns, from, _)| (*now_ns, *from));
        for (now_ns, from, Outgoing { to, tag, message, .. }) in sent {
            let bytes = message.as_ref().map(|payload| (**payload).as_ref().to_vec());
            let bytes = bytes.map_err(String::clone);
            let is_data = matches!(tag, Tag::Value { .. });
            let len = bytes.as_ref().map_or(0, Vec::len);
            let (left_ns, arrives_ns) = if is_data {
                let passage = self.ports.send(from, to, len, now_ns);
                (passage.left_ns, passage.arrives_ns)
            } else {
                (now_ns, now_ns + self.ports.latency_ns(from, to))
            };
            if let Ok(payload) = message {
                self.add(left_ns, from, Happening::Left(payload));
            }
            self.add(arrives_ns, to, Happening::Arrives(from, tag, bytes));
        }
    }

    fn add(&mut self, time_ns: u64, rank: usize, happening: Happening) {
        self.events.push(Reverse((time_ns, self.made, rank)));
        self.happenings.insert(self.made, happening);
        self.made += 1;
    }

    /// The turn of a rank that has not heard of the failure yet: what it expects does not come.
    fn next_of_failure(&mut self, timeline: &Arc<Timeline>) -> Option<(usize, Turn)> {
        self.failure.as_ref()?;
        let has_to_hear = |rank: &Rank| !rank.knows_of_failure && matches!(rank.doing, Doing::Waits(_));
        let rank = self.ranks.iter().position(has_to_hear)?;
        self.ranks[rank].knows_of_failure = true;
        let timeline = Arc::clone(timeline);
        let event = move || {
            let mut state = timeline.lock();
            let cause = state.failure.as_ref().map(RankFailed::to_string).unwrap_or_default();
            let mut expected: Vec<_> = state.ranks[rank].expected.drain().collect();
            drop(state);
            expected.sort_by_key(|(from_and_tag, _)| *from_and_tag);
            expected.into_iter().for_each(|(_, destination)| deliver(Err(cause.clone()), destination));
        };
        Some((rank, Turn::Network { time_ns: self.ranks[rank].now_ns, event: Box::new(event) }))
    }

    /// The turn of the rank with the earliest event; if there is none, all ranks that wait hear so.
    fn next_of_all(&mut self, timeline: &Arc<Timeline>) -> Vec<(usize, Turn)> {
        let of_rank = |(number, rank): (usize, &Rank)| match rank.doing {
            Doing::Waits(own_ns) => Some((own_ns?, number)),
            _ => None,
        };
        let own = self.ranks.iter().enumerate().filter_map(of_rank).min();
        while let Some(&Reverse((time_ns, number, rank))) = self.events.peek() {
            if own.is_some_and(|(own_ns, _)| own_ns < time_ns) {
                break;
            }
            self.events.pop();
            let happening = self.happenings.remove(&number).expect("each event is there once");
            if matches!(self.ranks[rank].doing, Doing::Ended) {
                continue;
            }
            let timeline = Arc::clone(timeline);
            let event = move || timeline.happens(rank, happening);
            return vec![(rank, Turn::Network { time_ns, event: Box::new(event) })];
        }
        match own {
            Some((_, rank)) => vec![(rank, Turn::Own)],
            None => {
                let waits = |rank: &usize| matches!(self.ranks[*rank].doing, Doing::Waits(_));
                (0..self.ranks.len()).filter(waits).map(|rank| (rank, Turn::Nothing)).collect()
            }
        }
    }
}

impl Timeline {
    /// What the network does on a rank, on that rank's thread.
    fn happens(&self, rank: usize, happening: Happening) {
        let (from, tag, bytes) = match happening {
            Happening::Left(payload) => return drop(payload),
            Happening::Arrives(from, tag, bytes) => (from, tag, bytes),
        };
        let mut state = self.lock();
        let own = &mut state.ranks[rank];
        match own.expected.remove(&(from, tag)) {
            Some(destination) => {
                drop(state);
                deliver(bytes.as_deref().map_err(String::clone), destination);
            }
            None => drop(own.arrived.insert((from, tag), bytes)),
        }
    }
}
