//! The energy of a run: measured by meters whose truth is known, simulated, or unavailable.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dahl_core::energy::{Absence, Domain, EnergyMeter, Fault, Joules, Meters, Part, Reading, Source};
use dahl_core::perf::StoredModels;
use dahl_core::{EnergyEstimate, EnergyStatistics, Result, Runtime, RuntimeBuilder};
use dahl_trace::Trace;

use crate::statistics::kernels::{V, fill, step};
use crate::statistics::{LEN, machine, real};

const IDLE_WATTS: f64 = 7.0;
const JOULES_OF_STEP: f64 = 2.0;
const JOULES_OF_FILL: f64 = 0.25;

/// A machine whose tasks the test counts, and whose counters are exact.
#[derive(Default)]
struct Truth {
    steps: AtomicU64,
    fills: AtomicU64,
}

/// Its meter: the host with its cores, and the wall.
struct Exact(Arc<Truth>);

impl EnergyMeter for Exact {
    fn name(&self) -> &str {
        "exact"
    }

    fn domains(&self) -> Vec<Domain> {
        let cores = Domain { within: Some(0), ..Domain::new("package-0 core", Part::Host) };
        vec![Domain::new("package-0", Part::Host), cores, Domain::new("wall", Part::Machine)]
    }

    fn read(&mut self, at: Duration) -> Vec<std::result::Result<Reading, Fault>> {
        let [steps, fills] = [&self.0.steps, &self.0.fills].map(|count| count.load(Ordering::Relaxed) as f64);
        let tasks = JOULES_OF_STEP * steps + JOULES_OF_FILL * fills;
        let host = 100.0 + IDLE_WATTS * at.as_secs_f64() + tasks;
        [host, tasks, 2.0 * host].map(|joules| Ok(Reading::new(joules))).into()
    }
}

impl Truth {
    fn meters(self: &Arc<Self>) -> Meters {
        Meters::new(vec![Box::new(Exact(Arc::clone(self)))])
    }

    /// Runs so many tasks, and counts them.
    fn run(&self, rt: &Runtime, x: &mut V<'_>, steps: u64, fills: u64) -> Result<()> {
        (0..steps).try_for_each(|_| step(x, None))?;
        (0..fills).try_for_each(|_| fill(x, 1, None))?;
        rt.wait()?;
        self.steps.fetch_add(steps, Ordering::Relaxed);
        self.fills.fetch_add(fills, Ordering::Relaxed);
        Ok(())
    }
}

fn measured() -> (Arc<Truth>, RuntimeBuilder) {
    let truth = Arc::<Truth>::default();
    let builder = real(2).energy_meters(truth.meters());
    (truth, builder)
}

fn absence(joules: &Joules) -> &Absence {
    joules.absence().unwrap_or_else(|| panic!("it is known: {joules}"))
}

fn value(joules: &Joules) -> f64 {
    joules.value().unwrap_or_else(|| panic!("it is not known: {joules}"))
}

