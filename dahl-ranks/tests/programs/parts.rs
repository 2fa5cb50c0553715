//! Random programs on parts of arrays, contiguous and strided, nested, read and changed, which ranks own in blocks, in turn or
//! by a map: they give the bits of the sequential program on plain vectors.

use dahl_core::__private::{Kernel, Parameter, Views};
use dahl_core::ndarray::{Array2, ArrayViewMut2, Axis};
use dahl_core::ranks::Distribution;
use dahl_core::{AccessMode, Array, Codelet, ElementType, Matrix, Result, Runtime, Task, Vector};

use super::kernels::scale;
use super::random::{bits, cases};
use crate::launch::on_ranks;

const F32: ElementType = ElementType::of::<f32>();

/// `out = 0.5 out + the sum of x`
static ADD_SUM: Codelet = Codelet::new("add_sum", module_path!(), 1)
    .parameters(&[Parameter::new("x", AccessMode::R, F32), Parameter::new("out", AccessMode::RW, F32)])
    .kernels(&[Some(Kernel::new("rust", |views: &mut Views<'_>| {
        let (x, out) = (views.slice::<f32>(), views.slice_mut::<f32>());
        out[0] = out[0] * 0.5 + x.iter().sum::<f32>();
    }))]);

const ARRAYS: usize = 3;

#[derive(Clone, Debug)]
enum Action {
    Scale {
        array: usize,
        add: f32,
        rank: Option<usize>,
    },
    Read(usize),
    Write {
        array: usize,
        add: f32,
    },
    Gather {
        array: usize,
        rank: usize,
    },
    /// Adds up the parts of an array, which are read.
    AddParts {
        array: usize,
        cut: Cut,
        rank: Option<usize>,
        reads_whole: bool,
    },
    /// Changes parts of an array.
    Change {
        array: usize,
        cut: Cut,
        owners: Option<Owners>,
        changes: Vec<Change>,
    },
    Wait,
}

#[derive(Clone, Copy, Debug)]
struct Cut {
    axis: usize,
    count: usize,
}

#[derive(Clone, Debug)]
enum Owners {
    Blocks,
    Cyclic,
    /// Used modulo the number of ranks.
    Map(Vec<usize>),
}

/// Of a part, modulo their number.
#[derive(Clone, Debug)]
enum Change {
    Scale {
        part: usize,
        add: f32,
        rank: Option<usize>,
    },
    Sum {
        part: usize,
        rank: Option<usize>,
    },
    Read(usize),
    Write {
        part: usize,
        add: f32,
    },
    /// Scales one part of the part, and adds up another.
    Nested {
        part: usize,
        cut: Cut,
        first: usize,
        second: usize,
        rank: Option<usize>,
    },
}

fn program(random: &mut fastrand::Rng, ranks: usize) -> Vec<Action> {
    let cut = |random: &mut fastrand::Rng| Cut { axis: random.usize(..2), count: random.usize(1..4) };
    let some_rank = |random: &mut fastrand::Rng| random.bool().then(|| random.usize(..ranks));
    let change = |random: &mut fastrand::Rng| {
        let (part, add) = (random.usize(..4), random.f32());
        match random.u8(..10) {
            0..4 => Change::Scale { part, add, rank: some_rank(random) },
            4..6 => Change::Sum { part, rank: some_rank(random) },
            6 => Change::Read(part),
            7 => Change::Write { part, add },
            _ => {
                let (first, second) = (random.usize(..4), random.usize(..4));
                Change::Nested { part, cut: cut(random), first, second, rank: some_rank(random) }
            }
        }
    };
    let action = |_| {
        let (array, add) = (random.usize(..ARRAYS), random.f32());
        match random.u8(..16) {
            0..2 => Action::Scale { array, add, rank: some_rank(random) },
            2 => Action::Read(array),
            3 => Action::Write { array, add },
            4 => Action::Gather { array, rank: random.usize(..ranks) },
            5..7 => Action::AddParts {
                array,
                cut: cut(random),
                rank: some_rank(random),
                reads_whole: random.bool(),
            },
            7 => Action::Wait,
            _ => {
                let owners = match random.u8(..6) {
                    0 => Some(Owners::Blocks),
                    1 => Some(Owners::Cyclic),
                    2 => Some(Owners::Map((0..4).map(|_| random.usize(..4)).collect())),
                    _ => None,
                };
                let cut = cut(random);
                let changes = (0..random.usize(..6)).map(|_| change(random)).collect();
                Action::Change { array, cut, owners, changes }
            }
        }
    };
    let len = 20;
    (0..len).map(action).collect()
}

