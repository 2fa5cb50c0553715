//! Calls that the runtime divides among workers: of maps, and of kernels by rows.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use dahl_core::__private::{Kernel, Parameter, Rows};
use dahl_core::ndarray::{self, Ix1, Ix2, s};
use dahl_core::{AccessMode, Array, Codelet, ElementType, Result, Runtime, RuntimeBuilder, Task, TeamPolicy};

const F32: ElementType = ElementType::of::<f32>();

/// Numbers whose sums depend on the order.
fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i * 7919 % 4001) as f32 / 1000.3 - 2.0).collect()
}

fn workers(count: usize) -> RuntimeBuilder {
    Runtime::builder().cpu_workers(count)
}

/// How often the kernels of divided codelets were called.
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// `x + bias`, stretched.
static MAP: Codelet = Codelet::new("map", module_path!(), 2)
    .parameters(&[
        Parameter::new("x", AccessMode::R, F32),
        Parameter::new("bias", AccessMode::R, F32),
        Parameter::new("out", AccessMode::W, F32),
    ])
    .broadcasts()
    .map()
    .kernels(&[Some(Kernel::new("rust", |views| {
        CALLS.fetch_add(1, Ordering::SeqCst);
        views.for_each_run(|run| {
            let (x, bias, out) = (run.slice::<f32>(), run.slice::<f32>(), run.slice_mut::<f32>());
            x.iter().zip(bias).zip(out).for_each(|((x, bias), out)| *out = x + bias);
        });
    }))]);

/// The sums of rows of `x` times `weight`, and the rows backwards: rows along the first axis, in calls of at least 40.
static ROWS: Codelet = Codelet::new("rows", module_path!(), 2)
    .parameters(&[
        Parameter::new("x", AccessMode::R, F32),
        Parameter::new("weight", AccessMode::R, F32),
        Parameter::new("sums", AccessMode::W, F32),
        Parameter::new("back", AccessMode::W, F32),
    ])
    .rows(Rows::new(|_| 1.0, &[1], LEAST))
    .kernels(&[Some(Kernel::new("rust", |views| {
        CALLS.fetch_add(1, Ordering::SeqCst);
        let (x, weight) = (views.view::<f32, Ix2>(), views.view::<f32, Ix1>());
        let (mut sums, mut back) = (views.view_mut::<f32, Ix1>(), views.view_mut::<f32, Ix2>());
        assert!(x.nrows() >= LEAST && weight.len() == x.ncols(), "{:?}", x.shape());
        for (row, x) in x.outer_iter().enumerate() {
            sums[row] = x.iter().zip(&weight).map(|(x, weight)| x * weight).sum();
            back.row_mut(row).assign(&x.slice(s![..;-1]));
        }
    }))]);
const LEAST: usize = 40;

#[test]
fn workers_share_a_call_of_a_map() -> Result<()> {
    // A part is many indices of the first axis, some of a later one, or of one that is stretched; the last one is longer.
    let shapes = [
        ([50_003, 1, 2], [50_003, 1, 2]),
        ([3, 70, 501], [3, 70, 501]),
        ([3, 70, 501], [1, 70, 501]),
        ([3, 70, 501], [3, 1, 1]),
        ([1, 1, 40_000], [1, 1, 1]),
    ];
    for (shape, stretched) in shapes {
        let (x, bias) = (numbers(shape.iter().product()), numbers(stretched.iter().product()));
        let x = ndarray::Array3::from_shape_vec(shape, x).expect("as many");
        let bias = ndarray::Array3::from_shape_vec(stretched, bias).expect("as many");
        let expected = (&x + &bias).into_raw_vec_and_offset().0;
        for (teams, count) in [(TeamPolicy::Never, 2), (TeamPolicy::Always, 2), (TeamPolicy::Always, 3)] {
            let rt = workers(count).teams(teams).build()?;
            let x = rt.from_vec(shape, x.clone().into_raw_vec_and_offset().0)?;
            let bias = rt.from_vec(stretched, bias.clone().into_raw_vec_and_offset().0)?;
            let mut out = rt.zeros::<f32, 3>(shape)?;
            let _calls = COUNTING.lock().unwrap_or_else(|poison| poison.into_inner());
            let before = CALLS.load(Ordering::SeqCst);
            let mut task = Task::new(&MAP);
            task.read(&x);
            task.read(&bias);
            task.write(&mut out);
            task.submit()?;
            assert_eq!(out.to_vec()?, expected, "{shape:?} {stretched:?} {teams:?}");
            let calls = CALLS.load(Ordering::SeqCst) - before;
            assert_eq!(calls > 1, teams == TeamPolicy::Always, "{calls} calls for {shape:?} {stretched:?}");
        }
    }
    Ok(())
}

