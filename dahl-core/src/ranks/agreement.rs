//! [`Agreement`]: whether the programs of all ranks do the same.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;
use std::sync::{Arc, OnceLock};

use super::awaited::{Awaited, Reason};
use super::transport::{Destination, Tag, Transport};
use crate::sleep::Monitor;

/// What the program did since the last meeting.
#[derive(Default)]
pub(super) struct Agreement {
    lines: Vec<String>,
    meetings: u64,
}

fn hash(line: &str) -> u64 {
    // Without random keys: equal in all processes of one build.
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish()
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
    pub(super) fn note(&mut self, line: String) {
        self.lines.push(line);
    }

    /// Compares with all other ranks, also after a difference: each of them waits for this rank.
    pub(super) fn meet(
        &mut self,
        transport: &dyn Transport,
        awaited: &Awaited,
        waiting: &Waiting<'_>,
    ) -> Result<(), String> {
        let (lines, meeting) = (mem::take(&mut self.lines), self.meetings);
        self.meetings += 1;
        let (own, tag) = (transport.rank(), Tag::Meeting(meeting));
        let hashes: Vec<u64> = lines.iter().map(|line| hash(line)).collect();
        let bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
        let others = || (0..transport.ranks()).filter(move |&rank| rank != own);
        others().for_each(|rank| transport.send(rank, tag, Ok(Box::new(bytes.clone()))));
        let here = lines.last().map_or("a meeting", |line| line);
        let receive = |rank, tag| {
            awaited.add(rank, tag, Reason::Meeting(here.to_owned()));
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
                let line = lines.get(first).map_or("nothing more", |line| line);
                let tag = Tag::Line(meeting);
                transport.send(rank, tag, Ok(Box::new(line.to_owned())));
                let other = receive(rank, tag)?;
                let other = String::from_utf8_lossy(&other);
                Err(format!(
                    "the programs of the ranks differ: rank {own} does: {line}; rank {rank} does: {other}; \
                     every rank must submit the same tasks in the same order"
                ))
            });
            result = result.and(compared);
        }
        result
    }
}
