//! [`Agreement`]: whether the programs of all ranks do the same.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;
use std::sync::{Arc, PoisonError};

use super::transport::{Destination, Tag, Transport};
use crate::sync::{Condvar, Mutex};

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

type Arrived = Arc<(Mutex<Option<Result<Vec<u8>, String>>>, Condvar)>;

/// A message that a thread waits for.
struct Awaited {
    bytes: Vec<u8>,
    arrived: Arrived,
}

impl Destination for Awaited {
    fn memory(&mut self, len: usize) -> Result<&mut [u8], String> {
        self.bytes.resize(len, 0);
        Ok(&mut self.bytes)
    }

    fn arrived(self: Box<Self>, result: Result<(), String>) {
        let Self { bytes, arrived } = *self;
        *arrived.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(result.map(|()| bytes));
        arrived.1.notify_all();
    }
}

/// Waits for a message.
fn receive(transport: &dyn Transport, from: usize, tag: Tag) -> Result<Vec<u8>, String> {
    let arrived: Arrived = Arc::new((Mutex::new(None), Condvar::new()));
    transport.receive(from, tag, Box::new(Awaited { bytes: Vec::new(), arrived: Arc::clone(&arrived) }));
    let mut message = arrived.0.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if let Some(message) = message.take() {
            return message;
        }
        message = arrived.1.wait(message).unwrap_or_else(PoisonError::into_inner);
    }
}

impl Agreement {
    pub(super) fn note(&mut self, line: String) {
        self.lines.push(line);
    }

    /// Compares with all other ranks, also after a difference: each of them waits for this rank.
    pub(super) fn meet(&mut self, transport: &dyn Transport) -> Result<(), String> {
        let (lines, meeting) = (mem::take(&mut self.lines), self.meetings);
        self.meetings += 1;
        let (own, tag) = (transport.rank(), Tag::Meeting(meeting));
        let hashes: Vec<u64> = lines.iter().map(|line| hash(line)).collect();
        let bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
        let others = || (0..transport.ranks()).filter(move |&rank| rank != own);
        others().for_each(|rank| transport.send(rank, tag, Ok(Box::new(bytes.clone()))));
        let mut result = Ok(());
        for rank in others() {
            let compared = receive(transport, rank, tag).and_then(|bytes| {
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
                let other = receive(transport, rank, tag)?;
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
