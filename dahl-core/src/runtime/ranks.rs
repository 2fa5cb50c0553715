//! What a runtime says of its ranks, and which of them owns an array.

use std::panic::Location;

use super::handle::Runtime;
use crate::array::Array;
use crate::config::Config;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::ranks::Ranks;

/// Requires that a simulated machine is not one of several ranks.
pub(super) fn require_real_ranks(config: &Config, location: &'static Location<'static>) -> Result<()> {
    if config.ranks.is_none() || config.machine.is_none() {
        return Ok(());
    }
    let fact = "a simulated machine cannot be one of several ranks; build the runtime without one".to_owned();
    Err(Error::at(ErrorKind::Ranks { fact }, location))
}

impl Runtime {
    /// Compares the programs of all ranks, for a call that all of them make.
    #[track_caller]
    pub(super) fn meet_ranks(&self, call: &str) -> Result<()> {
        let Some(ranks) = self.executor.ranks() else { return Ok(()) };
        let line = format!("{call} at {}", Location::caller());
        ranks.meet(line).map_err(|fact| Error::new(ErrorKind::Ranks { fact }))
    }

    /// Makes rank `rank` the owner of an array: tasks that write it run there. Without ranks, the only one is 0.
    ///
    /// # Errors
    /// If there is no such rank.
    #[track_caller]
    pub fn set_owner<T: Element, const N: usize>(&self, array: &Array<'_, T, N>, rank: usize) -> Result<()> {
        let ranks = self.executor.ranks();
        let len = ranks.map_or(1, Ranks::len);
        if rank >= len {
            let fact = format!("set_owner: there is no rank {rank}, but {len} from 0 on");
            return Err(Error::new(ErrorKind::Ranks { fact }));
        }
        if let Some(ranks) = ranks {
            let mut table = ranks.table();
            ranks.note(format!("set_owner of array {} to {rank}", table.number(array.id())));
            table.set_owner(array.id(), rank);
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
}
