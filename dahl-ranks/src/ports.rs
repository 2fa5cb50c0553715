//! [`Ports`]: when a message of a simulated cluster has left its rank, and when it arrives.

use dahl_core::Cluster;

/// The times of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    /// When its last byte has left its sender.
    pub(crate) left_ns: u64,
    /// When its last byte arrives.
    pub(crate) arrives_ns: u64,
}

/// Until when each port of each level carries what has been sent so far.
pub(crate) struct Ports {
    cluster: Cluster,
    /// Of each level: of each port out of it, and into it.
    levels: Vec<[Vec<u64>; 2]>,
}

impl Ports {
    /// Those of a cluster, which carry nothing.
    pub(crate) fn new(cluster: &Cluster) -> Self {
        let ports = |level: usize| cluster.ranks.div_ceil(ranks_of_port(cluster, level));
        let levels = (0..cluster.levels.len()).map(|level| [vec![0; ports(level)], vec![0; ports(level)]]);
        Self { levels: levels.collect(), cluster: cluster.clone() }
    }

    /// Sends a message at `now_ns`. It begins to leave when all ports on its way are free, and passes them at once, as fast as
    /// the slowest; a faster port is free again earlier.
    pub(crate) fn send(&mut self, from: usize, to: usize, bytes: usize, now_ns: u64) -> Passage {
        let outermost = self.cluster.level_between(from, to);
        let sides = |level: usize| [from, to].map(|rank| rank / ranks_of_port(&self.cluster, level));
        let ways: Vec<_> = (0..=outermost).map(sides).collect();
        let free = |(level, side): (usize, usize)| self.levels[level][side][ways[level][side]];
        let all = (0..=outermost).flat_map(|level| [(level, 0), (level, 1)]);
        let begins_ns = all.clone().map(free).max().unwrap_or(0).max(now_ns);
        let mut left_ns = begins_ns;
        for (level, side) in all {
            let until_ns = begins_ns + self.cluster.levels[level].transfer_ns(bytes);
            self.levels[level][side][ways[level][side]] = until_ns;
            left_ns = left_ns.max(until_ns);
        }
        Passage { left_ns, arrives_ns: left_ns + self.latency_ns(from, to) }
    }

    /// The latency between two ranks.
    pub(crate) fn latency_ns(&self, from: usize, to: usize) -> u64 {
        self.cluster.levels[self.cluster.level_between(from, to)].latency_ns()
    }
}

/// The ranks behind one port of a level: those of a group of the level below.
fn ranks_of_port(cluster: &Cluster, level: usize) -> usize {
    level.checked_sub(1).map_or(1, |below| cluster.group(below))
}

#[cfg(test)]
mod tests {
    use dahl_core::{Cluster, NetworkLevel};

    use super::{Passage, Ports};

    fn nodes_of_two() -> Ports {
        let level = |ranks, latency_us, gbytes_per_s| NetworkLevel { ranks, latency_us, gbytes_per_s };
        Ports::new(&Cluster { ranks: 6, levels: vec![level(Some(2), 1.0, 10.0), level(None, 3.0, 5.0)] })
    }

    fn passage(left_ns: u64, arrives_ns: u64) -> Passage {
        Passage { left_ns, arrives_ns }
    }

    #[test]
    fn a_message_takes_its_latency_and_the_time_of_its_slowest_port() {
        let mut ports = nodes_of_two();
        assert_eq!(ports.send(0, 1, 1000, 50), passage(150, 1150));
        assert_eq!(ports.send(2, 5, 1000, 0), passage(200, 3200));
        assert_eq!(ports.send(3, 2, 0, 7), passage(7, 1007), "the other direction is free");
    }

    #[test]
    fn messages_that_share_a_port_share_its_rate() {
        let mut ports = nodes_of_two();
        assert_eq!(ports.send(0, 2, 1000, 0), passage(200, 3200));
        // From the other rank of the node, to another node: the node's port is busy until 200.
        assert_eq!(ports.send(1, 4, 1000, 0), passage(400, 3400));
        // Within the node, the port of rank 0 is free after 100 ns.
        assert_eq!(ports.send(0, 1, 1000, 0), passage(200, 1200));
        // Into the first node nothing came yet.
        assert_eq!(ports.send(5, 0, 1000, 0), passage(200, 3200));
    }
}
