//! A program, its settings, and the expected values of its arrays: all from one seed.

use dahl_core::ndarray::Axis;
use dahl_core::{Result, Runtime, VirtualDevice};
use shuttle::thread;

use crate::kernels::{M, UNLUCKY, add_any, add_both, add_up, fill, mix, mix_self, scale};

const ARRAYS: usize = 3;
const ROWS: usize = 2;
const COLUMNS: usize = 2;
const LEN: usize = ROWS * COLUMNS;
/// The memory that an array takes, or a part of one.
const BLOCK_BYTES: usize = 64;

/// The value of an array: elements, or nothing because a task failed.
type Held = Option<[i64; LEN]>;

#[derive(Clone, Copy, Debug)]
enum Step {
    Scale(usize, i64),
    ScaleOn(usize, usize),
    Fill(usize, i64),
    Mix(usize, usize, usize),
    MixSelf(usize, usize),
    AddUp(usize, usize, usize),
    AddAny(usize, usize, usize),
    /// Commutes on the first two arrays, named in both orders, and on one of them alone between.
    AddBoth,
    ScaleParts(usize, usize),
    AddUpParts(usize, usize, usize),
    LeakParts(usize, usize),
    Nested(usize),
    Read(usize),
    Write(usize, i64),
    Replace(usize),
    InArena(usize, usize),
    TwoHosts,
    Wait,
}

/// How a program ends: it reads all arrays, or drops the arrays or the runtime first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Look,
    ArraysFirst,
    RuntimeFirst,
}

#[derive(Debug)]
struct Program {
    workers: usize,
    scheduler: &'static str,
    tasks_in_flight: usize,
    steps: Vec<Step>,
    end: End,
    /// For a simulated machine: the number of arrays that its device holds.
    room: Option<usize>,
}

/// Pseudo-random numbers (splitmix64; Steele, Lea and Flood, 2014).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }

    /// Two arrays.
    fn pair(&mut self) -> (usize, usize) {
        let first = self.below(ARRAYS);
        (first, (first + 1 + self.below(ARRAYS - 1)) % ARRAYS)
    }

    fn step(&mut self, workers: usize) -> Step {
        let (a, b) = self.pair();
        let axis = self.below(2);
        match self.below(24) {
            0..2 => Step::Scale(a, self.below(10) as i64),
            2 => Step::Scale(a, UNLUCKY),
            3 => Step::ScaleOn(a, self.below(workers)),
            4 => Step::Fill(a, self.below(10) as i64),
            5..7 => Step::Mix(b, if self.below(2) == 0 { b } else { 3 - a - b }, a),
            7 => Step::MixSelf(a, b),
            8..10 => Step::AddUp(a, b, 1 + self.below(6)),
            10 => Step::AddAny(a, b, 1 + self.below(3)),
            11..13 => Step::ScaleParts(a, axis),
            13 => Step::AddUpParts(a, b, axis),
            14 => Step::LeakParts(a, axis),
            15 => Step::Nested(a),
            16 => Step::Read(a),
            17 => Step::Write(a, self.below(10) as i64),
            18 => Step::Replace(a),
            19 => Step::InArena(a, 1 + self.below(2)),
            20 => Step::TwoHosts,
            21..23 => Step::AddBoth,
            _ => Step::Wait,
        }
    }
}

impl Program {
    fn new(seed: u64) -> Self {
        let mut numbers = Numbers(seed);
        let workers = 1 + numbers.below(2);
        // Schedulers with plans of their own come last.
        let schedulers = Runtime::schedulers().split_last().expect("there are some").1;
        let scheduler = schedulers[numbers.below(schedulers.len())];
        let tasks_in_flight = [1, 2, 3, 64][numbers.below(4)];
        let steps: Vec<Step> = (0..2 + numbers.below(5)).map(|_| numbers.step(workers)).collect();
        let fails = steps.iter().any(|step| matches!(step, Step::Scale(_, UNLUCKY)));
        // A runtime that is dropped prints failures that nobody has seen; avoid ten thousand of these.
        let end = if fails {
            End::Look
        } else {
            [End::Look, End::ArraysFirst, End::RuntimeFirst][numbers.below(3)]
        };
        let room = [None, None, Some(1 + numbers.below(6))][numbers.below(3)];
        Self { workers, scheduler, tasks_in_flight, steps, end, room }
    }
}

/// A description of the seed's program.
pub(crate) fn describe(seed: u64) -> String {
    format!("{:#?}", Program::new(seed))
}

