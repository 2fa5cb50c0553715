//! What an arena says of the ranks of its runtime, and where the tasks of a call run.

use super::Arena;
use crate::array::Array;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::ranks::{Note, Ranks};

/// Requires that there is a rank of this number.
#[track_caller]
fn require_rank(ranks: Option<&Ranks>, call: &str, rank: usize) -> Result<()> {
    let len = ranks.map_or(1, Ranks::len);
    if rank < len {
        return Ok(());
    }
    let fact = format!("{call}: there is no rank {rank}, but {len} from 0 on");
    Err(Error::new(ErrorKind::Ranks { fact }))
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

    /// Makes rank `rank` the owner of an array, as [`Runtime::set_owner`](crate::Runtime::set_owner).
    ///
    /// # Errors
    /// If there is no such rank.
    #[track_caller]
    pub fn set_owner<T: Element, const N: usize>(&self, array: &Array<'_, T, N>, rank: usize) -> Result<()> {
        set_owner(self.runtime.host().ranks(), array, rank)
    }
}
