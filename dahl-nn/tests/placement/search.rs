//! [`search`]: the best static placement that simulated annealing finds.
//!
//! A placement is evaluated by running the program by it, on the same simulated machine as every scheduler: there is no
//! second model of the machine that could differ from the first.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use dahl::observer::ArrayId;
use dahl::{Runtime, RuntimeBuilder};

use super::graph::{Graph, Recorder};
use super::plan::{Plan, Planned};
use super::programs::{CPU_WORKERS, Program, Workers};

/// Workers of the machine: the last one is the device.
const WORKERS: usize = CPU_WORKERS + 1;

/// Schedulers whose placements are starting points of a search.
const SCHEDULERS: [&str; 4] = ["ws", "dmda", "dmdas", "heft"];

/// Temperatures, relative to the time of the best placement: the first and the last.
const TEMPERATURES: [f64; 2] = [0.01, 0.000_2];

/// Pseudorandom numbers, the same in every run (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// From 0 to 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct SearchResult {
    /// The best placement.
    pub plan: Plan,
    /// The duration of the program with it.
    pub ns: u64,
    /// Placements that were evaluated.
    pub evaluated: usize,
}

/// The duration of `program` with `plan`, in nanoseconds.
pub fn evaluate(program: Program, plan: &Plan) -> dahl::Result<u64> {
    let builder = Runtime::builder().custom_scheduler(Planned::new(plan.clone()));
    Ok(program.run(Workers::Both, builder)?.ns)
}

/// The duration of `program` if the device runs all tasks that it can.
pub fn on_device(program: Program) -> dahl::Result<u64> {
    let workers = vec![WORKERS - 1; graph(program)?.tasks.len()];
    evaluate(program, &Plan { workers, ranks: Vec::new() })
}

/// The tasks of `program`.
pub fn graph(program: Program) -> dahl::Result<Graph> {
    let recorder = Recorder::default();
    let builder = Runtime::builder().scheduler("eager").observer(Arc::new(recorder.clone()));
    program.run(Workers::Cpu, builder)?;
    Ok(recorder.graph())
}

/// The best of `evaluations` placements, by annealing from the best of some simple ones.
pub fn search(program: Program, seed: u64, evaluations: usize) -> dahl::Result<SearchResult> {
    let graph = graph(program)?;
    let mut random = Random(seed);
    let mut best: Option<(u64, Plan)> = None;
    let mut starts = starts(&graph, &mut random);
    for scheduler in SCHEDULERS {
        starts.push(of_scheduler(program, scheduler, graph.tasks.len())?);
    }
    starts.push(of_cpu_workers(program, graph.tasks.len())?);
    let mut evaluated = starts.len();
    for plan in starts {
        let ns = evaluate(program, &plan)?;
        if best.as_ref().is_none_or(|(best_ns, _)| ns < *best_ns) {
            best = Some((ns, plan));
        }
    }
    let (mut best_ns, mut best_plan) = best.expect("there are starts");
    let owned = tasks_of_arrays(&graph);
    let (mut ns, mut plan) = (best_ns, best_plan.clone());
    let first = evaluated;
    while evaluated < evaluations {
        let cooled = (evaluated - first) as f64 / (evaluations - first) as f64;
        let temperature = TEMPERATURES[0] * (TEMPERATURES[1] / TEMPERATURES[0]).powf(cooled);
        let changed = change(&plan, &owned, &mut random);
        let changed_ns = evaluate(program, &changed)?;
        evaluated += 1;
        let worse = (changed_ns as f64 - ns as f64) / best_ns as f64;
        if worse <= 0.0 || random.unit() < (-worse / temperature).exp() {
            (ns, plan) = (changed_ns, changed);
        }
        if ns < best_ns {
            (best_ns, best_plan) = (ns, plan.clone());
        }
    }
    Ok(SearchResult { plan: best_plan, ns: best_ns, evaluated })
}

