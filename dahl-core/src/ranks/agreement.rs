//! [`Agreement`]: whether the programs of all ranks do the same.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;
use std::panic::Location;
use std::sync::{Arc, OnceLock};

use super::awaited::{Awaited, Reason};
use super::transport::{Destination, Tag, Transport};
use crate::sleep::Monitor;

/// What the program did since the last meeting.
#[derive(Default)]
pub(super) struct Agreement {
    notes: Vec<Note>,
    meetings: u64,
}

/// Something that the program did: a hash of all that must be the same on all ranks, and what errors say of it. It is small, since
/// there is one for each task of all ranks.
#[derive(Debug)]
pub(crate) struct Note {
    hash: u64,
    what: What,
}

const _: () = assert!(size_of::<Note>() <= 40);

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

/// How the thread of the program waits, and what wakes it.
pub(crate) struct Waiting<'w> {
    /// Waits until a condition holds.
    pub(crate) until: &'w dyn Fn(&dyn Fn() -> bool),
    /// Is notified when the condition may hold.
    pub(crate) progress: &'w Arc<Monitor>,
}

type Message = OnceLock<Result<Vec<u8>, String>>;

/// A message that a thread waits for.
struct Expected {
    bytes: Vec<u8>,
    message: Arc<Message>,
    progress: Arc<Monitor>,
}

impl Destination for Expected {
    fn memory(&mut self, len: usize) -> Result<&mut [u8], String> {
        self.bytes.resize(len, 0);
        Ok(&mut self.bytes)
    }

    fn arrived(self: Box<Self>, result: Result<(), String>) {
        let Self { bytes, message, progress } = *self;
        // It arrives once.
        let _ = message.set(result.map(|()| bytes));
        progress.notify();
    }
}

/// Waits for a message.
fn receive(
    transport: &dyn Transport,
    from: usize,
    tag: Tag,
    waiting: &Waiting<'_>,
) -> Result<Vec<u8>, String> {
    let message: Arc<Message> = Arc::default();
    let progress = Arc::clone(waiting.progress);
    transport.receive(
        from,
        tag,
        Box::new(Expected { bytes: Vec::new(), message: Arc::clone(&message), progress }),
    );
    (waiting.until)(&|| message.get().is_some());
    message.get().cloned().expect("it was waited for")
}

impl Agreement {
    pub(super) fn note(&mut self, note: Note) {
        self.notes.push(note);
    }

    /// Compares with all other ranks, also after a difference: each of them waits for this rank.
    pub(super) fn meet(
        &mut self,
        transport: &dyn Transport,
        awaited: &Awaited,
        waiting: &Waiting<'_>,
    ) -> Result<(), String> {
        let (notes, meeting) = (mem::take(&mut self.notes), self.meetings);
        self.meetings += 1;
        let (own, tag) = (transport.rank(), Tag::Meeting(meeting));
        let hashes: Vec<u64> = notes.iter().map(|note| note.hash).collect();
        let bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
        let others = || (0..transport.ranks()).filter(move |&rank| rank != own);
        others().for_each(|rank| transport.send(rank, tag, Ok(Box::new(bytes.clone()))));
        let here = notes.last().map_or_else(|| "a meeting".to_owned(), Note::to_string);
        let receive = |rank, tag| {
            awaited.add(rank, tag, Reason::Meeting(here.clone()));
            let message = receive(transport, rank, tag, waiting);
            awaited.remove(rank, tag);
            message
        };
        let mut result = Ok(());
        for rank in others() {
            let compared = receive(rank, tag).and_then(|bytes| {
                let theirs = bytes.chunks_exact(8);
                let theirs: Vec<u64> =
                    theirs.map(|hash| u64::from_le_bytes(hash.try_into().expect("8 bytes"))).collect();
                if theirs == hashes {
                    return Ok(());
                }
                let first = hashes.iter().zip(&theirs).take_while(|(own, theirs)| own == theirs).count();
                let line = notes.get(first).map_or_else(|| "nothing more".to_owned(), Note::to_string);
                let tag = Tag::Line(meeting);
                transport.send(rank, tag, Ok(Box::new(line.clone())));
                let other = receive(rank, tag)?;
                let other = String::from_utf8_lossy(&other);
                let details = if other == *line { ", with other arrays, shapes, arguments or ranks" } else { "" };
                Err(format!(
                    "the programs of the ranks differ: rank {own} does: {line}; rank {rank} does: {other}{details}; \
                     every rank must submit the same tasks in the same order"
                ))
            });
            result = result.and(compared);
        }
        result
    }
}
