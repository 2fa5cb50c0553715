//! [`Link`]: the links to the devices of a machine model.

use dahl::Machine;
use serde::Serialize;

/// A link by its model: a transfer takes `latency_us + bytes / gbytes_per_s`.
#[derive(Serialize)]
pub(super) struct Link {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) latency_us: f64,
    pub(super) gbytes_per_s: f64,
    /// `modelled`.
    pub(super) basis: &'static str,
}

/// Each device's link, in both directions. Between two devices elements take both links.
pub(super) fn of_model(model: &Machine) -> Vec<Link> {
    let ways = model.devices.iter().flat_map(|device| {
        let host = || "host".to_owned();
        let link = |from: String, to: String| Link {
            from,
            to,
            latency_us: device.latency_us,
            gbytes_per_s: device.link_gbytes_per_s,
            basis: "modelled",
        };
        [link(host(), device.name.clone()), link(device.name.clone(), host())]
    });
    ways.collect()
}