/// One test at a time counts calls.
static COUNTING: Mutex<()> = Mutex::new(());

#[test]
fn workers_share_a_call_of_a_kernel_by_rows() -> Result<()> {
    // Parts of 8,192 elements, and of the fewest rows; too few rows for two parts.
    for (rows, columns, parts) in [(2_030, 100, 25), (203, 4_000, 5), (79, 4_000, 1)] {
        let (x, weight) = (numbers(rows * columns), numbers(columns));
        let sums: Vec<f32> = x
            .chunks(columns)
            .map(|row| row.iter().zip(&weight).map(|(x, weight)| x * weight).sum())
            .collect();
        let back: Vec<f32> = x.chunks(columns).flat_map(|row| row.iter().rev().copied()).collect();
        let rt = workers(2).teams(TeamPolicy::Always).build()?;
        let x = rt.from_vec([rows, columns], x)?;
        let weight = rt.from_vec([columns], weight)?;
        let (mut wide, mut to) = (rt.zeros::<f32, 2>([rows, 2 * columns])?, rt.zeros::<f32, 1>([rows])?);
        let mut contiguous = rt.zeros::<f32, 2>([rows, columns])?;
        let _calls = COUNTING.lock().unwrap_or_else(|poison| poison.into_inner());
        let call = |to: &mut Array<'_, f32, 1>, back: &mut Array<'_, f32, 2>| {
            let before = CALLS.load(Ordering::SeqCst);
            let mut task = Task::new(&ROWS);
            task.read(&x);
            task.read(&weight);
            task.write(to);
            task.write(back);
            task.submit()?;
            assert_eq!(to.to_vec()?, sums);
            Ok::<_, dahl_core::Error>(CALLS.load(Ordering::SeqCst) - before)
        };
        assert_eq!(call(&mut to, &mut contiguous)?, parts, "{rows} by {columns}");
        assert_eq!(contiguous.to_vec()?, back);
        // With an array that is not contiguous, the call is one.
        {
            let mut halves = wide.partition_mut(ndarray::Axis(1), columns)?;
            assert_eq!(call(&mut to, halves.iter_mut().next().expect("two halves"))?, 1);
        }
        let halves: Vec<f32> =
            wide.to_vec()?.chunks(2 * columns).flat_map(|row| row[..columns].to_vec()).collect();
        assert_eq!(halves, back);
    }
    Ok(())
}

#[test]
fn a_part_that_panics_fails_the_task() -> Result<()> {
    static FAILS: Codelet = Codelet::new("fails", module_path!(), 2)
        .parameters(&[Parameter::new("x", AccessMode::R, F32), Parameter::new("out", AccessMode::W, F32)])
        .map()
        .kernels(&[Some(Kernel::new("rust", |views| {
            views.for_each_run(|run| {
                let (x, out) = (run.slice::<f32>(), run.slice_mut::<f32>());
                out.copy_from_slice(x);
                assert!(x[0] < 20_000.0, "a part");
            });
        }))]);
    let rt = workers(2).teams(TeamPolicy::Always).build()?;
    let x = rt.from_vec([40_000], (0..40_000).map(|i| i as f32).collect())?;
    let mut out = rt.zeros::<f32, 1>([40_000])?;
    let mut task = Task::new(&FAILS);
    task.read(&x);
    task.write(&mut out);
    task.submit()?;
    let error = out.to_vec().expect_err("a part fails");
    assert!(error.to_string().contains("a part"), "{error}");
    Ok(())
}
