//! Random programs on the runtime give what the same programs give when each call is done at once.
//!
//! Programs submit tasks in every mode on a few matrices, on parts of them by rows and by columns, in place with and
//! without an in-place kernel, reduce, read, write, fail, and drop arrays. The oracle does the same on plain vectors.

use dahl_core::__private::{Accumulator, InPlace, Kernel, Parameter, Views};
use dahl_core::ndarray::{Axis, Ix2};
use dahl_core::{AccessMode, Array, Codelet, ElementType, Matrix, Reduction, Result, Runtime, Task};
use proptest::prelude::*;

const ROWS: usize = 5;
const COLUMNS: usize = 3;
const ARRAYS: usize = 4;

const I64: ElementType = ElementType::of::<i64>();

/// `out = 3 a + b`; strided views.
static MIX: Codelet = Codelet::new("mix", module_path!(), 1)
    .parameters(&[
        Parameter::new("a", AccessMode::R, I64),
        Parameter::new("b", AccessMode::R, I64),
        Parameter::new("out", AccessMode::W, I64),
    ])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let (a, b) = (views.view::<i64, Ix2>(), views.view::<i64, Ix2>());
        let mut out = views.view_mut::<i64, Ix2>();
        out.zip_mut_with(&a, |out, a| *out = a.wrapping_mul(3));
        out.zip_mut_with(&b, |out, b| *out = out.wrapping_add(*b));
    }))])
    .in_place(InPlace::rename(0));

/// `x = 5 x + add`; slices, so that strided parts are packed.
static SCALE: Codelet = Codelet::new("scale", module_path!(), 2)
    .parameters(&[Parameter::new("x", AccessMode::RW, I64)])
    .arguments(&["add"])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let add: i64 = views.argument();
        assert!(add != 13, "unlucky");
        views.slice_mut::<i64>().iter_mut().for_each(|x| *x = x.wrapping_mul(5).wrapping_add(add));
    }))]);

/// `out = 7 x + y` as a map, over runs.
static MAP: Codelet = Codelet::new("map", module_path!(), 3)
    .parameters(&[
        Parameter::new("x", AccessMode::R, I64),
        Parameter::new("y", AccessMode::R, I64),
        Parameter::new("out", AccessMode::W, I64),
    ])
    .kernels(&[Some(Kernel::new("rust", |views: &mut Views<'_>| {
        views.for_each_run(|run| {
            let (x, y, out) = (run.slice::<i64>(), run.slice::<i64>(), run.slice_mut::<i64>());
            for i in 0..out.len() {
                out[i] = x[i].wrapping_mul(7).wrapping_add(y[i]);
            }
        });
    }))])
    .in_place(InPlace::kernel(
        1,
        Kernel::new("rust", |views: &mut Views<'_>| {
            views.for_each_run(|run| {
                let (x, y) = (run.slice::<i64>(), run.slice_mut::<i64>());
                for i in 0..y.len() {
                    y[i] = y[i].wrapping_add(x[i].wrapping_mul(7));
                }
            });
        }),
    ));

/// `out += x`, a reduction. (Integer sums do not depend on their order; the order is `reduction.rs`'s to test.)
static ADD_UP: Codelet = Codelet::new("add_up", module_path!(), 4)
    .parameters(&[
        Parameter::new("x", AccessMode::R, I64),
        Parameter::new("out", AccessMode::REDUX(Reduction::Sum), I64)
            .accumulates_in(Accumulator::same::<i64>(Reduction::Sum)),
    ])
    .kernels(&[Some(Kernel::new("rust", |views| {
        let (x, out) = (views.slice::<i64>(), views.slice_mut::<i64>());
        out.iter_mut().zip(x).for_each(|(out, x)| *out = out.wrapping_add(*x));
    }))]);

type M<'m> = Array<'m, i64, 2>;

fn three(codelet: &'static Codelet, a: &M<'_>, b: &M<'_>, out: &mut M<'_>) -> Result<()> {
    let mut task = Task::new(codelet);
    task.read(a);
    task.read(b);
    task.write(out);
    task.require_same_shapes();
    task.submit()
}

