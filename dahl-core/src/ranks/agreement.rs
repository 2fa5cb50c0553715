//! [`Agreement`]: whether the programs of all ranks do the same.
//!
//! What a program does is compared in *rounds*. A round ends at a meeting, or at the first task after [`Kept::ROUND`] submissions without one.
//! Each rank sends a hash of the round to each other one. At a meeting a rank waits for those of the others; between meetings it
//! goes on, and waits for those of a round when the next one ends. So it keeps two rounds at most, however long the program is.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::mem;
use std::sync::{Arc, OnceLock};

use super::awaited::{Awaited, Reason};
use super::kept::Kept;
use super::note::Note;
use super::transport::{Destination, Tag, Transport};
use crate::sleep::Monitor;

/// What the program did that has not been compared.
#[derive(Default)]
pub(super) struct Agreement {
    notes: Vec<Note>,
    /// The rounds that have ended.
    rounds: u64,
    /// The last round, if it has not been compared yet.
    uncompared: Option<Round>,
    /// Of a round that has been compared, for the next one.
    spare: Vec<Note>,
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

/// Asks for a message.
fn expect(transport: &dyn Transport, from: usize, tag: Tag, progress: &Arc<Monitor>) -> Arc<Message> {
    let message: Arc<Message> = Arc::default();
    let expected =
        Expected { bytes: Vec::new(), message: Arc::clone(&message), progress: Arc::clone(progress) };
    transport.receive(from, tag, Box::new(expected));
    message
}

/// A round that has ended here.
struct Round {
    number: u64,
    notes: Vec<Note>,
    /// The number of notes, and a hash of them.
    summary: [u8; 16],
    /// The summaries of the other ranks.
    of_others: Vec<(usize, Arc<Message>)>,
}

impl Round {
    /// Sends its summary to the other ranks, and asks for theirs.
    fn end(transport: &dyn Transport, number: u64, notes: Vec<Note>, progress: &Arc<Monitor>) -> Self {
        let mut hasher = DefaultHasher::new();
        notes.iter().for_each(|note| note.hash.hash(&mut hasher));
        let mut summary = [0; 16];
        summary[..8].copy_from_slice(&(notes.len() as u64).to_le_bytes());
        summary[8..].copy_from_slice(&hasher.finish().to_le_bytes());
        let (own, tag) = (transport.rank(), Tag::Meeting(number));
        let others = || (0..transport.ranks()).filter(move |&rank| rank != own);
        others().for_each(|rank| transport.send(rank, tag, Ok(Box::new(summary))));
        let of_others = others().map(|rank| (rank, expect(transport, rank, tag, progress))).collect();
        Self { number, notes, summary, of_others }
    }

    /// Compares it with all other ranks, also after a difference: each of them waits for this rank.
    fn compare(
        &self,
        transport: &dyn Transport,
        awaited: &Awaited,
        waiting: &Waiting<'_>,
    ) -> Result<(), String> {
        let own = transport.rank();
        let here = self.notes.last().map_or_else(|| "a meeting".to_owned(), Note::to_string);
        let wait = |rank, tag, message: &Arc<Message>| {
            awaited.add(rank, tag, Reason::Meeting(here.clone()));
            (waiting.until)(&|| message.get().is_some());
            awaited.remove(rank, tag);
            message.get().cloned().expect("it was waited for")
        };
        let exchange = |rank, tag, bytes: Vec<u8>| {
            transport.send(rank, tag, Ok(Box::new(bytes)));
            wait(rank, tag, &expect(transport, rank, tag, waiting.progress))
        };
        let mut result = Ok(());
        for (rank, message) in &self.of_others {
            let compared = wait(*rank, Tag::Meeting(self.number), message).and_then(|summary| {
                if summary == self.summary {
                    return Ok(());
                }
                let hashes: Vec<u8> = self.notes.iter().flat_map(|note| note.hash.to_le_bytes()).collect();
                let theirs = exchange(*rank, Tag::Hashes(self.number), hashes.clone())?;
                let pairs = hashes.chunks_exact(8).zip(theirs.chunks_exact(8));
                let first = pairs.take_while(|(own, theirs)| own == theirs).count();
                let line = self.notes.get(first).map_or_else(|| "nothing more".to_owned(), Note::to_string);
                let other = exchange(*rank, Tag::Line(self.number), line.clone().into_bytes())?;
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

impl Agreement {
    pub(super) fn note(&mut self, note: Note) {
        self.notes.push(note);
    }

    /// What it keeps.
    pub(super) fn kept(&self) -> usize {
        self.notes.len() + self.uncompared.as_ref().map_or(0, |round| round.notes.len())
    }

    /// Whether a round ends without a meeting.
    pub(super) fn is_full(&self) -> bool {
        self.notes.len() >= Kept::ROUND
    }

    /// Ends a round, and compares the one before with all other ranks.
    pub(super) fn end_round(
        &mut self,
        transport: &dyn Transport,
        awaited: &Awaited,
        waiting: &Waiting<'_>,
    ) -> Result<(), String> {
        let notes = mem::replace(&mut self.notes, mem::take(&mut self.spare));
        let round = Round::end(transport, self.rounds, notes, waiting.progress);
        self.rounds += 1;
        let Some(before) = self.uncompared.replace(round) else { return Ok(()) };
        self.compare(before, transport, awaited, waiting)
    }

    /// Ends a round, and compares all that has not been compared with all other ranks.
    pub(super) fn meet(
        &mut self,
        transport: &dyn Transport,
        awaited: &Awaited,
        waiting: &Waiting<'_>,
    ) -> Result<(), String> {
        let earlier = self.end_round(transport, awaited, waiting);
        let Some(last) = self.uncompared.take() else { return earlier };
        earlier.and(self.compare(last, transport, awaited, waiting))
    }

    /// Compares a round, and keeps its memory for the next one.
    fn compare(
        &mut self,
        round: Round,
        transport: &dyn Transport,
        awaited: &Awaited,
        waiting: &Waiting<'_>,
    ) -> Result<(), String> {
        let result = round.compare(transport, awaited, waiting);
        self.spare = round.notes;
        self.spare.clear();
        result
    }
}
