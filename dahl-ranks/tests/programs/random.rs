//! Random programs on 1 to 4 ranks give the bits of the sequential program on plain vectors.

use dahl_core::{Result, Runtime};

use super::kernels::{V, mix, scale, sum};
use crate::launch::on_ranks;

const ARRAYS: usize = 5;

#[derive(Clone, Copy, Debug)]
enum Action {
    Mix(usize, usize, usize, Option<usize>),
    Scale(usize, f32, Option<usize>),
    Sum(usize, usize),
    Read(usize),
    Write(usize, f32),
    Replace(usize),
    Wait,
}

fn program(random: &mut fastrand::Rng, ranks: usize) -> Vec<Action> {
    let len = random.usize(1..60);
    let action = |_| {
        let array = random.usize(..ARRAYS);
        let (next, last) = ((array + random.usize(1..3)) % ARRAYS, (array + random.usize(3..5)) % ARRAYS);
        let rank = (random.u8(..4) == 0).then(|| random.usize(..ranks));
        match random.u8(..16) {
            0..5 => Action::Mix(array, next, last, rank),
            5..8 => Action::Scale(array, random.f32(), rank),
            8..12 => Action::Sum(array, next),
            12 => Action::Read(array),
            13 => Action::Write(array, random.f32()),
            14 => Action::Replace(array),
            _ => Action::Wait,
        }
    };
    (0..len).map(action).collect()
}

/// The arrays at these places.
fn take<const N: usize>(arrays: &mut [V], at: [usize; N]) -> [&mut V; N] {
    arrays.get_disjoint_mut(at).expect("they differ")
}

/// Runs it on a runtime, and returns all values that were read, and those at the end.
fn on_runtime(rt: &Runtime, program: &[Action], len: usize) -> Result<Vec<Vec<u32>>> {
    let new = |array: usize| rt.from_vec([len], (0..len).map(|i| (array * 10 + i) as f32 * 0.1).collect());
    let mut arrays: Vec<V> = (0..ARRAYS).map(new).collect::<Result<_>>()?;
    let mut read = Vec::new();
    for action in program {
        match *action {
            Action::Mix(a, b, out, rank) => {
                let [a, b, out] = take(&mut arrays, [a, b, out]);
                mix(a, b, out, rank)?;
            }
            Action::Scale(x, add, rank) => scale(&mut arrays[x], add, rank)?,
            Action::Sum(x, out) => {
                let [x, out] = take(&mut arrays, [x, out]);
                sum(x, out)?;
            }
            Action::Read(x) => read.push(bits(&arrays[x].to_vec()?)),
            Action::Write(x, value) => arrays[x].write()?.iter_mut().for_each(|x| *x += value),
            Action::Replace(x) => arrays[x] = new(x)?,
            Action::Wait => rt.wait()?,
        }
    }
    for array in &arrays {
        read.push(bits(&array.to_vec()?));
    }
    Ok(read)
}

pub(super) fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// The same on a runtime without ranks, with one worker.
fn alone(program: &[Action], len: usize) -> Vec<Vec<u32>> {
    let rt = Runtime::builder().cpu_workers(1).scheduler("eager").cuda_devices(0).build().expect("a runtime");
    let unplaced: Vec<_> = program
        .iter()
        .map(|action| match *action {
            Action::Mix(a, b, out, _) => Action::Mix(a, b, out, None),
            Action::Scale(x, add, _) => Action::Scale(x, add, None),
            other => other,
        })
        .collect();
    on_runtime(&rt, &unplaced, len).expect("every call is right")
}

/// Each call at once, on plain vectors.
fn sequential(program: &[Action], len: usize) -> Vec<Vec<u32>> {
    let new = |array: usize| (0..len).map(|i| (array * 10 + i) as f32 * 0.1).collect::<Vec<_>>();
    let mut arrays: Vec<Vec<f32>> = (0..ARRAYS).map(new).collect();
    let mut read = Vec::new();
    for action in program {
        match *action {
            Action::Mix(a, b, out, _) => {
                arrays[out] = arrays[a].iter().zip(&arrays[b]).map(|(a, b)| a * 3.0 + b).collect();
            }
            Action::Scale(x, add, _) => arrays[x].iter_mut().for_each(|x| *x = *x * 0.7 + add),
            Action::Sum(..) => unreachable!("the tree of a reduction is the runtime's"),
            Action::Read(x) => read.push(bits(&arrays[x])),
            Action::Write(x, value) => arrays[x].iter_mut().for_each(|x| *x += value),
            Action::Replace(x) => arrays[x] = new(x),
            Action::Wait => {}
        }
    }
    read.extend(arrays.iter().map(|array| bits(array)));
    read
}

/// The number of programs: `PROPTEST_CASES`, or some hundreds.
pub(super) fn cases() -> u64 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(200)
}

fn check(seed: u64, sums: bool) {
    let mut random = fastrand::Rng::with_seed(seed);
    let (ranks, len) = (random.usize(1..5), random.usize(..7));
    let (workers, limit) = (random.usize(1..3), [1, 3, 4096][random.usize(..3)]);
    let mut actions = program(&mut random, ranks);
    if !sums {
        actions.retain(|action| !matches!(action, Action::Sum(..)));
    }
    let expected = if sums { alone(&actions, len) } else { sequential(&actions, len) };
    let builder = || Runtime::builder().cpu_workers(workers).tasks_in_flight(limit).cuda_devices(0);
    let results = on_ranks(ranks, seed, builder, |rt| on_runtime(rt, &actions, len));
    let Some(results) = results else { return };
    let results = results.unwrap_or_else(|failed| panic!("seed {seed}: {failed}"));
    for (rank, result) in results.iter().enumerate() {
        assert!(*result == expected, "seed {seed}, rank {rank} of {ranks}: {actions:?}");
    }
}

pub(crate) fn random_programs_give_the_sequential_bits() {
    (0..cases()).for_each(|seed| check(seed, false));
}

pub(crate) fn random_programs_with_reductions_give_the_bits_of_one_runtime() {
    (0..cases()).for_each(|seed| check(seed + 1_000_000, true));
}