/// Over the first of two (`MIX`, renamed) or the second (`MAP`).
fn two_in_place(
    codelet: &'static Codelet,
    target_first: bool,
    other: &M<'_>,
    target: &mut M<'_>,
) -> Result<()> {
    let mut task = Task::new_in_place(codelet);
    if target_first {
        task.write(target);
        task.read(other);
    } else {
        task.read(other);
        task.write(target);
    }
    task.submit()
}

fn scale(x: &mut M<'_>, add: i64) -> Result<()> {
    let mut task = Task::new(&SCALE);
    task.write(x);
    task.argument(add);
    task.submit()
}

fn add_up(x: &M<'_>, out: &mut M<'_>) -> Result<()> {
    let mut task = Task::new(&ADD_UP);
    task.read(x);
    task.write(out);
    task.submit()
}

#[derive(Clone, Debug)]
enum Action {
    Mix(usize, usize, usize),
    Map(usize, usize, usize),
    MixSelf(usize, usize),
    MapSelf(usize, usize),
    Scale(usize, i64),
    AddUp(usize, usize),
    /// Scales every part of one array, by a different amount each.
    ScaleParts(usize, usize, usize),
    /// Parts of parts.
    ScaleNested(usize, usize),
    /// In every part of the first, renames over it with the second's parts.
    MixParts(usize, usize, usize),
    /// Maps every part of one array into the same part of another.
    MapParts(usize, usize, usize, usize),
    /// Adds up every part of one array into the same part of another.
    AddUpParts(usize, usize, usize, usize),
    /// Forgets the parts after use.
    LeakParts(usize, usize),
    Read(usize),
    Write(usize, i64),
    Replace(usize),
    Wait,
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    use Action::*;
    let array = || 0..ARRAYS;
    let axis = || 0..2_usize;
    let chunk = || 1..4_usize;
    let pair = || (array(), 1..ARRAYS).prop_map(|(a, distance)| (a, (a + distance) % ARRAYS));
    // The output is none of the inputs, which may be the same.
    let triple = || {
        let inputs = |(out, a, b): (usize, usize, usize)| ((out + a) % ARRAYS, (out + b) % ARRAYS, out);
        (array(), 1..ARRAYS, 1..ARRAYS).prop_map(inputs)
    };
    let action = prop_oneof![
        triple().prop_map(|(a, b, c)| Mix(a, b, c)),
        triple().prop_map(|(a, b, c)| Map(a, b, c)),
        pair().prop_map(|(a, b)| MixSelf(a, b)),
        pair().prop_map(|(a, b)| MapSelf(a, b)),
        (array(), 0..14_i64).prop_map(|(a, add)| Scale(a, add)),
        pair().prop_map(|(a, b)| AddUp(a, b)),
        (array(), axis(), chunk()).prop_map(|(a, axis, chunk)| ScaleParts(a, axis, chunk)),
        (array(), axis()).prop_map(|(a, axis)| ScaleNested(a, axis)),
        (pair(), axis()).prop_map(|((a, b), axis)| MixParts(a, b, axis)),
        (pair(), axis(), chunk()).prop_map(|((a, b), axis, chunk)| MapParts(a, b, axis, chunk)),
        (pair(), axis(), chunk()).prop_map(|((a, b), axis, chunk)| AddUpParts(a, b, axis, chunk)),
        (array(), axis()).prop_map(|(a, axis)| LeakParts(a, axis)),
        array().prop_map(Read),
        (array(), any::<i64>()).prop_map(|(a, value)| Write(a, value)),
        array().prop_map(Replace),
        Just(Wait),
    ];
    prop::collection::vec(action, 1..60)
}

/// What an array holds: elements, or nothing because a task failed.
type Oracle = Option<Vec<i64>>;

fn both(a: &Oracle, b: &Oracle, f: impl Fn(i64, i64) -> i64) -> Oracle {
    Some(a.as_ref()?.iter().zip(b.as_ref()?).map(|(&a, &b)| f(a, b)).collect())
}

