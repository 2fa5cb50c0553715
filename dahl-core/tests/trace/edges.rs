//! Random programs: the dependencies in their traces are those that an oracle finds, and times respect them.

use std::collections::{HashMap, HashSet};

use dahl_core::ndarray::Axis;
use dahl_core::{AccessMode, Machine, Reduction, Result, Runtime, RuntimeBuilder, VirtualDevice};
use proptest::prelude::*;

use crate::trace::exact::assert_tiled;
use crate::trace::file::{File, Folder, ns};
use crate::trace::kernels::{M, add_any, add_up, fill, join, mix, mix_self, step};
use crate::trace::oracle::{ArrayIndex, Before, Oracle, closure};

const ARRAYS: usize = 3;
const SIDE: usize = 4;
const REDUX: AccessMode = AccessMode::REDUX(Reduction::Sum);

#[derive(Clone, Debug)]
enum Action {
    Step(usize),
    Fill(usize),
    Join(usize, usize),
    Mix(usize, usize, usize),
    MixSelf(usize, usize),
    AddAny(usize, usize),
    /// Adds the given number of contributions.
    AddUp(usize, usize, usize),
    /// Changes every part.
    StepParts(usize, usize, usize),
    /// Parts of parts.
    StepNested(usize, usize),
    /// Reads the parts of one, and its whole in between, and changes the parts of the other.
    JoinParts(usize, usize, usize),
    /// Reads the parts and forgets them.
    LeakParts(usize, usize, usize),
    /// Contributes parts to parts.
    AddUpParts(usize, usize, usize),
    HostReads(usize),
    HostWrites(usize),
    Replace(usize),
    Wait,
}

fn actions(with_reductions: bool) -> impl Strategy<Value = Vec<Action>> {
    use Action::*;
    let array = || 0..ARRAYS;
    let axis = || 0..2_usize;
    let pair = || (array(), 1..ARRAYS).prop_map(|(a, distance)| (a, (a + distance) % ARRAYS));
    let triple = (array(), 1..ARRAYS, 1..ARRAYS)
        .prop_map(|(out, a, b)| Mix((out + a) % ARRAYS, (out + b) % ARRAYS, out));
    let plain = prop_oneof![
        array().prop_map(Step),
        array().prop_map(Fill),
        pair().prop_map(|(a, b)| Join(a, b)),
        triple,
        pair().prop_map(|(a, b)| MixSelf(a, b)),
        pair().prop_map(|(a, b)| AddAny(a, b)),
        (array(), axis(), 1..4_usize).prop_map(|(a, axis, chunk)| StepParts(a, axis, chunk)),
        (array(), axis()).prop_map(|(a, axis)| StepNested(a, axis)),
        (pair(), axis()).prop_map(|((a, b), axis)| JoinParts(a, b, axis)),
        (pair(), axis()).prop_map(|((a, b), axis)| LeakParts(a, b, axis)),
        array().prop_map(HostReads),
        array().prop_map(HostWrites),
        array().prop_map(Replace),
        Just(Wait),
    ];
    let reductions = prop_oneof![
        (pair(), 1..12_usize).prop_map(|((a, b), times)| AddUp(a, b, times)),
        (pair(), axis()).prop_map(|((a, b), axis)| AddUpParts(a, b, axis)),
    ];
    let action = prop_oneof![6 => plain, u32::from(with_reductions) * 2 => reductions];
    prop::collection::vec(action, 1..40)
}

/// The arrays of a program, and their indices in the oracle.
struct World<'r> {
    rt: &'r Runtime,
    arrays: [M<'static>; ARRAYS],
    places: [ArrayIndex; ARRAYS],
    oracle: Oracle,
}

fn pick<'a>(
    arrays: &'a mut [M<'static>; ARRAYS],
    a: usize,
    b: usize,
) -> (&'a M<'static>, &'a mut M<'static>) {
    let [first, second] = arrays.get_disjoint_mut([a, b]).expect("two arrays");
    (first, second)
}

impl<'r> World<'r> {
    fn new(rt: &'r Runtime) -> Result<Self> {
        let mut oracle = Oracle::default();
        let places = std::array::from_fn(|_| oracle.array());
        let arrays = [rt.zeros([SIDE, SIDE])?, rt.zeros([SIDE, SIDE])?, rt.zeros([SIDE, SIDE])?];
        Ok(Self { rt, arrays, places, oracle })
    }

