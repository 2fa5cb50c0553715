//! The energy of a run, and of its parts.

use super::{EnergyPart, EnergySummary};
use crate::trace::Trace;
use dahl_energy::Joules;

pub(super) fn summarized(trace: &Trace) -> Option<EnergySummary> {
    let energy = trace.energy()?;
    let seconds = trace.duration_ns() as f64 / 1e9;
    let part = |name: &str, within: Option<&String>, energy: &Joules| EnergyPart {
        name: name.to_owned(),
        within: within.cloned(),
        mean_watts: energy.value().filter(|_| seconds > 0.0).map(|joules| joules / seconds),
        energy: energy.clone(),
    };
    let nodes = energy.nodes.iter();
    let domains = energy.domains.iter();
    Some(EnergySummary {
        run: energy.run.clone(),
        nodes: nodes.map(|node| part(trace.node_name(node.node), None, &node.energy)).collect(),
        domains: domains.map(|domain| part(&domain.name, domain.within.as_ref(), &domain.energy)).collect(),
    })
}