fn add_sum<const N: usize>(
    x: &Array<'_, f32, N>,
    out: &mut Vector<'static, f32>,
    rank: Option<usize>,
) -> Result<()> {
    let mut task = Task::new(&ADD_SUM);
    task.read(x);
    task.write(out);
    match rank {
        Some(rank) => task.on_rank(rank).submit(),
        None => task.submit(),
    }
}

fn start(array: usize, [rows, columns]: [usize; 2]) -> Vec<f32> {
    (0..rows * columns).map(|i| (array * 10 + i) as f32 * 0.1).collect()
}

/// All values that were read, and those at the end.
fn on_runtime(rt: &Runtime, program: &[Action], shape: [usize; 2]) -> Result<Vec<Vec<u32>>> {
    let new = |array| rt.from_vec(shape, start(array, shape));
    let mut arrays: Vec<Matrix<'static, f32>> = (0..ARRAYS).map(new).collect::<Result<_>>()?;
    let mut sum: Vector<'static, f32> = rt.zeros([1])?;
    let mut read = Vec::new();
    for action in program {
        match action {
            Action::Scale { array, add, rank } => scale(&mut arrays[*array], *add, *rank)?,
            Action::Read(array) => read.push(bits(&arrays[*array].to_vec()?)),
            Action::Write { array, add } => arrays[*array].write()?.iter_mut().for_each(|x| *x += add),
            Action::Gather { array, rank } => rt.gather(&arrays[*array], *rank)?,
            Action::AddParts { array, cut, rank, reads_whole } => {
                let parts = arrays[*array].partition_into(Axis(cut.axis), cut.count)?;
                parts.iter().try_for_each(|part| add_sum(part, &mut sum, *rank))?;
                if *reads_whole {
                    add_sum(&arrays[*array], &mut sum, None)?;
                }
            }
            Action::Change { array, cut, owners, changes } => {
                let mut parts = arrays[*array].partition_into_mut(Axis(cut.axis), cut.count)?;
                let count = parts.len();
                if count == 0 {
                    continue;
                }
                match owners {
                    Some(Owners::Blocks) => rt.scatter(&parts, Distribution::Blocks)?,
                    Some(Owners::Cyclic) => rt.scatter(&parts, Distribution::Cyclic)?,
                    Some(Owners::Map(owners)) => {
                        let owners: Vec<_> = owners[..count].iter().map(|owner| owner % rt.ranks()).collect();
                        rt.scatter(&parts, Distribution::Map(&owners))?;
                    }
                    None => {}
                }
                for change in changes {
                    match change {
                        Change::Scale { part, add, rank } => scale(&mut parts[part % count], *add, *rank)?,
                        Change::Sum { part, rank } => add_sum(&parts[part % count], &mut sum, *rank)?,
                        Change::Read(part) => read.push(bits(&parts[part % count].to_vec()?)),
                        Change::Write { part, add } => {
                            parts[part % count].write()?.iter_mut().for_each(|x| *x += add);
                        }
                        Change::Nested { part, cut, first, second, rank } => {
                            let part = &mut parts[part % count];
                            let mut inner = part.partition_into_mut(Axis(cut.axis), cut.count)?;
                            let count = inner.len();
                            if count > 0 {
                                scale(&mut inner[first % count], 0.25, *rank)?;
                                add_sum(&inner[second % count], &mut sum, None)?;
                            }
                        }
                    }
                }
            }
            Action::Wait => rt.wait()?,
        }
    }
    for array in &arrays {
        read.push(bits(&array.to_vec()?));
    }
    read.push(bits(&sum.to_vec()?));
    Ok(read)
}

/// The parts of a view.
fn parts<'v>(whole: &'v mut ArrayViewMut2<'_, f32>, cut: Cut) -> Vec<ArrayViewMut2<'v, f32>> {
    let chunk = whole.len_of(Axis(cut.axis)).div_ceil(cut.count).max(1);
    if whole.len_of(Axis(cut.axis)) == 0 {
        return Vec::new();
    }
    whole.axis_chunks_iter_mut(Axis(cut.axis), chunk).collect()
}

fn scale_view(view: &mut ArrayViewMut2<'_, f32>, add: f32) {
    view.iter_mut().for_each(|x| *x = *x * 0.7 + add);
}

fn add_view(view: &ArrayViewMut2<'_, f32>, sum: &mut f32) {
    *sum = *sum * 0.5 + view.iter().sum::<f32>();
}