/// Runs the seed's program, inside a schedule.
pub(crate) fn run(seed: u64) {
    execute(&Program::new(seed)).expect("every call is right");
}

fn execute(program: &Program) -> Result<()> {
    let mut builder = Runtime::builder()
        .cpu_workers(program.workers)
        .scheduler(program.scheduler)
        .tasks_in_flight(program.tasks_in_flight);
    if let Some(arrays) = program.room {
        let megabytes = (BLOCK_BYTES * arrays) as f64 / f64::from(1 << 20);
        builder = builder.virtual_device(VirtualDevice::new("gpu").memory_mb(megabytes));
    }
    let rt = builder.build()?;
    let new = || rt.zeros([ROWS, COLUMNS]);
    let mut arrays: [M<'static>; ARRAYS] = [new()?, new()?, new()?];
    let mut held: [Held; ARRAYS] = [Some([0; LEN]); ARRAYS];
    for step in &program.steps {
        predict(*step, &mut held);
        submit(*step, &rt, &mut arrays, &held)?;
    }
    match program.end {
        End::Look => {
            for (array, held) in arrays.iter().zip(&held) {
                assert_eq!(array.to_vec().ok().as_deref(), held.as_ref().map(|held| held.as_slice()));
            }
            while rt.wait().is_err() {}
        }
        End::ArraysFirst => drop(arrays),
        End::RuntimeFirst => drop(rt),
    }
    Ok(())
}

fn each(held: &mut Held, f: impl Fn(usize, i64) -> i64) {
    if let Some(held) = held {
        *held = std::array::from_fn(|i| f(i, held[i]));
    }
}

fn both(a: &Held, b: &Held, f: impl Fn(i64, i64) -> i64) -> Held {
    let (a, b) = (a.as_ref()?, b.as_ref()?);
    Some(std::array::from_fn(|i| f(a[i], b[i])))
}

fn predict(step: Step, held: &mut [Held; ARRAYS]) {
    match step {
        Step::Scale(a, UNLUCKY) => held[a] = None,
        Step::Scale(a, add) => each(&mut held[a], |_, x| 5 * x + add),
        Step::ScaleOn(a, worker) => each(&mut held[a], |_, x| 5 * x + worker as i64),
        Step::Fill(a, value) => held[a] = Some([value; LEN]),
        Step::Mix(a, b, out) => held[out] = both(&held[a], &held[b], |a, b| 3 * a + b),
        Step::MixSelf(a, b) => held[a] = both(&held[a], &held[b], |a, b| 3 * a + b),
        Step::AddUp(a, b, times) | Step::AddAny(a, b, times) => {
            held[b] = both(&held[a], &held[b], |a, b| b + times as i64 * a);
        }
        Step::AddBoth => {
            held[0] = both(&held[2], &held[0], |x, own| own + 2 * x);
            // A task that lacks an input, or the value of one of its outputs, leaves neither output with a value.
            held[1] = both(&held[2], &held[1], |x, own| own + 3 * x);
            if held[0].is_none() || held[1].is_none() {
                (held[0], held[1]) = (None, None);
            }
        }
        Step::AddUpParts(a, b, _) => held[b] = both(&held[a], &held[b], |a, b| b + a),
        Step::ScaleParts(a, axis) => each(&mut held[a], |i, x| 5 * x + index(i, axis)),
        Step::LeakParts(a, _) => each(&mut held[a], |_, x| 5 * x + 1),
        Step::Nested(a) => each(&mut held[a], |i, x| 5 * x + 10 * index(i, 0) + index(i, 1)),
        Step::Write(a, value) => each(&mut held[a], |_, _| value),
        Step::Replace(a) => held[a] = Some([0; LEN]),
        Step::InArena(a, times) => {
            // In each round: an array of 2, then 5 x 2 + 1 = 11, taken twice.
            each(&mut held[a], |_, x| x + 22 * times as i64);
        }
        Step::TwoHosts => {
            for (place, of_thread) in [(0, 1), (1, 2)] {
                each(&mut held[place], |_, x| 5 * x + of_thread);
                held[place] = both(&held[2], &held[place], |shared, own| own + shared);
            }
        }
        Step::Read(_) | Step::Wait => {}
    }
}

fn index(i: usize, axis: usize) -> i64 {
    (if axis == 0 { i / COLUMNS } else { i % COLUMNS }) as i64
}

/// Two arrays, the second mutable.
fn pick<'a>(
    arrays: &'a mut [M<'static>; ARRAYS],
    a: usize,
    b: usize,
) -> (&'a M<'static>, &'a mut M<'static>) {
    let [first, second] = arrays.get_disjoint_mut([a, b]).expect("two arrays");
    (first, second)
}

