//! [`Tracks`]: the track on which a viewer shows a transfer.

use dahl_trace::format::TRANSFERS;

/// Where transfers lie. Those between two memory nodes are in a row, but for one between two devices, which may
/// begin before the one before it has come all the way: it lies on a further thread.
#[derive(Debug)]
pub(super) struct Tracks {
    nodes: usize,
    /// For each pair of nodes, when each of its threads is free.
    free_ns: Vec<Vec<u64>>,
}

impl Tracks {
    pub(super) fn new(nodes: usize) -> Self {
        Self { nodes, free_ns: vec![Vec::new(); nodes * nodes] }
    }

    /// The thread of a transfer, and whether it is the first one there.
    pub(super) fn place(&mut self, from: usize, to: usize, begin_ns: u64, end_ns: u64) -> (u32, bool) {
        let pair = from * self.nodes + to;
        let tracks = &mut self.free_ns[pair];
        let track = tracks.iter().position(|&free_ns| free_ns <= begin_ns);
        let track = track.unwrap_or(tracks.len());
        let is_first = track == tracks.len();
        if is_first {
            tracks.push(end_ns);
        }
        tracks[track] = end_ns;
        (TRANSFERS + (track * self.nodes * self.nodes + pair) as u32, is_first)
    }
}