/// Each call at once, on plain arrays.
fn sequential(program: &[Action], shape: [usize; 2]) -> Vec<Vec<u32>> {
    let new = |array| Array2::from_shape_vec(shape, start(array, shape)).expect("as many elements");
    let mut arrays: Vec<Array2<f32>> = (0..ARRAYS).map(new).collect();
    let mut sum = 0.0;
    let mut read = Vec::new();
    let values = |view: &ArrayViewMut2<'_, f32>| bits(&view.iter().copied().collect::<Vec<_>>());
    for action in program {
        match action {
            Action::Scale { array, add, .. } => scale_view(&mut arrays[*array].view_mut(), *add),
            Action::Read(array) => read.push(values(&arrays[*array].view_mut())),
            Action::Write { array, add } => arrays[*array].iter_mut().for_each(|x| *x += add),
            Action::Gather { .. } | Action::Wait => {}
            Action::AddParts { array, cut, reads_whole, .. } => {
                let whole = &mut arrays[*array].view_mut();
                parts(whole, *cut).iter().for_each(|part| add_view(part, &mut sum));
                if *reads_whole {
                    add_view(whole, &mut sum);
                }
            }
            Action::Change { array, cut, changes, .. } => {
                let whole = &mut arrays[*array].view_mut();
                let mut parts_of_it = parts(whole, *cut);
                let count = parts_of_it.len();
                for change in changes.iter().filter(|_| count > 0) {
                    match change {
                        Change::Scale { part, add, .. } => scale_view(&mut parts_of_it[part % count], *add),
                        Change::Sum { part, .. } => add_view(&parts_of_it[part % count], &mut sum),
                        Change::Read(part) => read.push(values(&parts_of_it[part % count])),
                        Change::Write { part, add } => {
                            parts_of_it[part % count].iter_mut().for_each(|x| *x += add);
                        }
                        Change::Nested { part, cut, first, second, .. } => {
                            let mut inner = parts(&mut parts_of_it[part % count], *cut);
                            let count = inner.len();
                            if count > 0 {
                                scale_view(&mut inner[first % count], 0.25);
                                add_view(&inner[second % count], &mut sum);
                            }
                        }
                    }
                }
            }
        }
    }
    read.extend(arrays.iter_mut().map(|array| values(&array.view_mut())));
    read.push(bits(&[sum]));
    read
}

pub(crate) fn random_programs_on_parts_give_the_sequential_bits() {
    for seed in 0..cases() {
        let mut random = fastrand::Rng::with_seed(seed + 2_000_000);
        let (ranks, shape) = (random.usize(1..5), [random.usize(..6), random.usize(..6)]);
        let (workers, limit) = (random.usize(1..3), [1, 3, 4096][random.usize(..3)]);
        let actions = program(&mut random, ranks);
        let expected = sequential(&actions, shape);
        let builder = || Runtime::builder().cpu_workers(workers).tasks_in_flight(limit).cuda_devices(0);
        let results = on_ranks(ranks, seed, builder, |rt| on_runtime(rt, &actions, shape));
        let Some(results) = results else { continue };
        let results = results.unwrap_or_else(|failed| panic!("seed {seed}: {failed}"));
        for result in results {
            assert!(result == expected, "seed {seed}, {ranks} ranks, {shape:?}: {actions:#?}");
        }
    }
}

/// What a stencil does: the blocks of an array stay on their ranks from step to step.
pub(crate) fn blocks_stay_where_they_are() {
    let builder = || Runtime::builder().cpu_workers(1).cuda_devices(0);
    let results = on_ranks(2, 5, builder, |rt| {
        let mut x: Matrix<'static, f32> = rt.from_vec([4, 3], vec![1.0; 12])?;
        for step in 0..10 {
            let mut parts = x.partition_into_mut(Axis(0), 4)?;
            if step == 0 {
                rt.scatter(&parts, Distribution::Blocks)?;
            }
            for part in parts.iter_mut() {
                scale(part, 0.5, None)?;
            }
        }
        rt.wait()?;
        assert_eq!(rt.statistics().tasks.completed, 20, "two parts have ten tasks each: rank {}", rt.rank());
        rt.gather(&x, 0)?;
        x.to_vec()
    });
    let mut expected = 1.0_f32;
    (0..10).for_each(|_| expected = expected * 0.7 + 0.5);
    if let Some(results) = results {
        assert!(results.expect("no rank fails").iter().flatten().all(|x| *x == expected));
    }
}