fn each(a: &Oracle, f: impl Fn(usize, i64) -> i64) -> Oracle {
    Some(a.as_ref()?.iter().enumerate().map(|(i, &a)| f(i, a)).collect())
}

fn index_along(i: usize, axis: usize) -> usize {
    if axis == 0 { i / COLUMNS } else { i % COLUMNS }
}

fn mix(a: i64, b: i64) -> i64 {
    a.wrapping_mul(3).wrapping_add(b)
}

fn map(x: i64, y: i64) -> i64 {
    x.wrapping_mul(7).wrapping_add(y)
}

fn predict(action: &Action, arrays: &mut [Oracle; ARRAYS]) {
    use Action::*;
    match *action {
        Mix(a, b, c) => arrays[c] = both(&arrays[a], &arrays[b], mix),
        Map(a, b, c) => arrays[c] = both(&arrays[a], &arrays[b], map),
        MixSelf(a, b) | MixParts(a, b, _) => arrays[a] = both(&arrays[a], &arrays[b], mix),
        MapSelf(a, b) => arrays[b] = both(&arrays[a], &arrays[b], map),
        Scale(a, 13) => arrays[a] = None,
        Scale(a, add) => arrays[a] = each(&arrays[a], |_, x| x.wrapping_mul(5).wrapping_add(add)),
        AddUp(a, b) | AddUpParts(a, b, _, _) => arrays[b] = both(&arrays[a], &arrays[b], i64::wrapping_add),
        ScaleParts(a, axis, chunk) => {
            arrays[a] = each(&arrays[a], |i, x| {
                x.wrapping_mul(5).wrapping_add((index_along(i, axis) / chunk) as i64)
            });
        }
        ScaleNested(a, axis) => {
            arrays[a] = each(&arrays[a], |i, x| {
                let (part, nested) = (index_along(i, axis) / 2, index_along(i, 1 - axis));
                x.wrapping_mul(5).wrapping_add((10 * part + 100 * nested) as i64)
            });
        }
        MapParts(a, b, _, _) => arrays[b] = both(&arrays[a], &arrays[a], map),
        LeakParts(a, _) => arrays[a] = each(&arrays[a], |_, x| x.wrapping_mul(5).wrapping_add(1)),
        Write(a, value) => arrays[a] = arrays[a].as_ref().map(|_| vec![value; ROWS * COLUMNS]),
        Replace(a) => arrays[a] = Some(vec![0; ROWS * COLUMNS]),
        Read(_) | Wait => {}
    }
}

/// Two elements of an array, one to change.
fn pick<'a, 'm>(arrays: &'a mut [M<'m>; ARRAYS], a: usize, b: usize) -> (&'a M<'m>, &'a mut M<'m>) {
    let [first, second] = arrays.get_disjoint_mut([a, b]).expect("two arrays");
    (first, second)
}

