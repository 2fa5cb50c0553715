//! [`Network`]: a transport between threads of one process, which delays and reorders messages.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use dahl_core::ranks::{Destination, Message, Tag, Transport, deliver};

type Bytes = Result<Vec<u8>, String>;

/// What the communication thread of a rank is told.
enum Event {
    Message(usize, Tag, Bytes),
    Expected(usize, Tag, Box<dyn Destination>),
    /// A rank has failed.
    Failed(String),
    /// All ranks have ended.
    Stop,
}

/// The network as a rank sees it.
pub(crate) struct Network {
    rank: usize,
    inboxes: Arc<[Mutex<Sender<Event>>]>,
}

impl Network {
    /// The networks of `ranks` ranks, and the inbox of each.
    pub(crate) fn new(ranks: usize) -> Vec<(Arc<Self>, Inbox)> {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..ranks).map(|_| channel()).unzip();
        let inboxes: Arc<[_]> = senders.into_iter().map(Mutex::new).collect();
        let receivers = receivers.into_iter().enumerate();
        let of_rank =
            |(rank, events)| (Arc::new(Self { rank, inboxes: Arc::clone(&inboxes) }), Inbox(events));
        receivers.map(of_rank).collect()
    }

    fn tell(&self, rank: usize, event: Event) {
        let inbox = self.inboxes[rank].lock().unwrap_or_else(PoisonError::into_inner);
        // A rank whose thread has ended needs nothing any more: all ranks have ended.
        let _ = inbox.send(event);
    }

    /// Tells all ranks that this one has failed.
    pub(crate) fn fail(&self, cause: &str) {
        let cause = format!("rank {} failed: {cause}", self.rank);
        (0..self.inboxes.len()).for_each(|rank| self.tell(rank, Event::Failed(cause.clone())));
    }

    /// Ends this rank's communication thread.
    pub(crate) fn stop(&self) {
        self.tell(self.rank, Event::Stop);
    }
}

impl Transport for Network {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.inboxes.len()
    }

    fn send(&self, to: usize, tag: Tag, message: Message) {
        let bytes = message.map(|payload| (*payload).as_ref().to_vec());
        self.tell(to, Event::Message(self.rank, tag, bytes));
    }

    fn receive(&self, from: usize, tag: Tag, destination: Box<dyn Destination>) {
        self.tell(self.rank, Event::Expected(from, tag, destination));
    }
}

fn as_slice(bytes: &Bytes) -> Result<&[u8], String> {
    bytes.as_ref().map(Vec::as_slice).map_err(String::clone)
}

/// The events of a rank.
pub(crate) struct Inbox(Receiver<Event>);

impl Inbox {
    /// Matches messages with those who expect them, until all ranks have ended. A message is under way for as many
    /// events as `random` says, or until there is no event.
    pub(crate) fn serve(&self, mut random: fastrand::Rng) {
        let mut under_way: Vec<(usize, Tag, Bytes)> = Vec::new();
        let mut arrived: HashMap<(usize, Tag), Bytes> = HashMap::new();
        let mut expected: HashMap<(usize, Tag), Box<dyn Destination>> = HashMap::new();
        let mut failure: Option<String> = None;
        loop {
            let event = if under_way.is_empty() { self.0.recv().ok() } else { self.0.try_recv().ok() };
            let is_idle = event.is_none();
            match event {
                Some(Event::Message(from, tag, bytes)) => under_way.push((from, tag, bytes)),
                Some(Event::Expected(from, tag, destination)) => {
                    match (arrived.remove(&(from, tag)), &failure) {
                        (Some(bytes), _) => deliver(as_slice(&bytes), destination),
                        (None, Some(cause)) => deliver(Err(cause.clone()), destination),
                        (None, None) => drop(expected.insert((from, tag), destination)),
                    }
                }
                Some(Event::Failed(cause)) => {
                    let cause = failure.get_or_insert(cause);
                    expected.drain().for_each(|(_, destination)| deliver(Err(cause.clone()), destination));
                }
                Some(Event::Stop) => return,
                None if under_way.is_empty() => return,
                None => {}
            }
            if !under_way.is_empty() && (is_idle || random.bool()) {
                let (from, tag, bytes) = under_way.swap_remove(random.usize(..under_way.len()));
                match expected.remove(&(from, tag)) {
                    Some(destination) => deliver(as_slice(&bytes), destination),
                    None => drop(arrived.insert((from, tag), bytes)),
                }
            }
        }
    }
}
