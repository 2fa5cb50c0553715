//! How the programs run here: each rank is a thread.

use dahl_core::{Result, Runtime, RuntimeBuilder};
use dahl_ranks::RankFailed;

/// The results of the ranks of this process, which are all; none if it has fewer.
pub(crate) fn on_ranks<R: Send>(
    ranks: usize,
    seed: u64,
    builder: impl Fn() -> RuntimeBuilder + Sync,
    program: impl Fn(&Runtime) -> Result<R> + Sync,
) -> Option<std::result::Result<Vec<R>, RankFailed>> {
    let results = dahl_ranks::threads(ranks, seed, builder, program);
    if let Ok(results) = &results {
        assert_eq!(results.len(), ranks);
    }
    Some(results)
}