    fn run(&mut self, action: &Action) -> Result<()> {
        use AccessMode::{COMMUTE, R, RW, W};
        use Action::*;
        let Self { rt, arrays, places, oracle } = self;
        match *action {
            Step(a) => {
                step(&mut arrays[a]).submit()?;
                oracle.task(&[(places[a], RW)]);
            }
            Fill(a) => {
                fill(&mut arrays[a], 1).submit()?;
                oracle.task(&[(places[a], W)]);
            }
            Join(a, b) => {
                let (from, to) = pick(arrays, a, b);
                join(from, to).submit()?;
                oracle.task(&[(places[a], R), (places[b], RW)]);
            }
            Mix(a, b, c) => {
                let mut out = std::mem::replace(&mut arrays[c], rt.zeros([0, 0])?);
                mix(&arrays[a], &arrays[b], &mut out).submit()?;
                arrays[c] = out;
                oracle.task(&[(places[a], R), (places[b], R), (places[c], W)]);
            }
            MixSelf(a, b) => {
                let (from, to) = pick(arrays, b, a);
                mix_self(to, from).submit()?;
                oracle.task(&[(places[a], RW), (places[b], R)]);
            }
            AddAny(a, b) => {
                let (from, to) = pick(arrays, a, b);
                add_any(from, to).submit()?;
                oracle.task(&[(places[a], R), (places[b], COMMUTE)]);
            }
            AddUp(a, b, times) => {
                let (from, to) = pick(arrays, a, b);
                for _ in 0..times {
                    add_up(from, to).submit()?;
                    oracle.task(&[(places[a], R), (places[b], REDUX)]);
                }
            }
            HostReads(a) => {
                let _ = arrays[a].read()?;
                oracle.host_reads(places[a]);
            }
            HostWrites(a) => {
                arrays[a].write()?.fill(2);
                oracle.host_writes(places[a]);
            }
            Replace(a) => {
                arrays[a] = rt.zeros([SIDE, SIDE])?;
                places[a] = oracle.array();
            }
            Wait => rt.wait()?,
            _ => self.run_on_parts(action)?,
        }
        Ok(())
    }

    fn run_on_parts(&mut self, action: &Action) -> Result<()> {
        use AccessMode::{R, RW};
        use Action::*;
        let Self { arrays, places, oracle, .. } = self;
        match *action {
            StepParts(a, axis, chunk) => {
                let mut parts = arrays[a].partition_mut(Axis(axis), chunk)?;
                let of_parts = oracle.open(places[a], parts.len(), false);
                for (part, place) in parts.iter_mut().zip(of_parts) {
                    step(part).submit()?;
                    oracle.task(&[(place, RW)]);
                }
            }
            StepNested(a, axis) => {
                let mut parts = arrays[a].partition_mut(Axis(axis), 2)?;
                let of_parts = oracle.open(places[a], parts.len(), false);
                for (part, place) in parts.iter_mut().zip(of_parts) {
                    let mut nested = part.partition_mut(Axis(1 - axis), 2)?;
                    let of_nested = oracle.open(place, nested.len(), false);
                    for (part, place) in nested.iter_mut().zip(of_nested) {
                        step(part).submit()?;
                        oracle.task(&[(place, RW)]);
                    }
                }
            }
            JoinParts(a, b, axis) => {
                let (from, to) = pick(arrays, a, b);
                let from_parts = from.partition_into(Axis(axis), 2)?;
                let from_places = oracle.open(places[a], 2, true);
                let mut to_parts = to.partition_into_mut(Axis(axis), 2)?;
                let to_places = oracle.open(places[b], 2, false);
                let all = from_parts.iter().zip(from_places).zip(to_parts.iter_mut().zip(to_places));
                for ((from, from_place), (to, to_place)) in all {
                    join(from, to).submit()?;
                    oracle.task(&[(from_place, R), (to_place, RW)]);
                }
                join(from, to).submit()?; // the whole, beside its parts
                oracle.task(&[(places[a], R), (places[b], RW)]);
                drop(from_parts);
                oracle.close_shared(places[a]);
            }
            LeakParts(a, b, axis) => {
                let (from, to) = pick(arrays, a, b);
                let [mut one, mut two] = [self.rt.zeros([2, SIDE])?, self.rt.zeros([SIDE, 2])?];
                let parts = from.partition_into(Axis(axis), 2)?;
                let of_parts = oracle.open(places[a], 2, true);
                let out = if axis == 0 { &mut one } else { &mut two };
                let place = oracle.array();
                for (part, of_part) in parts.iter().zip(of_parts) {
                    join(part, out).submit()?;
                    oracle.task(&[(of_part, R), (place, RW)]);
                }
                std::mem::forget(parts);
                join(from, to).submit()?;
                oracle.task(&[(places[a], R), (places[b], RW)]);
            }
            AddUpParts(a, b, axis) => {
                let (from, to) = pick(arrays, a, b);
                let from_parts = from.partition_into(Axis(axis), 2)?;
                let from_places = oracle.open(places[a], 2, true);
                let mut to_parts = to.partition_into_mut(Axis(axis), 2)?;
                let to_places = oracle.open(places[b], 2, false);
                for _ in 0..5 {
                    let all = from_parts.iter().zip(&from_places).zip(to_parts.iter_mut().zip(&to_places));
                    for ((from, &from_place), (to, &to_place)) in all {
                        add_up(from, to).submit()?;
                        oracle.task(&[(from_place, R), (to_place, REDUX)]);
                    }
                }
                drop(from_parts);
                oracle.close_shared(places[a]);
            }
            _ => unreachable!("done with whole arrays"),
        }
        Ok(())
    }
}

