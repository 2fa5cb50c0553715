//! What a runtime says of its ranks, and which of them owns an array.

use std::panic::Location;

use super::handle::Runtime;
use crate::arena;
use crate::array::Array;
use crate::config::Config;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::Engine;
use crate::ranks::{Distribution, Kept, MessageTotal, Ranks, Waiting};
use crate::task::send_to;

/// Requires that either all ranks are simulated, with a network in virtual time, or none.
pub(super) fn require_real_ranks(config: &Config, location: &'static Location<'static>) -> Result<()> {
    let Some(transport) = &config.ranks else { return Ok(()) };
    let fact = match (config.machine.is_some(), transport.turns().is_some()) {
        (true, false) => "a simulated machine is a rank of a simulated cluster only (dahl_ranks::cluster)",
        (false, true) => {
            "a rank of a simulated cluster is a simulated machine; give the runtime its description"
        }
        _ => return Ok(()),
    };
    Err(Error::at(ErrorKind::Ranks { fact: fact.to_owned() }, location))
}

impl Runtime {
    /// Compares the programs of all ranks, for a call that all of them make.
    #[track_caller]
    pub(super) fn meet_ranks(&self, call: &str) -> Result<()> {
        let Some(ranks) = self.executor.ranks() else { return Ok(()) };
        let line = format!("{call} at {}", Location::caller());
        let until = |holds: &dyn Fn() -> bool| self.executor.wait_until(holds);
        let waiting = Waiting { until: &until, progress: self.executor.progress() };
        ranks.meet(line, &waiting).map_err(|fact| Error::new(ErrorKind::Ranks { fact }))
    }

    /// Makes rank `rank` the owner of an array: tasks that write it run there. Without ranks, the only one is 0.
    ///
    /// # Errors
    /// If there is no such rank.
    #[track_caller]
    pub fn set_owner<T: Element, const N: usize>(&self, array: &Array<'_, T, N>, rank: usize) -> Result<()> {
        arena::set_owner(self.executor.ranks(), array, rank)
    }

    /// Calls `f`. The tasks that it submits run on rank `rank`, whatever they write, unless they name a rank themselves;
    /// so do the tasks of their gradients. Without ranks, the only one is 0.
    ///
    /// A contribution to a reduction runs there too. So if contributions come from several ranks, the sum so far is sent from
    /// one to the next, and its rounding depends on where they run.
    ///
    /// # Errors
    /// If there is no such rank; and that of `f`.
    #[track_caller]
    pub fn on_rank<R, E: From<Error>>(
        &self,
        rank: usize,
        f: impl FnOnce() -> std::result::Result<R, E>,
    ) -> std::result::Result<R, E> {
        arena::on_rank(self.executor.ranks(), rank, f)
    }

    /// Gives the parts of an array to their owners: of each part they have the value, and tasks that write it run there. The
    /// next partition of the array into the same parts keeps the owners. Called again with another distribution, it
    /// moves the parts. Without ranks, nothing happens.
    ///
    /// ```
    /// use dahl_core::ranks::Distribution;
    /// use dahl_core::{Runtime, ndarray::Axis};
    ///
    /// let rt = Runtime::new()?;
    /// let mut x = rt.zeros::<f32, 2>([6, 4])?;
    /// let parts = x.partition_into_mut(Axis(0), 3)?;
    /// rt.scatter(&parts, Distribution::Blocks)?;
    /// rt.gather(&x, 0)?;
    /// # dahl_core::Result::Ok(())
    /// ```
    ///
    /// # Errors
    /// If a map names another number of parts, or a rank that does not exist.
    #[track_caller]
    pub fn scatter<T: Element, const N: usize>(
        &self,
        parts: &[Array<'_, T, N>],
        distribution: Distribution<'_>,
    ) -> Result<()> {
        let ranks = self.executor.ranks();
        let owners = distribution.owners(parts.len(), ranks.map_or(1, Ranks::len)).map_err(|fact| {
            let fact = format!("scatter: {fact}");
            Error::new(ErrorKind::Ranks { fact })
        })?;
        let Some(ranks) = ranks else { return Ok(()) };
        arena::require_rank(Some(ranks), "scatter", 0)?;
        for (part, owner) in parts.iter().zip(owners) {
            ranks.table().set_owner(part.id(), owner);
            send_to(ranks, part.state(), owner, "scatter", Location::caller());
        }
        Ok(())
    }

    /// Gives rank `rank` the value of an array, whose parts may be on others. It waits for nothing.
    ///
    /// # Errors
    /// If there is no such rank.
    #[track_caller]
    pub fn gather<T: Element, const N: usize>(&self, array: &Array<'_, T, N>, rank: usize) -> Result<()> {
        let ranks = self.executor.ranks();
        arena::require_rank(ranks, "gather", rank)?;
        if let Some(ranks) = ranks {
            send_to(ranks, array.state(), rank, "gather", Location::caller());
        }
        Ok(())
    }

    /// This rank, from 0.
    pub fn rank(&self) -> usize {
        self.executor.ranks().map_or(0, Ranks::rank)
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.executor.ranks().map_or(1, Ranks::len)
    }

    /// The messages with values of arrays that this rank has sent to others. A message counts when it is submitted.
    pub fn sent_messages(&self) -> MessageTotal {
        self.executor.ranks().map_or_else(MessageTotal::default, |ranks| ranks.sent().total())
    }

    /// What this rank keeps of what all ranks do; none without ranks.
    pub fn kept_of_ranks(&self) -> Option<Kept> {
        self.executor.ranks().map(Ranks::kept)
    }
}
