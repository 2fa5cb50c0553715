//! [`Cluster`]: the ranks of a simulated machine, and the network between them.

use serde::{Deserialize, Serialize};

use super::speed::{A_TIME, is_time, nanoseconds};

/// The ranks of a simulated cluster, each of which is the machine that the file describes, and the network between them.
///
/// The network is a tree of switches. `levels[0]` joins ranks to groups (nodes), the next level joins these groups to larger
/// ones (racks), and the last joins all. A message between two ranks passes the ports of each level up to the one that joins them.
///
/// ```
/// let machine = dahl_core::Machine::from_toml(
///     r#"
///     [cluster]
///     ranks = 64
///
///     [[cluster.level]]       # four ranks in a node
///     ranks = 4
///     latency_us = 0.5
///     gbytes_per_s = 40
///
///     [[cluster.level]]       # one port of 12.5 GB/s for each node
///     latency_us = 1.5
///     gbytes_per_s = 12.5
///     "#,
/// )?;
/// let cluster = machine.cluster.expect("the file describes one");
/// assert_eq!((cluster.level_between(0, 3), cluster.level_between(3, 4)), (0, 1));
/// # dahl_core::Result::Ok(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// The number of ranks.
    pub ranks: usize,
    /// The levels of the network, from the innermost to the outermost.
    #[serde(rename = "level")]
    pub levels: Vec<NetworkLevel>,
}

/// A level of the network of a simulated cluster: a switch, with a port for each rank or each group of the level below.
///
/// A port carries one message after the other in each direction, in the order in which they are sent. So what shares a port
/// shares its rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkLevel {
    /// The ranks that it joins; absent for all.
    pub ranks: Option<usize>,
    /// From the first byte that leaves a rank until it arrives at another, in microseconds, if this is the level that joins them.
    pub latency_us: f64,
    /// Bytes per nanosecond, through each port and in each direction.
    pub gbytes_per_s: f64,
}

impl NetworkLevel {
    /// The latency.
    pub fn latency_ns(&self) -> u64 {
        nanoseconds(self.latency_us)
    }

    /// The time that so many bytes take through a port.
    pub fn transfer_ns(&self, bytes: usize) -> u64 {
        nanoseconds(bytes as f64 / self.gbytes_per_s / 1e3)
    }
}

impl Cluster {
    /// The ranks of a group that level `level` joins.
    pub fn group(&self, level: usize) -> usize {
        self.levels[level].ranks.unwrap_or(self.ranks)
    }

    /// The innermost level that joins two ranks.
    pub fn level_between(&self, one: usize, other: usize) -> usize {
        let joins = |&level: &usize| one / self.group(level) == other / self.group(level);
        (0..self.levels.len()).find(joins).unwrap_or(self.levels.len() - 1)
    }

    /// The first figure that is impossible.
    pub(super) fn wrong(&self) -> Option<String> {
        if self.ranks == 0 || self.levels.is_empty() {
            return Some("it has at least one rank, and one level of the network".to_owned());
        }
        let mut inner = 1;
        for (index, level) in self.levels.iter().enumerate() {
            let ranks = self.group(index);
            let is_last = index + 1 == self.levels.len();
            if ranks == 0 || !ranks.is_multiple_of(inner) || (is_last && ranks < self.ranks) {
                return Some(format!(
                    "level {index}: ranks = {ranks}: a level joins whole groups of the one below, and the last joins all ranks"
                ));
            }
            inner = ranks;
            if !is_time(level.latency_us) {
                return Some(format!("level {index}: latency_us = {}: {A_TIME}", level.latency_us));
            }
            let rate = level.gbytes_per_s;
            if !(rate.is_finite() && rate > 0.0) {
                return Some(format!("level {index}: gbytes_per_s = {rate}: a rate is above 0"));
            }
        }
        None
    }
}