/// The placement of only CPU workers, which take tasks as they become ready.
fn of_cpu_workers(program: Program, tasks: usize) -> dahl::Result<Plan> {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = folder.path().join("plan");
    program.run(Workers::Cpu, Runtime::builder().scheduler("eager").write_plan(&path))?;
    Ok(Plan::from_file(&path, tasks).expect("a run writes its plan"))
}

/// The placement that a scheduler makes.
fn of_scheduler(program: Program, scheduler: &str, tasks: usize) -> dahl::Result<Plan> {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let path = folder.path().join("plan");
    calibrated(program, folder.path(), |builder| builder.scheduler(scheduler).write_plan(&path))?;
    Ok(Plan::from_file(&path, tasks).expect("a run writes its plan"))
}

/// Runs `program` with performance models from earlier runs, which are stored in `folder`.
pub fn calibrated(
    program: Program,
    folder: &Path,
    settings: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder,
) -> dahl::Result<u64> {
    let builder = || Runtime::builder().performance_dir(folder);
    program.run(Workers::Both, builder().scheduler("dm").calibrate(true))?;
    for _ in 0..3 {
        program.run(Workers::Both, builder().scheduler("dmda"))?;
    }
    Ok(program.run(Workers::Both, settings(builder()))?.ns)
}

/// Starting points beside those of schedulers: everything on the device, everything on CPU workers, and the writers of
/// a fraction of the arrays on each, both in the order of submission and with the longest chain first.
fn starts(graph: &Graph, random: &mut Random) -> Vec<Plan> {
    let tasks = graph.tasks.len();
    let by_depth: Vec<i64> = graph.depths().iter().map(|depth| -depth).collect();
    let in_order: Vec<i64> = (0..tasks as i64).collect();
    let mut plans = Vec::new();
    for ranks in [in_order, by_depth] {
        let mut add = |worker_of: &mut dyn FnMut(usize) -> usize| {
            plans.push(Plan { workers: (0..tasks).map(worker_of).collect(), ranks: ranks.clone() });
        };
        add(&mut |_| WORKERS - 1);
        add(&mut |number| number % CPU_WORKERS);
        for of_ten in 1..6 {
            let mut owners = HashMap::new();
            add(&mut |number| {
                let share = |random: &mut Random| {
                    if random.below(10) < of_ten { random.below(CPU_WORKERS) } else { WORKERS - 1 }
                };
                *owners.entry(graph.tasks[number].writes).or_insert_with(|| share(random))
            });
        }
    }
    plans
}

/// The tasks that write each array.
fn tasks_of_arrays(graph: &Graph) -> Vec<Vec<usize>> {
    let mut owned: HashMap<Option<ArrayId>, Vec<usize>> = HashMap::new();
    for (number, node) in graph.tasks.iter().enumerate() {
        owned.entry(node.writes).or_default().push(number);
    }
    let mut owned: Vec<_> = owned.into_values().collect();
    owned.sort();
    owned
}

/// A neighbour of `plan`: moves a task or the end of an array's chain of tasks to another worker, exchanges the workers
/// of two tasks, or changes the rank of a task.
fn change(plan: &Plan, owned: &[Vec<usize>], random: &mut Random) -> Plan {
    let mut plan = plan.clone();
    let tasks = plan.workers.len();
    let task = random.below(tasks);
    let worker = random.below(WORKERS);
    match random.below(8) {
        0..3 => plan.workers[task] = worker,
        3..5 => {
            let chain = &owned[random.below(owned.len())];
            let start = if random.below(2) == 0 { 0 } else { random.below(chain.len()) };
            chain[start..].iter().for_each(|&task| plan.workers[task] = worker);
        }
        5 => plan.workers.swap(task, random.below(tasks)),
        6 => plan.ranks[task] = plan.ranks[random.below(tasks)],
        _ => {
            let near = (task + 1 + random.below(8)) % tasks;
            plan.workers.swap(task, near);
        }
    }
    plan
}
