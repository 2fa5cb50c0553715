//! Several ranks that run the same program: which rank has which copy, and whether their programs agree. `README.md`
//! says why they do, and why there is no deadlock.
//!
//! Not here: the tasks that send and receive (`task`), and what carries the messages (the crate `dahl-ranks`).

mod agreement;
mod awaited;
mod copies;
mod distribution;
mod gathered;
mod kept;
mod note;
mod sent;
mod table;
mod transport;

use std::fmt;
use std::sync::Arc;

use agreement::Agreement;
pub(crate) use agreement::Waiting;
pub(crate) use awaited::{Awaited, Reason};
pub(crate) use copies::Missing;
pub use distribution::Distribution;
pub(crate) use gathered::Gathered;
pub use kept::Kept;
pub(crate) use note::Note;
pub use sent::MessageTotal;
use sent::Sent;
pub(crate) use table::Table;
pub use transport::{Destination, Message, Payload, Tag, Transport, Turn, Turns, deliver};

use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// In place of a rank: tasks run where what they write is owned.
const BY_OWNER: usize = usize::MAX;

/// Why what a program submits has no rank of its own.
const PLACED_INSIDE: &str = "a program runs on one rank, and so does all that it submits; call it in `rt.on_rank(rank, ..)`, or set the owner of what it changes";

/// Why a call of this name cannot place tasks on a rank of `ranks`: there is none of this number, or the call is inside of a program.
pub(crate) fn refusal_of_rank(call: &str, rank: usize, ranks: usize, is_inside: bool) -> Option<String> {
    if is_inside {
        return Some(format!("{call}: {PLACED_INSIDE}"));
    }
    (rank >= ranks).then(|| format!("{call}: there is no rank {rank}, but {ranks} from 0 on"))
}

/// This rank's knowledge of all ranks.
pub(crate) struct Ranks {
    transport: Arc<dyn Transport>,
    table: Mutex<Table>,
    agreement: Mutex<Agreement>,
    /// How many notes the agreement keeps. The lock is held while this rank waits for others.
    notes: AtomicUsize,
    awaited: Arc<Awaited>,
    gathered: Arc<Gathered>,
    sent: Sent,
    /// The rank that runs the tasks that name none, or [`BY_OWNER`].
    placement: AtomicUsize,
}

/// Puts the placement before a call back, also if the call panics.
struct PutBack<'r>(&'r AtomicUsize, usize);

impl Drop for PutBack<'_> {
    fn drop(&mut self) {
        self.0.store(self.1, Ordering::Relaxed);
    }
}

impl fmt::Debug for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank(), self.len())
    }
}

impl Ranks {
    pub(crate) fn new(transport: Arc<dyn Transport>) -> Self {
        let table = Mutex::new(Table::new(transport.ranks()));
        let placement = AtomicUsize::new(BY_OWNER);
        let (agreement, awaited, gathered) = (Mutex::default(), Arc::default(), Arc::default());
        let (notes, sent) = (AtomicUsize::new(0), Sent::default());
        Self { transport, table, agreement, notes, awaited, gathered, sent, placement }
    }

    /// This rank.
    pub(crate) fn rank(&self) -> usize {
        self.transport.rank()
    }

    /// The number of ranks.
    pub(crate) fn len(&self) -> usize {
        self.transport.ranks()
    }

    /// The rank that runs the tasks that name none; none if the owner of what they write does.
    pub(crate) fn placement(&self) -> Option<usize> {
        // One thread submits.
        Some(self.placement.load(Ordering::Relaxed)).filter(|rank| *rank != BY_OWNER)
    }

    /// Calls `f`; the tasks that it submits run on rank `rank` if they name none.
    pub(crate) fn placed<R>(&self, rank: usize, f: impl FnOnce() -> R) -> R {
        let _before = PutBack(&self.placement, self.placement.swap(rank, Ordering::Relaxed));
        f()
    }

    pub(crate) fn transport(&self) -> &Arc<dyn Transport> {
        &self.transport
    }

    /// The messages that this rank waits for.
    pub(crate) fn awaited(&self) -> &Arc<Awaited> {
        &self.awaited
    }

    /// What this rank has of sharded arrays of other ranks.
    pub(crate) fn gathered(&self) -> &Arc<Gathered> {
        &self.gathered
    }

    pub(crate) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The messages with values that this rank sends.
    pub(crate) fn sent(&self) -> &Sent {
        &self.sent
    }

    fn agreement(&self) -> MutexGuard<'_, Agreement> {
        self.agreement.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Notes what the program does next.
    pub(crate) fn note(&self, note: Note) {
        let mut agreement = self.agreement();
        agreement.note(note);
        self.count(&agreement);
    }

    /// Notes how much the agreement keeps.
    fn count(&self, agreement: &Agreement) {
        self.notes.store(agreement.kept(), Ordering::Relaxed);
    }

    /// What this rank keeps of what all ranks do.
    pub(crate) fn kept(&self) -> Kept {
        let submissions = self.notes.load(Ordering::Relaxed);
        Kept { submissions, arrays: self.table().len() }
    }

    /// Compares with every other rank what was noted some time ago, if much has been noted since the last meeting. The caller holds no
    /// lock: tasks may run meanwhile.
    ///
    /// # Errors
    /// As [`meet`](Self::meet).
    pub(crate) fn compare_if_due(&self, waiting: &Waiting<'_>) -> Result<(), String> {
        let mut agreement = self.agreement();
        if !agreement.is_full() {
            return Ok(());
        }
        let result = agreement.end_round(&*self.transport, &self.awaited, waiting);
        self.count(&agreement);
        result
    }

    /// Notes it, and compares all that was noted since the last meeting with every other rank.
    ///
    /// # Errors
    /// The first submission that differs, or why a rank does not answer.
    pub(crate) fn meet(&self, line: String, waiting: &Waiting<'_>) -> Result<(), String> {
        let mut agreement = self.agreement();
        agreement.note(Note::call(line));
        let result = agreement.meet(&*self.transport, &self.awaited, waiting);
        self.count(&agreement);
        result
    }
}