#[test]
fn meters_measure_the_run_and_its_memory_node() -> Result<()> {
    let (truth, builder) = measured();
    let rt = builder.build()?;
    let mut x = rt.zeros([LEN])?;
    truth.run(&rt, &mut x, 10, 0)?;
    let statistics = rt.statistics();
    let EnergyStatistics { run, nodes, domains, .. } = &statistics.energy;
    assert_eq!((nodes.len(), nodes[0].node, &*nodes[0].name), (1, 0, "host"));
    assert_eq!(run, &nodes[0].energy);
    assert!(value(run) > 20.0 && statistics.energy_joules == run.value(), "{run}");
    assert_eq!(run.source(), &Source::Measured { by: "exact".to_owned(), longest_gap_s: None });
    let names: Vec<_> = domains.iter().map(|domain| (&*domain.name, domain.within.as_deref())).collect();
    assert_eq!(names, [("package-0", None), ("package-0 core", Some("package-0")), ("wall", None)]);
    assert_eq!(value(&domains[1].energy), 20.0);
    assert!(value(&domains[2].energy) > 2.0 * 20.0, "the wall is shown, and not added");
    let text = statistics.to_string();
    for part in [" J measured by exact", "mean power", "    package-0 core  20.00 J", "\n  energy "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    Ok(())
}

#[test]
fn energy_is_counted_from_any_mark() -> Result<()> {
    let (truth, builder) = measured();
    let rt = builder.build()?;
    let mut x = rt.zeros([LEN])?;
    truth.run(&rt, &mut x, 10, 0)?;
    let mark = rt.energy_mark();
    truth.run(&rt, &mut x, 3, 0)?;
    let energy = value(&rt.energy_since(&mark));
    assert!((3.0 * JOULES_OF_STEP..value(&rt.statistics().energy.run) - 20.0).contains(&energy), "{energy}");
    let rt = machine(1).build()?;
    let mut x = rt.zeros([LEN])?;
    step(&mut x, 0)?;
    rt.wait()?;
    let mark = rt.energy_mark();
    step(&mut x, 0)?;
    rt.wait()?;
    let joules = rt.energy_since(&mark);
    assert!((value(&joules) - 240e-6).abs() < 1e-15 && joules.source() == &Source::Simulated, "{joules}");
    let off = real(1).energy_interval(Duration::ZERO).build()?;
    assert_eq!(&*absence(&off.energy_since(&off.energy_mark())).reason, "energy_interval is 0");
    Ok(())
}

#[test]
fn a_run_without_a_meter_says_why() -> Result<()> {
    let rt = real(1).build()?;
    let statistics = rt.statistics();
    let told = absence(&statistics.energy.run);
    assert_eq!(&*told.reason, "no meter measures the processors and the main memory");
    assert_eq!(statistics.energy_joules, None);
    let line = format!("  the energy of host is unavailable: {told}\n");
    assert!(statistics.to_string().ends_with(&line), "{statistics}");
    assert!(statistics.energy.estimates.is_empty() && rt.energy_estimates().is_empty());
    Ok(())
}

#[test]
fn energy_that_is_not_wanted_is_not_measured() -> Result<()> {
    let (_, builder) = measured();
    let rt = builder.energy_interval(Duration::ZERO).build()?;
    assert_eq!(&*absence(&rt.statistics().energy.run).reason, "energy_interval is 0");
    Ok(())
}

#[test]
fn simulated_energy_is_the_models() -> Result<()> {
    let rt = machine(1).build()?;
    let mut x = rt.zeros([LEN])?;
    step(&mut x, 0)?;
    rt.wait()?;
    let energy = rt.statistics().energy;
    // 4 us at 10 W, and at 50 W.
    let nodes: Vec<_> = energy.nodes.iter().map(|node| (&*node.name, node.energy.clone())).collect();
    assert_eq!(nodes, [("host", Joules::simulated(40e-6)), ("gpu", Joules::simulated(200e-6))]);
    assert_eq!(energy.run, Joules::simulated(240e-6));
    assert!(energy.domains.is_empty() && energy.estimates.is_empty());
    let unknown = dahl_core::VirtualDevice::new("npu");
    let energy = machine(1).virtual_device(unknown).build()?.statistics().energy;
    assert_eq!(&*absence(&energy.run).reason, "the machine's model has no power of `npu`");
    assert_eq!(energy.nodes[0].energy.source(), &Source::Simulated, "what is known is told");
    Ok(())
}

/// The estimates by the codelets' names; none for idle power.
fn estimate(estimates: &[EnergyEstimate], name: Option<&str>) -> EnergyEstimate {
    let is_it = |estimate: &&EnergyEstimate| {
        let own = estimate.codelet.as_deref().map(|own| own.rsplit("::").next().expect("a name"));
        own == name
    };
    estimates.iter().find(is_it).unwrap_or_else(|| panic!("{name:?}: {estimates:?}")).clone()
}

/// Windows with different numbers of tasks, each of which ends when the statistics are asked for.
fn windows(truth: &Truth, rt: &Runtime, x: &mut V<'_>) -> Result<()> {
    for (steps, fills) in [(1, 9), (30, 2), (4, 40), (11, 11), (25, 3), (2, 17), (16, 30), (7, 1)] {
        truth.run(rt, x, steps, fills)?;
        rt.statistics();
    }
    Ok(())
}

#[track_caller]
fn is_the_truth(estimates: &[EnergyEstimate], windows: u64) {
    for (name, joules) in [("step", JOULES_OF_STEP), ("fill", JOULES_OF_FILL)] {
        let estimate = estimate(estimates, Some(name));
        assert!((estimate.value - joules).abs() < 1e-3 * joules, "{estimate:?}");
        let (low, high) = estimate.interval.expect("the codelets can be told apart");
        assert!(low <= estimate.value && estimate.value <= high && high - low < 0.1 * joules, "{estimate:?}");
        assert_eq!((&*estimate.worker_kind, estimate.windows), ("cpu", windows));
    }
}

#[test]
fn the_energy_of_each_codelet_is_found_by_regression() -> Result<()> {
    let (truth, builder) = measured();
    let rt = builder.build()?;
    let mut x = rt.zeros([LEN])?;
    windows(&truth, &rt, &mut x)?;
    is_the_truth(&rt.energy_estimates(), 8);
    let text = rt.statistics().to_string();
    assert!(text.contains("energy by regression") && text.contains("statistics::kernels::step"), "{text}");
    Ok(())
}

fn runs_on(folder: &Path, calibrates: bool) -> Result<(Arc<Truth>, Runtime)> {
    let (truth, builder) = measured();
    // Longer than the test: windows end when it asks for statistics.
    let interval = Duration::from_secs(3600);
    let rt = builder.performance_dir(folder).energy_interval(interval).calibrate(calibrates).build()?;
    Ok((truth, rt))
}

#[test]
fn the_energy_of_codelets_is_stored_with_the_performance_models() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    for run in 1..=2 {
        let (truth, rt) = runs_on(folder.path(), false)?;
        let mut x = rt.zeros([LEN])?;
        windows(&truth, &rt, &mut x)?;
        is_the_truth(&rt.energy_estimates(), 8 * run);
        rt.save_performance_models()?;
        is_the_truth(&rt.energy_estimates(), 8 * run);
    }
    let stored = StoredModels::read(folder.path())?;
    assert!(stored.unusable.is_empty(), "{:?}", stored.unusable);
    is_the_truth(&stored.machines[0].energies, 16);
    let (truth, rt) = runs_on(folder.path(), true)?;
    let mut x = rt.zeros([LEN])?;
    windows(&truth, &rt, &mut x)?;
    is_the_truth(&rt.energy_estimates(), 8);
    rt.save_performance_models()?;
    is_the_truth(&StoredModels::read(folder.path())?.machines[0].energies, 8);
    Ok(())
}

