//! Transfers, and the memory in use.

use super::{MemorySummary, TransferSummary, us};
use crate::trace::Trace;

pub(super) fn summarized(trace: &Trace) -> Vec<TransferSummary> {
    let name = |number| trace.node_name(number).to_owned();
    let links = trace.links().iter();
    let mut transfers: Vec<_> = links
        .map(|link| TransferSummary {
            from: name(link.from),
            to: name(link.to),
            count: 0,
            bytes: 0,
            total_us: 0.0,
        })
        .collect();
    for transfer in trace.transfers() {
        let link = &mut transfers[transfer.link];
        link.count += 1;
        link.bytes = link.bytes.saturating_add(transfer.bytes);
        link.total_us += us(transfer.duration_ns);
    }
    transfers
}

pub(super) fn peaks(trace: &Trace) -> Vec<MemorySummary> {
    let peak = |number| {
        let samples = trace.memory().iter().filter(|sample| sample.node == number);
        samples.min_by_key(|sample| (std::cmp::Reverse(sample.bytes), sample.at_ns))
    };
    let with_peak = trace.nodes().iter().filter_map(|node| Some((node, peak(node.number)?)));
    with_peak
        .map(|(node, peak)| MemorySummary {
            node: node.name.clone(),
            peak_bytes: peak.bytes,
            at_us: us(peak.at_ns),
        })
        .collect()
}
