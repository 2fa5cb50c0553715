//! The link of a device, from the transfers of runs.

use dahl::VirtualDevice;
use dahl_trace::Trace;

use super::statistics::{line, median};

/// The latency in microseconds and the bytes per nanosecond of the link of a kind of device: the line through the durations of its
/// transfers, by least squares. Transfers of one size say the sum of both: then the rate is that of a device of which nothing is known,
/// as is all without transfers.
pub(super) fn of_device(traces: &[Trace], kind: &str) -> (f64, f64) {
    let mut points = Vec::new();
    for trace in traces {
        let nodes = trace.workers().iter().filter(|worker| worker.kind == kind).map(|worker| worker.node);
        let nodes: Vec<u32> = nodes.collect();
        for transfer in trace.transfers() {
            let link = &trace.links()[transfer.link];
            let is_its_own = |node| link.from.min(link.to) == 0 && link.from.max(link.to) == node;
            if nodes.iter().any(|&node| is_its_own(node)) {
                points.push((transfer.bytes as f64, transfer.duration_ns as f64));
            }
        }
    }
    let unknown = VirtualDevice::default();
    if let Some((latency_ns, ns_a_byte)) = line(&points) {
        return (latency_ns / 1e3, 1.0 / ns_a_byte);
    }
    let rate = unknown.link_gbytes_per_s;
    let latencies = points.iter().map(|(bytes, ns)| (ns - bytes / rate).max(0.0) / 1e3);
    (median(latencies.collect()).unwrap_or(unknown.latency_us), rate)
}
