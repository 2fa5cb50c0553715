//! How the programs run here: each rank is a thread, in real or in virtual time.

use std::cell::Cell;

use dahl_core::{Cluster, Machine, NetworkLevel, Result, Runtime, RuntimeBuilder};
use dahl_ranks::RankFailed;

/// What carries messages.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Network {
    /// Threads, which delay and reorder messages by a seed.
    Threads,
    /// A simulated cluster with two ranks in a node.
    Cluster,
}

std::thread_local! {
    static NETWORK: Cell<Network> = const { Cell::new(Network::Threads) };
}

/// Lets the programs of this thread run on a network.
pub(crate) fn use_network(network: Network) {
    NETWORK.set(network);
}

/// A cluster of so many ranks.
pub(crate) fn nodes_of_two(ranks: usize) -> Machine {
    let level = |ranks, latency_us, gbytes_per_s| NetworkLevel { ranks, latency_us, gbytes_per_s };
    let levels = vec![level(Some(2), 0.5, 40.0), level(Some(2 * ranks), 1.5, 12.5)];
    Machine { cluster: Some(Cluster { ranks, levels }), ..Machine::default() }
}

/// The results of the ranks of this process, which are all; none if it has fewer.
pub(crate) fn on_ranks<R: Send>(
    ranks: usize,
    seed: u64,
    builder: impl Fn() -> RuntimeBuilder + Sync,
    program: impl Fn(&Runtime) -> Result<R> + Sync,
) -> Option<std::result::Result<Vec<R>, RankFailed>> {
    let results = match NETWORK.get() {
        Network::Threads => dahl_ranks::threads(ranks, seed, builder, program),
        Network::Cluster => dahl_ranks::cluster(&nodes_of_two(ranks), builder, program),
    };
    if let Ok(results) = &results {
        assert_eq!(results.len(), ranks);
    }
    Some(results)
}
