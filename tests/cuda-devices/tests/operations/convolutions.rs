//! The convolutions, by cuDNN and by their kernels.

use dahl::ops::Conv2dGeometry;
use dahl::ops::codelets::{Conv2d, Conv2dBackwardFilters, Conv2dBackwardInput};
use dahl::prelude::*;
use dahl::{Result, Ruling, bf16, f16};

use super::{CPU, in_seeds, measured, numbers, with_settings};

/// A convolution's shape, all of whose sums are whole numbers below 256, which every type holds.
#[derive(Clone, Copy, Debug)]
struct Case {
    input: [usize; 4],
    filters: [usize; 4],
    stride: [usize; 2],
    padding: [usize; 2],
}

const SMALL: Case = Case { input: [2, 3, 6, 5], filters: [4, 3, 3, 2], stride: [1, 1], padding: [1, 0] };

const CASES: [Case; 4] = [
    SMALL,
    // Rows and columns that no position reaches.
    Case { stride: [2, 3], padding: [0, 1], ..SMALL },
    Case { input: [1, 1, 4, 4], filters: [1, 1, 4, 4], stride: [1, 1], padding: [0, 0] },
    Case { input: [3, 2, 5, 5], filters: [2, 2, 3, 3], stride: [1, 1], padding: [2, 1] },
];

impl Case {
    fn output(&self) -> [usize; 4] {
        let positions = |axis: usize| {
            (self.input[axis + 2] + 2 * self.padding[axis] - self.filters[axis + 2]) / self.stride[axis] + 1
        };
        [self.input[0], self.filters[0], positions(0), positions(1)]
    }
}

fn tensor<'rt, T: Real>(rt: &'rt Runtime, extents: [usize; 4], first: usize) -> Result<Tensor<'rt, T>> {
    rt.from_vec(extents, numbers(extents.iter().product(), first))
}

/// The output, the gradient by the input, and twice the gradient by the filters added to an array, by the kernels of
/// these names.
type Results<T> = [Vec<T>; 3];

fn all_three<T: Real>(rt: &Runtime, case: Case, worker: usize, kernels: [&str; 3]) -> Result<Results<T>> {
    let Case { stride, padding, .. } = case;
    let (input, filters) = (tensor::<T>(rt, case.input, 0)?, tensor::<T>(rt, case.filters, 4)?);
    let gradient = tensor::<T>(rt, case.output(), 2)?;
    let (mut out, mut by_input) = (rt.zeros(case.output())?, rt.zeros(case.input)?);
    let mut by_filters = tensor::<T>(rt, case.filters, 1)?;
    Conv2d::task(&input, &filters, &mut out, Conv2dGeometry { stride, padding })
        .kernel(kernels[0])
        .on(worker)
        .submit()?;
    Conv2dBackwardInput::task(&gradient, &filters, &mut by_input, Conv2dGeometry { stride, padding })
        .kernel(kernels[1])
        .on(worker)
        .submit()?;
    for _ in 0..2 {
        Conv2dBackwardFilters::task(&input, &gradient, &mut by_filters, Conv2dGeometry { stride, padding })
            .kernel(kernels[2])
            .on(worker)
            .submit()?;
    }
    Ok([out.to_vec()?, by_input.to_vec()?, by_filters.to_vec()?])
}

fn compare<T: Real>(rt: &Runtime, device: usize, kernels: [&str; 3]) -> Result<()> {
    for case in CASES {
        let found = all_three::<T>(rt, case, device, kernels)?;
        assert_eq!(found, all_three::<T>(rt, case, CPU, ["rust"; 3])?, "{} {case:?}", T::NAME);
    }
    Ok(())
}

const BY_CUDNN: [&str; 3] =
    ["conv2d_by_cudnn", "conv2d_backward_input_by_cudnn", "conv2d_backward_filters_by_cudnn"];
/// cuDNN has no gradient by the filters for half-precision types.
const OF_HALVES: [&str; 3] = [BY_CUDNN[0], BY_CUDNN[1], "cuda"];

#[test]
fn cudnn_and_the_cpu_agree() {
    in_seeds(|rt, device, told| {
        if !has_cudnn(rt) {
            eprintln!("not tested: there is no cuDNN");
            return Ok(());
        }
        told();
        compare::<f32>(rt, device, BY_CUDNN)?;
        compare::<f64>(rt, device, BY_CUDNN)?;
        compare::<f16>(rt, device, OF_HALVES)?;
        compare::<bf16>(rt, device, OF_HALVES)?;
        // Four tasks of each case for each of f32 and f64, two for each half-precision type.
        let told = told();
        assert!(told.is_empty() || told.lines().count() == 12 * CASES.len(), "{told}");
        Ok(())
    });
}

