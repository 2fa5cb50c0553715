//! Pipelines of stages: which layers of a network run on which machines, so that training is fastest.
//!
//! A pipeline divides a network into stages of consecutive layers. Each stage runs on one machine, or on several that take
//! turns with the minibatches. [`plan()`] computes the stages and replicas with the least seconds a minibatch, by the dynamic
//! program of PipeDream (Narayanan et al., "PipeDream: Generalized Pipeline Parallelism for DNN Training", SOSP 2019, section 3.1).
//! [`simulate`] runs such a plan in virtual time, and [`enumerate`] looks at all plans one by one.
//!
//! | part | what it does |
//! |---|---|
//! | `profile`, `cluster` | layers with times and sizes; levels of machines with bandwidths |
//! | `state` | the cuts at which stages may end |
//! | `cost` | the seconds of stages and transfers |
//! | `partition` | the dynamic program |
//! | `enumeration` | all plans, one by one |
//! | `simulation` | a plan with one forward and one backward pass in turn, as discrete events |
//!
//! `docs/plans.md` has the formulas.

mod cluster;
mod cost;
mod enumeration;
mod error;
mod partition;
mod profile;
mod simulation;
mod stage;
mod state;

pub use cluster::{Cluster, Level};
use cost::{Context, Costs};
pub use enumeration::{Enumeration, enumerate};
pub use error::Error;
use partition::Partition;
pub use profile::{Layer, Profile};
pub use simulation::{Simulation, simulate};
pub use stage::{Plan, Stage};
use state::States;

/// The pipeline with the least seconds a minibatch.
///
/// A stage of which one machine takes `t` seconds a minibatch, with `p` bytes of parameters, takes
/// `(t + 4 (m - 1) p / (m w bandwidth)) / m` seconds on `m` machines of `w` workers. A transfer of `a` bytes over a cut takes
/// `2 a / (m bandwidth)` at the end that has `m` machines, the one that sends as the one that receives. A pipeline takes the
/// most of its stages and transfers. A plan may leave machines unused.
///
/// ```
/// use dahl_plan::pipeline::{Cluster, Layer, Profile, plan};
///
/// let layer = |seconds, activation_bytes, parameter_bytes| Layer {
///     forward_seconds: seconds / 3.0,
///     backward_seconds: seconds * 2.0 / 3.0,
///     activation_bytes,
///     parameter_bytes,
///     ..Layer::default()
/// };
/// // A convolution with few parameters, and a linear layer with many.
/// let profile = Profile { layers: vec![layer(3.0, 1e6, 1e3), layer(1.0, 1e3, 1e9)], edges: vec![(0, 1)] };
/// let plan = plan(&profile, &Cluster::flat(4, 1e8))?;
/// assert_eq!(plan.stages.iter().map(|stage| stage.replicas).collect::<Vec<_>>(), [3, 1]);
/// # Ok::<(), dahl_plan::pipeline::Error>(())
/// ```
///
/// # Errors
/// If the profile or the cluster is not valid, if there are too many cuts, or if no plan keeps to the memory.
pub fn plan(profile: &Profile, cluster: &Cluster) -> Result<Plan, Error> {
    cluster.check()?;
    let states = States::new(profile)?;
    let costs = Costs { states: &states, cluster };
    let (level, end) = (cluster.levels.len(), states.states.len() - 1);
    let mut partition = Partition::new(&costs);
    let seconds = partition.seconds(level, Context::ALONE, 0, end);
    if seconds.is_infinite() {
        return Err(Error::Memory { memory: cluster.memory.unwrap_or(f64::INFINITY) });
    }
    let stages =
        if level == 0 { Vec::new() } else { partition.stages(level, Context::ALONE, Context::ALONE, 0, end) };
    let span = states.span(0, end);
    let one_worker_seconds = span.forward + span.backward;
    let data_parallel_seconds = (1..=level).fold(one_worker_seconds, |inner, level| {
        costs.stage(level, cluster.levels[level - 1].machines, inner, 0, end)
    });
    Ok(Plan { stages, seconds, one_worker_seconds, data_parallel_seconds })
}
