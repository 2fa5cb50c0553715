//! What an arena says of the ranks of its runtime, and where the tasks of a call run.

use std::panic::Location;

use super::Arena;
use crate::array::{Array, is_recording, is_recording_over_ranks};
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::ranks::{Note, Ranks, refusal_of_rank};
use crate::task::set_sharded as set_array_sharded;

/// Requires that there is a rank of this number, and that this thread records no program, which runs on one rank.
#[track_caller]
pub(crate) fn require_rank(ranks: Option<&Ranks>, call: &str, rank: usize) -> Result<()> {
    let is_inside = is_recording_over_ranks() || (is_recording() && rank > 0);
    match refusal_of_rank(call, rank, ranks.map_or(1, Ranks::len), is_inside) {
        Some(fact) => Err(Error::new(ErrorKind::Ranks { fact })),
        None => Ok(()),
    }
}

/// [`Runtime::on_rank`](crate::Runtime::on_rank).
#[track_caller]
pub(crate) fn on_rank<R, E: From<Error>>(
    ranks: Option<&Ranks>,
    rank: usize,
    f: impl FnOnce() -> std::result::Result<R, E>,
) -> std::result::Result<R, E> {
    require_rank(ranks, "on_rank", rank)?;
    match ranks {
        Some(ranks) => ranks.placed(rank, f),
        None => f(),
    }
}

/// [`Runtime::set_owner`](crate::Runtime::set_owner).
#[track_caller]
pub(crate) fn set_owner<T: Element, const N: usize>(
    ranks: Option<&Ranks>,
    array: &Array<'_, T, N>,
    rank: usize,
) -> Result<()> {
    require_rank(ranks, "set_owner", rank)?;
    if let Some(ranks) = ranks {
        let mut table = ranks.table();
        let line = format!("set_owner of array {} to {rank}", table.number(array.id()));
        ranks.note(Note::call(line));
        table.set_owner(array.id(), rank);
    }
    Ok(())
}

impl Arena {
    /// The rank of its runtime, as [`Runtime::rank`](crate::Runtime::rank).
    pub fn rank(&self) -> usize {
        self.runtime.host().ranks().map_or(0, Ranks::rank)
    }

    /// The number of ranks, as [`Runtime::ranks`](crate::Runtime::ranks).
    pub fn ranks(&self) -> usize {
        self.runtime.host().ranks().map_or(1, Ranks::len)
    }

    /// The rank of the call of [`on_rank`](Self::on_rank) that is being made.
    pub(crate) fn placement(&self) -> Option<usize> {
        self.runtime.host().ranks().and_then(Ranks::placement)
    }

    /// Calls `f`, whose tasks run on the rank of an earlier [placement](Self::placement), if there was one.
    pub(crate) fn placed<R>(&self, rank: Option<usize>, f: impl FnOnce() -> R) -> R {
        match (rank, self.runtime.host().ranks()) {
            (Some(rank), Some(ranks)) => ranks.placed(rank, f),
            _ => f(),
        }
    }

    /// Calls `f`, whose tasks run on rank `rank`, as [`Runtime::on_rank`](crate::Runtime::on_rank).
    ///
    /// # Errors
    /// If there is no such rank; and that of `f`.
    #[track_caller]
    pub fn on_rank<R, E: From<Error>>(
        &self,
        rank: usize,
        f: impl FnOnce() -> std::result::Result<R, E>,
    ) -> std::result::Result<R, E> {
        on_rank(self.runtime.host().ranks(), rank, f)
    }

    /// Sets whether an array is sharded: its owner alone keeps it. Another rank receives it for each task that reads it
    /// there, and gives the memory back after the task. Results do not depend on it. All ranks that have parts of an array
    /// keep these, and a part is not sharded. All ranks keep what the host reads until a task writes it, since a guard may
    /// be there until then.
    /// While a program is recorded, nothing happens: its arguments are sharded, or not, when it is called.
    #[track_caller]
    pub fn set_sharded<T: Element, const N: usize>(&self, array: &mut Array<'_, T, N>, is_sharded: bool) {
        if let Some(ranks) = self.runtime.host().ranks().filter(|_| !is_recording()) {
            set_array_sharded(ranks, array.state(), is_sharded, Location::caller());
        }
    }

    /// Sets how many bytes of [sharded](Self::set_sharded) arrays this rank asks other ranks for ahead of the tasks: as
    /// many as it likes by default. Beyond that, a submission waits for earlier tasks.
    pub fn set_gathered_bytes(&self, bytes: usize) {
        self.runtime.host().ranks().into_iter().for_each(|ranks| ranks.gathered().set_limit(bytes));
    }

    /// The most bytes of [sharded](Self::set_sharded) arrays of other ranks that this rank had at once for its tasks.
    pub fn peak_gathered_bytes(&self) -> usize {
        self.runtime.host().ranks().map_or(0, |ranks| ranks.gathered().peak())
    }

    /// Makes rank `rank` the owner of an array, as [`Runtime::set_owner`](crate::Runtime::set_owner).
    ///
    /// # Errors
    /// If there is no such rank.
    #[track_caller]
    pub fn set_owner<T: Element, const N: usize>(&self, array: &Array<'_, T, N>, rank: usize) -> Result<()> {
        set_owner(self.runtime.host().ranks(), array, rank)
    }
}