#[test]
fn a_file_of_energies_that_is_damaged_is_set_aside() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let (truth, rt) = runs_on(folder.path(), false)?;
    let mut x = rt.zeros([LEN])?;
    windows(&truth, &rt, &mut x)?;
    rt.save_performance_models()?;
    let file = StoredModels::read(folder.path())?.machines[0].folder.join("energy.toml");
    let text = std::fs::read_to_string(&file).expect("it was written");
    std::fs::write(&file, text.replace("count = 8", "count = 8\nkind = 1")).expect("it can be written");
    assert!(StoredModels::read(folder.path())?.unusable[0].fact.contains("kind"));
    let (_, rt) = runs_on(folder.path(), false)?;
    assert!(rt.performance_warnings()[0].contains("energy.toml"), "{:?}", rt.performance_warnings());
    assert!(rt.energy_estimates().is_empty() && file.with_extension("toml.corrupt").exists());
    Ok(())
}

#[test]
fn a_trace_has_the_power_of_each_domain_and_the_energy_of_the_run() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.json");
    let (truth, builder) = measured();
    let rt = builder.trace(&path).energy_interval(Duration::from_millis(1)).build()?;
    let mut x = rt.zeros([LEN])?;
    truth.run(&rt, &mut x, 10, 0)?;
    drop((x, rt));
    let trace = Trace::read(&path).expect("it is a trace");
    let energy = trace.energy().expect("the run is complete");
    assert_eq!((energy.nodes.len(), energy.domains.len()), (1, 3));
    for domain in &energy.domains {
        let samples = trace.power().iter().filter(|sample| *sample.domain == *domain.name);
        let joules: f64 = samples.map(|sample| sample.watts * sample.duration_ns as f64 / 1e9).sum();
        assert!((joules - value(&domain.energy)).abs() < 1e-9 * joules, "{joules} J of {domain:?}");
    }
    assert_eq!(value(&energy.domains[1].energy), 20.0);
    assert!(trace.power().iter().all(|sample| sample.node == 0));
    Ok(())
}

#[test]
fn a_simulated_trace_has_the_energy_of_the_model() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.json");
    let rt = machine(1).trace(&path).build()?;
    let mut x = rt.zeros([LEN])?;
    step(&mut x, 0)?;
    rt.wait()?;
    drop((x, rt));
    let trace = Trace::read(&path).expect("it is a trace");
    let energy = trace.energy().expect("the run is complete");
    assert_eq!((&energy.run, energy.nodes[1].node), (&Joules::simulated(240e-6), 1));
    assert!(trace.power().is_empty() && energy.domains.is_empty());
    Ok(())
}