fn submit(step: Step, rt: &Runtime, arrays: &mut [M<'static>; ARRAYS], held: &[Held; ARRAYS]) -> Result<()> {
    match step {
        Step::Scale(a, add) => scale(&mut arrays[a], add, None)?,
        Step::ScaleOn(a, worker) => scale(&mut arrays[a], worker as i64, Some(worker))?,
        Step::Fill(a, value) => fill(&mut arrays[a], value)?,
        Step::Mix(a, b, out) => {
            let mut target = std::mem::replace(&mut arrays[out], rt.zeros([0, 0])?);
            mix(&arrays[a], &arrays[b], &mut target)?;
            arrays[out] = target;
        }
        Step::MixSelf(a, b) => {
            let (b, a) = pick(arrays, b, a);
            mix_self(a, b)?;
        }
        Step::AddUp(a, b, times) => {
            let (a, b) = pick(arrays, a, b);
            (0..times).try_for_each(|_| add_up(a, b))?;
        }
        Step::AddAny(a, b, times) => {
            let (a, b) = pick(arrays, a, b);
            (0..times).try_for_each(|_| add_any(a, b))?;
        }
        Step::AddBoth => {
            let [first, second, x] = arrays;
            add_both(x, first, second)?;
            add_any(x, second)?;
            add_both(x, second, first)?;
        }
        Step::ScaleParts(a, axis) => {
            for (i, part) in arrays[a].partition_mut(Axis(axis), 1)?.iter_mut().enumerate() {
                scale(part, i as i64, None)?;
            }
        }
        Step::AddUpParts(a, b, axis) => {
            let (a, b) = pick(arrays, a, b);
            let (from, mut to) = (a.partition(Axis(axis), 1)?, b.partition_mut(Axis(axis), 1)?);
            for (from, to) in from.iter().zip(to.iter_mut()) {
                add_up(from, to)?;
            }
        }
        Step::LeakParts(a, axis) => {
            std::mem::forget(arrays[a].partition(Axis(1 - axis), 1)?);
            let mut parts = arrays[a].partition_mut(Axis(axis), 1)?;
            for part in parts.iter_mut() {
                scale(part, 1, None)?;
            }
            std::mem::forget(parts);
        }
        Step::Nested(a) => {
            for (i, part) in arrays[a].partition_mut(Axis(0), 1)?.iter_mut().enumerate() {
                for (k, nested) in part.partition_mut(Axis(1), 1)?.iter_mut().enumerate() {
                    scale(nested, (10 * i + k) as i64, None)?;
                }
            }
        }
        Step::Read(a) => {
            let values = arrays[a].read().map(|guard| guard.iter().copied().collect::<Vec<_>>());
            assert_eq!(values.ok().as_deref(), held[a].as_ref().map(|held| held.as_slice()));
        }
        Step::Write(a, value) => {
            let written = arrays[a].write().map(|mut guard| guard.fill(value));
            assert_eq!(written.is_ok(), held[a].is_some());
        }
        Step::Replace(a) => arrays[a] = rt.zeros([ROWS, COLUMNS])?,
        Step::InArena(a, times) => in_arena(rt, &mut arrays[a], times)?,
        Step::TwoHosts => two_hosts(arrays, held),
        Step::Wait => {
            let _ = rt.wait();
        }
    }
    Ok(())
}

fn in_arena(rt: &Runtime, target: &mut M<'_>, times: usize) -> Result<()> {
    let mut arena = rt.arena();
    for _ in 0..times {
        let mut twos = arena.filled([ROWS, COLUMNS], 2)?;
        let mut zeros = arena.zeros([ROWS, COLUMNS])?;
        scale(&mut twos, 1, None)?;
        add_up(&twos, &mut zeros)?;
        add_up(&zeros, target)?;
        add_any(&twos, target)?;
        arena.reset();
    }
    Ok(())
}

/// Two threads submit on arrays of their own, read a common one, and check values.
fn two_hosts(arrays: &mut [M<'static>; ARRAYS], held: &[Held; ARRAYS]) {
    let [first, second, shared] = arrays;
    let shared = &*shared;
    thread::scope(|scope| {
        for (own, add, held) in [(first, 1, &held[0]), (second, 2, &held[1])] {
            scope.spawn(move || {
                scale(own, add, None).expect("the call is right");
                add_up(shared, own).expect("the call is right");
                assert_eq!(own.to_vec().ok().as_deref(), held.as_ref().map(|held| held.as_slice()));
            });
        }
    });
}
