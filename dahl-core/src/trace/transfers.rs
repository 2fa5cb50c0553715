//! [`Tracks`]: the track on which a viewer shows a transfer.

use dahl_trace::format::TRANSFERS;

/// The threads of transfers in the file. Transfers between two memory nodes are in a row, except that one between two
/// devices may begin before the previous one has arrived: it is then on a further thread.
#[derive(Debug)]
pub(super) struct Tracks {
    nodes: usize,
    /// For each pair of nodes, when each of its threads becomes free.
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