#[test]
fn the_kernels_and_the_cpu_agree() {
    in_seeds(|rt, device, told| {
        compare::<f32>(rt, device, ["cuda"; 3])?;
        compare::<bf16>(rt, device, ["cuda"; 3])?;
        assert_eq!(told(), "");
        Ok(())
    });
}

/// Fractions, whose sums are rounded: results differ at most by what the order of additions can change, for `n`
/// products each.
#[test]
fn rounded_sums_are_within_their_bound() {
    in_seeds(|rt, device, _| {
        if !has_cudnn(rt) {
            return Ok(());
        }
        let fraction = |i: usize| ((i * 7919 % 401) as f32 - 200.0) / 300.0;
        let extents = [[2, 3, 6, 5], [4, 3, 3, 2], SMALL.output()];
        let values = extents
            .map(|extents: [usize; 4]| (0..extents.iter().product()).map(fraction).collect::<Vec<f32>>());
        let input = rt.from_vec(extents[0], values[0].clone())?;
        let filters = rt.from_vec(extents[1], values[1].clone())?;
        let run = |worker: usize, kernel: &str| -> Result<Vec<f32>> {
            let mut out = rt.zeros(extents[2])?;
            Conv2d::task(&input, &filters, &mut out, Conv2dGeometry::default().padding([1, 0]))
                .kernel(kernel)
                .on(worker)
                .submit()?;
            out.to_vec()
        };
        let (found, expected) = (run(device, BY_CUDNN[0])?, run(CPU, "rust")?);
        // Products are below 4/9, and each of 18 additions, on both sides, is rounded once.
        let bound = 2.0 * 18.0 * 18.0 * (4.0 / 9.0) * f32::EPSILON / 2.0;
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found - expected).abs() <= bound, "{found} and {expected}");
        }
        Ok(())
    });
}

/// Whether the library is available; on the fake driver it is.
fn has_cudnn(rt: &Runtime) -> bool {
    let x = rt.zeros::<f32, 4>([1; 4]).expect("it can be had");
    let mut out = rt.zeros([1; 4]).expect("it can be had");
    let has = Conv2d::task(&x, &x, &mut out, Conv2dGeometry::default()).kernel(BY_CUDNN[0]).submit().is_ok();
    let is_fake = std::env::var("FAKE_CUDA").as_deref() != Ok("0");
    assert!(has || !is_fake, "the fake driver has it");
    rt.wait().expect("nothing fails");
    has
}

/// Three convolutions and their gradients on the device, by kernels that the runtime chooses.
fn run_freely<T: Real>(rt: &Runtime, device: usize, count: usize) -> Result<()> {
    let Case { stride, padding, .. } = SMALL;
    let expected = all_three::<T>(rt, SMALL, CPU, ["rust"; 3])?;
    let (input, filters) = (tensor::<T>(rt, SMALL.input, 0)?, tensor::<T>(rt, SMALL.filters, 4)?);
    let gradient = tensor::<T>(rt, SMALL.output(), 2)?;
    for _ in 0..count {
        let (mut out, mut by_input) = (rt.zeros(SMALL.output())?, rt.zeros(SMALL.input)?);
        let mut by_filters = tensor::<T>(rt, SMALL.filters, 1)?;
        Conv2d::task(&input, &filters, &mut out, Conv2dGeometry { stride, padding }).on(device).submit()?;
        Conv2dBackwardInput::task(&gradient, &filters, &mut by_input, Conv2dGeometry { stride, padding })
            .on(device)
            .submit()?;
        for _ in 0..2 {
            Conv2dBackwardFilters::task(
                &input,
                &gradient,
                &mut by_filters,
                Conv2dGeometry { stride, padding },
            )
            .on(device)
            .submit()?;
        }
        let found = [out.to_vec()?, by_input.to_vec()?, by_filters.to_vec()?];
        assert_eq!(found, expected, "{}", T::NAME);
    }
    rt.wait()
}

#[test]
fn it_is_chosen_where_it_is_there_and_has_it() {
    in_seeds(|rt, device, _| {
        if !has_cudnn(rt) {
            return Ok(());
        }
        // The gradient by the filters uses the kernel, which comes first there.
        let mut names = [BY_CUDNN[0], BY_CUDNN[1], "cuda"];
        names.sort_unstable();
        run_freely::<f32>(rt, device, 1)?;
        assert_eq!(measured(rt), names);
        run_freely::<bf16>(rt, device, 1)?;
        assert_eq!(measured(rt), names);
        Ok(())
    });
}