/// Runs a program; returns its trace, and the oracle.
fn run(builder: RuntimeBuilder, actions: &[Action]) -> Result<(File, Oracle)> {
    let folder = Folder::new();
    let rt = builder.trace(folder.path()).build()?;
    let mut world = World::new(&rt)?;
    for action in actions {
        world.run(action)?;
    }
    let oracle = world.oracle;
    drop(world.arrays);
    drop(rt);
    Ok((folder.read(), oracle))
}

/// The tasks before each task of the program, by the trace, without tasks that the runtime added.
fn before(file: &File) -> Before {
    let tasks = file.tasks();
    let place: HashMap<u64, usize> =
        tasks.iter().enumerate().map(|(place, (task, _))| (task.task, place)).collect();
    let of_all =
        closure(tasks.len(), |later| tasks[later].0.after.iter().map(|earlier| place[earlier]).collect());
    let is_added = |kernel: Option<&str>| matches!(kernel, Some("fold" | "finish"));
    let own: Vec<usize> =
        (0..tasks.len()).filter(|&task| !is_added(tasks[task].0.kernel.as_deref())).collect();
    own.iter().map(|&task| own.iter().map(|&earlier| of_all[task][earlier]).collect()).collect()
}

/// Checks that times respect dependencies, that each dependency has an arrow, and that no worker does two things at the
/// same time.
pub(crate) fn assert_times(file: &File) {
    let tasks: HashMap<u64, _> =
        file.tasks().into_iter().map(|(task, slice)| (task.task, (task, slice))).collect();
    let (tails, heads) = file.arrows();
    let mut arrows: HashMap<u64, _> = tails.iter().map(|tail| (tail.id, *tail)).collect();
    assert_eq!((arrows.len(), heads.len()), (tails.len(), tails.len()), "an arrow has one tail and one head");
    let mut pairs = HashSet::new();
    for head in &heads {
        let tail = arrows.remove(&head.id).expect("an arrow has a tail");
        pairs.insert((tail.tid, ns(tail.ts), head.tid, ns(head.ts)));
    }
    let mut expected = 0;
    for (task, slice) in tasks.values() {
        let times = [task.submitted_us, task.ready_us, task.taken_us, slice.ts].map(ns);
        assert!(times.is_sorted(), "{task:?}");
        for earlier in &task.after {
            let (_, before) = tasks[earlier];
            let end_ns = ns(before.ts) + ns(before.dur);
            assert!(end_ns <= ns(slice.ts) && end_ns <= ns(task.ready_us), "{earlier} before {task:?}");
            let tail_ns = ns(before.ts).max(end_ns.saturating_sub(1));
            let is_there = pairs.contains(&(before.tid, tail_ns, slice.tid, ns(slice.ts)));
            assert!(is_there, "no arrow from {earlier} to {task:?}");
            expected += 1;
        }
    }
    assert_eq!(heads.len(), expected, "an arrow for each dependency, and no other");
    for (pid, tid, ..) in file.workers() {
        let of_worker = file.slices().filter(|slice| (slice.pid, slice.tid) == (pid, tid));
        let mut spans: Vec<_> = of_worker.map(|slice| (ns(slice.ts), ns(slice.ts) + ns(slice.dur))).collect();
        spans.sort_unstable();
        assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0), "worker {tid} does two things at once");
    }
}

fn check(builder: RuntimeBuilder, actions: &[Action], is_virtual: bool) {
    let (file, oracle) = run(builder, actions).expect("the program runs");
    assert!(file.is_whole);
    assert_times(&file);
    if is_virtual {
        assert_tiled(&file);
    }
    let (seen, least, most) = (before(&file), oracle.before(false), oracle.before(true));
    assert_eq!(seen.len(), least.len(), "each task has a slice");
    for (later, ((seen, least), most)) in seen.iter().zip(&least).zip(&most).enumerate() {
        for earlier in 0..later {
            let (seen, least, most) = (seen[earlier], least[earlier], most[earlier]);
            assert!(seen || !least, "task {earlier} comes before {later}, and the trace does not say so");
            assert!(most || !seen, "task {earlier} need not come before {later}, and the trace says so");
        }
    }
}

fn simulated() -> RuntimeBuilder {
    let machine = Machine { devices: vec![VirtualDevice::new("gpu")], ..Machine::default() };
    Runtime::builder().cpu_workers(2).virtual_machine(machine)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Without reductions, the oracle knows the exact order.
    #[test]
    fn dependencies_are_those_of_the_program(actions in actions(false)) {
        check(Runtime::builder().cpu_workers(3), &actions, false);
        check(simulated().scheduler("dmda"), &actions, true);
    }

    /// With reductions, it knows which tasks must come before others, and which may: contributions may wait for
    /// buffers.
    #[test]
    fn dependencies_of_reductions_are_those_of_the_program(actions in actions(true)) {
        check(Runtime::builder().cpu_workers(3).scheduler("lws"), &actions, false);
        check(simulated().scheduler("eager"), &actions, true);
    }
}