fn run(
    rt: &Runtime,
    action: &Action,
    arrays: &mut [M<'static>; ARRAYS],
    oracle: &[Oracle; ARRAYS],
) -> Result<()> {
    use Action::*;
    match *action {
        Mix(a, b, c) | Map(a, b, c) => {
            let codelet = if matches!(action, Mix(..)) { &MIX } else { &MAP };
            let mut out = std::mem::replace(&mut arrays[c], rt.zeros([0, 0])?);
            three(codelet, &arrays[a], &arrays[b], &mut out)?;
            arrays[c] = out;
        }
        MixSelf(a, b) => {
            let (b, a) = pick(arrays, b, a);
            two_in_place(&MIX, true, b, a)?;
        }
        MapSelf(a, b) => {
            let (a, b) = pick(arrays, a, b);
            two_in_place(&MAP, false, a, b)?;
        }
        Scale(a, add) => scale(&mut arrays[a], add)?,
        AddUp(a, b) => {
            let (a, b) = pick(arrays, a, b);
            add_up(a, b)?;
        }
        ScaleParts(a, axis, chunk) => {
            for (i, part) in arrays[a].partition_mut(Axis(axis), chunk)?.iter_mut().enumerate() {
                scale(part, i as i64)?;
            }
        }
        ScaleNested(a, axis) => {
            for (i, part) in arrays[a].partition_mut(Axis(axis), 2)?.iter_mut().enumerate() {
                for (k, nested) in part.partition_mut(Axis(1 - axis), 1)?.iter_mut().enumerate() {
                    scale(nested, (10 * i + 100 * k) as i64)?;
                }
            }
        }
        MixParts(a, b, axis) => {
            let (b, a) = pick(arrays, b, a);
            let others = b.partition_into(Axis(axis), 2)?;
            for (part, other) in a.partition_into_mut(Axis(axis), 2)?.iter_mut().zip(others.iter()) {
                two_in_place(&MIX, true, other, part)?;
            }
        }
        MapParts(a, b, axis, chunk) => {
            let (a, b) = pick(arrays, a, b);
            let (from, mut to) = (a.partition(Axis(axis), chunk)?, b.partition_mut(Axis(axis), chunk)?);
            let again = a.partition(Axis(axis), chunk)?;
            for ((from, again), to) in from.iter().zip(again.iter()).zip(to.iter_mut()) {
                three(&MAP, from, again, to)?;
            }
        }
        AddUpParts(a, b, axis, chunk) => {
            let (a, b) = pick(arrays, a, b);
            let (from, mut to) = (a.partition(Axis(axis), chunk)?, b.partition_mut(Axis(axis), chunk)?);
            for (from, to) in from.iter().zip(to.iter_mut()) {
                add_up(from, to)?;
            }
        }
        LeakParts(a, axis) => {
            std::mem::forget(arrays[a].partition(Axis(axis), 2)?);
            let mut parts = arrays[a].partition_mut(Axis(axis), 1)?;
            for part in parts.iter_mut() {
                scale(part, 1)?;
            }
            std::mem::forget(parts);
        }
        Read(a) => {
            let values = arrays[a].read().map(|guard| guard.iter().copied().collect::<Vec<_>>());
            assert_eq!(values.ok(), oracle[a]);
        }
        Write(a, value) => {
            let written = arrays[a].write().map(|mut guard| guard.fill(value));
            assert_eq!(written.is_ok(), oracle[a].is_some());
        }
        Replace(a) => arrays[a] = rt.zeros([ROWS, COLUMNS])?,
        Wait => {
            let _ = rt.wait();
        }
    }
    Ok(())
}

fn check(program: &[Action], workers: usize, scheduler: &str, tasks: usize) -> Result<()> {
    let rt = Runtime::builder().cpu_workers(workers).scheduler(scheduler).tasks_in_flight(tasks).build()?;
    let mut oracle: [Oracle; ARRAYS] = std::array::from_fn(|_| Some(vec![0; ROWS * COLUMNS]));
    let new = || rt.zeros([ROWS, COLUMNS]);
    let mut arrays: [Matrix<'static, i64>; ARRAYS] = [new()?, new()?, new()?, new()?];
    for action in program {
        predict(action, &mut oracle);
        run(&rt, action, &mut arrays, &oracle)?;
    }
    for (array, oracle) in arrays.iter().zip(&oracle) {
        assert_eq!(&array.to_vec().ok(), oracle);
    }
    let _ = rt.wait(); // somebody has seen the failures
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("DAHL_RANDOM_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(1000),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_programs_give_the_sequential_result(
        program in actions(),
        workers in 1..4_usize,
        eager in any::<bool>(),
        tasks in prop_oneof![Just(1_usize), Just(3), Just(4096)],
    ) {
        // Panics of kernels are part of the programs; their messages would drown everything else.
        std::panic::set_hook(Box::new(|panic| {
            if panic.payload().downcast_ref::<&str>() != Some(&"unlucky") {
                eprintln!("{panic}");
            }
        }));
        let scheduler = if eager { "eager" } else { "ws" };
        check(&program, workers, scheduler, tasks).expect("every call is right");
    }
}