#[test]
fn measurements_decide_between_cudnn_and_the_kernel() {
    with_settings(
        "",
        || Runtime::builder().kernels("measured"),
        |rt, device, told| {
            let has_it = has_cudnn(rt);
            told();
            run_freely::<f32>(rt, device, 20)?;
            if !has_it {
                return Ok(());
            }
            let choices = rt.kernel_choices();
            let rows: Vec<_> = choices.rows.iter().filter(|row| row.worker_kind != "cpu").collect();
            let three = |row: &&&dahl::KernelChoice| row.trials.iter().all(|trial| trial.first_us.is_some());
            assert_eq!(rows.iter().filter(three).count(), 3, "{choices}");
            for row in rows.iter().filter(three) {
                assert_eq!(row.ruling, Ruling::Measured);
                assert!(row.kernel.is_some(), "twenty are enough: {choices}");
                let tried: Vec<_> = row.trials.iter().map(|trial| trial.kernel).collect();
                let is_right = match tried[..] {
                    [first, "cuda"] => BY_CUDNN[..2].contains(&first),
                    ["cuda", last] => last == BY_CUDNN[2],
                    _ => false,
                };
                assert!(is_right, "{choices}");
            }
            Ok(())
        },
    );
}

#[test]
fn where_there_is_no_image_the_kernel_runs() {
    in_seeds(|rt, device, told| {
        let has_it = has_cudnn(rt);
        told();
        let (input, filters) = (rt.zeros::<f32, 4>([0, 3, 6, 5])?, tensor::<f32>(rt, SMALL.filters, 4)?);
        let mut out = rt.zeros([0, 4, 6, 4])?;
        Conv2d::task(&input, &filters, &mut out, Conv2dGeometry::default().padding([1, 0]))
            .on(device)
            .submit()?;
        let mut by_filters = tensor::<f32>(rt, SMALL.filters, 1)?;
        Conv2dBackwardFilters::task(&input, &out, &mut by_filters, Conv2dGeometry::default().padding([1, 0]))
            .on(device)
            .submit()?;
        assert_eq!(by_filters.to_vec()?, numbers::<f32>(72, 1), "a sum of nothing is added");
        assert_eq!(told(), "");
        assert!(!has_it || measured(rt).contains(&"cuda".to_owned()), "{:?}", measured(rt));
        Ok(())
    });
}

#[test]
fn a_submitter_who_wants_cudnn_alone_hears_that_it_has_no_sums_of_halves() {
    in_seeds(|rt, device, _| {
        if !has_cudnn(rt) {
            return Ok(());
        }
        let input = tensor::<f16>(rt, SMALL.input, 0)?;
        let gradient = tensor::<f16>(rt, SMALL.output(), 2)?;
        let mut by_filters = rt.zeros::<f16, 4>(SMALL.filters)?;
        Conv2dBackwardFilters::task(
            &input,
            &gradient,
            &mut by_filters,
            Conv2dGeometry::default().padding([1, 0]),
        )
        .kernel(BY_CUDNN[2])
        .on(device)
        .submit()?;
        let error = by_filters.to_vec().expect_err("it cannot be had").to_string();
        assert!(error.contains("(f16, f32, f16)"), "{error}");
        Ok(())
    });
}

#[test]
fn a_convolution_that_fails_fails_its_task_alone() {
    // The calls are: the handle, the algorithms, the first convolution, the second.
    with_settings("fail=library:4=5000", Runtime::builder, |rt, device, _| {
        let (input, filters) = (tensor::<f32>(rt, SMALL.input, 0)?, tensor::<f32>(rt, SMALL.filters, 4)?);
        let run = || -> Result<Vec<f32>> {
            let mut out = rt.zeros(SMALL.output())?;
            Conv2d::task(&input, &filters, &mut out, Conv2dGeometry::default().padding([1, 0]))
                .on(device)
                .submit()?;
            out.to_vec()
        };
        let (first, second, third) = (run()?, run(), run()?);
        let error = second.expect_err("it failed").to_string();
        assert!(error.contains("CUDNN_STATUS_EXECUTION_FAILED") && error.contains("conv2d"), "{error}");
        assert_eq!(first, third);
        Ok(())
    });
}
