//! Kernels of operations that have no reference, compared with the CPU's kernels, which compute the same numbers in `f64`:
//! in each element type, on whole arrays and on strided parts.

use cuda_on_cpu::kernel;
use dahl::ndarray::Axis;
use dahl::ops::codelets::{
    BatchNorm, BatchNormBackward, GroupNorm, GroupNormBackward, GruCellBackward, LstmCellBackward,
};
use dahl::prelude::*;
use dahl::testing::submit_to;

fn runtime() -> Runtime {
    Runtime::builder().cpu_workers(1).build().unwrap()
}

/// Numbers from -1 to 1, that an element type has, times `size`.
fn numbers<T: Real>(len: usize, seed: usize, size: f64) -> Vec<T> {
    (0..len).map(|i| T::from_f64(size * (((37 * i + 11 * seed + i * i) % 127) as f64 / 63.5 - 1.0))).collect()
}

/// Where an array is.
#[derive(Clone, Copy, Debug)]
enum Place {
    Whole,
    /// The second part of a wider array's last axis.
    Part,
}

const PLACES: [Place; 2] = [Place::Whole, Place::Part];

/// Calls `f` with an array of these elements.
fn with_input<T: Real, const N: usize, R>(
    rt: &Runtime,
    place: Place,
    shape: [usize; N],
    elements: &[T],
    f: impl FnOnce(&Array<'_, T, N>) -> R,
) -> R {
    let Place::Part = place else { return f(&rt.from_vec(shape, elements.to_vec()).unwrap()) };
    let mut wide = shape;
    wide[N - 1] *= 2;
    let lines = elements
        .chunks_exact(shape[N - 1])
        .flat_map(|line| [vec![T::ONE; line.len()], line.to_vec()].concat());
    let wide = rt.from_vec(wide, lines.collect()).unwrap();
    let parts = wide.partition_by(Axis(N - 1), &[shape[N - 1]; 2]).unwrap();
    f(&parts[1])
}

/// The elements that `f` writes to an array.
fn output<T: Real, const N: usize>(
    rt: &Runtime,
    place: Place,
    shape: [usize; N],
    f: impl FnOnce(&mut Array<'_, T, N>),
) -> Vec<T> {
    let mut wide = shape;
    let Place::Part = place else {
        let mut out = rt.zeros(shape).unwrap();
        f(&mut out);
        return out.to_vec().unwrap();
    };
    wide[N - 1] *= 2;
    let mut wide = rt.zeros(wide).unwrap();
    f(&mut wide.partition_mut_by(Axis(N - 1), &[shape[N - 1]; 2]).unwrap()[1]);
    let all = wide.to_vec().unwrap();
    all.chunks_exact(2 * shape[N - 1]).flat_map(|line| line[shape[N - 1]..].to_vec()).collect()
}

/// Whether results are those of the CPU, up to some roundings of their type.
fn assert_close<T: Real>(what: &str, got: &[T], expected: &[f64]) {
    assert_eq!(got.len(), expected.len(), "{what}");
    let largest = expected.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
        let bound = 64.0 * T::EPSILON.to_f64() * (expected.abs() + largest);
        let error = (got.to_f64() - expected).abs();
        assert!(
            error <= bound,
            "{what} [{i}]: {got}, and the CPU has {expected}: {error:e} apart, and {bound:e} are allowed"
        );
    }
}

fn widened<T: Real>(elements: &[T]) -> Vec<f64> {
    elements.iter().map(|element| element.to_f64()).collect()
}

macro_rules! for_each_real {
    ($($test:ident),*) => {$(
        mod $test {
            #[test]
            fn f16() {
                super::$test::<dahl::f16>();
            }
            #[test]
            fn bf16() {
                super::$test::<dahl::bf16>();
            }
            #[test]
            fn f32() {
                super::$test::<f32>();
            }
            #[test]
            fn f64() {
                super::$test::<f64>();
            }
        }
    )*};
}

for_each_real!(batch_norm, batch_norm_of_a_large_mean, group_norm, lstm_cell_backward, gru_cell_backward);

/// How a task is submitted.
type Submit<'a> = &'a dyn Fn(dahl::Task<'_>);

fn on_cpu(task: dahl::Task<'_>) {
    task.submit().unwrap();
}

fn by<T: Real>(name: &'static str) -> impl Fn(dahl::Task<'_>) {
    move |task| submit_to(task, &kernel(name, &[T::NAME])[0]).unwrap()
}

/// All outputs of a batch normalisation and of its gradient, one after the other.
fn batch_norm_outputs<T: Real, const N: usize>(
    place: Place,
    shape: [usize; N],
    given: [&[T]; 4],
    [forward, backward]: [Submit<'_>; 2],
) -> [Vec<T>; 6] {
    let (rt, channels, epsilon) = (runtime(), [shape[1]], T::from_f64(1.0 / 1024.0));
    let mut made: [Vec<T>; 6] = Default::default();
    with_input(&rt, place, shape, given[0], |input| {
        with_input(&rt, place, channels, given[1], |weight| {
            with_input(&rt, place, channels, given[2], |bias| {
                with_input(&rt, place, shape, given[3], |gradient| {
                    let [out, mean, variance, by_input, by_weight, by_bias] = &mut made;
                    *out = output(&rt, place, shape, |out| {
                        *mean = output(&rt, place, channels, |mean| {
                            *variance = output(&rt, place, channels, |variance| {
                                forward(BatchNorm::task(input, weight, bias, out, mean, variance, epsilon));
                            });
                        });
                    });
                    *by_input = output(&rt, place, shape, |by_input| {
                        *by_weight = output(&rt, place, channels, |by_weight| {
                            *by_bias = output(&rt, place, channels, |by_bias| {
                                backward(BatchNormBackward::task(
                                    input, weight, gradient, by_input, by_weight, by_bias, epsilon,
                                ));
                            });
                        });
                    });
                });
            });
        });
    });
    made
}

fn batch_norm_of<T: Real, const N: usize>(shape: [usize; N]) {
    let (len, channels) = (shape.iter().product(), shape[1]);
    let given =
        [(len, 1), (channels, 2), (channels, 3), (len, 4)].map(|(len, seed)| numbers::<T>(len, seed, 2.0));
    let wide = given.each_ref().map(|given| widened(given));
    let expected =
        batch_norm_outputs(Place::Whole, shape, wide.each_ref().map(|given| &given[..]), [&on_cpu, &on_cpu]);
    for place in PLACES {
        let submit: [Submit<'_>; 2] = [&by::<T>("batch_norm"), &by::<T>("batch_norm_backward")];
        let made = batch_norm_outputs(place, shape, given.each_ref().map(|given| &given[..]), submit);
        let names = ["out", "mean", "variance", "by_input", "by_weight", "by_bias"];
        for ((made, expected), name) in made.iter().zip(&expected).zip(names) {
            assert_close(&format!("batch_norm of {shape:?}, {place:?}: {name}"), made, expected);
        }
    }
}

fn batch_norm<T: Real>() {
    batch_norm_of::<T, 2>([37, 5]);
    batch_norm_of::<T, 4>([5, 3, 4, 6]);
    batch_norm_of::<T, 5>([3, 2, 2, 3, 4]);
    // More than one part of a channel, and planes that do not divide them.
    batch_norm_of::<T, 3>([3, 2, 2101]);
}

/// Without a second pass the variance would have no correct digit.
fn batch_norm_of_a_large_mean<T: Real>() {
    let mean = T::EPSILON.to_f64().recip();
    let input: Vec<T> = (0..1000).map(|i| T::from_f64(mean + f64::from(i % 2))).collect();
    let given: [&[T]; 4] = [&input, &[T::ONE], &[T::ZERO], &[T::ONE; 1000]];
    let submit: [Submit<'_>; 2] = [&by::<T>("batch_norm"), &by::<T>("batch_norm_backward")];
    let [out, _, variance, ..] = batch_norm_outputs(Place::Whole, [10, 1, 100], given, submit);
    assert_eq!(variance[0].to_f64(), 0.25);
    let factor = (0.25_f64 + 1.0 / 1024.0).sqrt().recip() / 2.0;
    let expected: Vec<f64> = (0..1000).map(|i| if i % 2 == 0 { -factor } else { factor }).collect();
    assert_close("out", &out, &expected);
}

/// All outputs of a normalisation of groups and of its gradient, one after the other.
fn group_norm_outputs<T: Real, const N: usize>(
    place: Place,
    shape: [usize; N],
    groups: usize,
    given: [&[T]; 4],
    [forward, backward]: [Submit<'_>; 2],
) -> [Vec<T>; 4] {
    let (rt, channels, epsilon) = (runtime(), [shape[1]], T::from_f64(1.0 / 1024.0));
    let mut made: [Vec<T>; 4] = Default::default();
    with_input(&rt, place, shape, given[0], |input| {
        with_input(&rt, place, channels, given[1], |weight| {
            with_input(&rt, place, channels, given[2], |bias| {
                with_input(&rt, place, shape, given[3], |gradient| {
                    let [out, by_input, by_weight, by_bias] = &mut made;
                    *out = output(&rt, place, shape, |out| {
                        forward(GroupNorm::task(input, weight, bias, out, groups, epsilon));
                    });
                    *by_input = output(&rt, place, shape, |by_input| {
                        *by_weight = output(&rt, place, channels, |by_weight| {
                            *by_bias = output(&rt, place, channels, |by_bias| {
                                backward(GroupNormBackward::task(
                                    input, weight, gradient, by_input, by_weight, by_bias, groups, epsilon,
                                ));
                            });
                        });
                    });
                });
            });
        });
    });
    made
}

fn group_norm_of<T: Real, const N: usize>(shape: [usize; N], groups: usize) {
    let (len, channels) = (shape.iter().product(), shape[1]);
    let given =
        [(len, 1), (channels, 2), (channels, 3), (len, 4)].map(|(len, seed)| numbers::<T>(len, seed, 2.0));
    let wide = given.each_ref().map(|given| widened(given));
    let wide = wide.each_ref().map(|given| &given[..]);
    let expected = group_norm_outputs(Place::Whole, shape, groups, wide, [&on_cpu, &on_cpu]);
    for place in PLACES {
        let submit: [Submit<'_>; 2] = [&by::<T>("group_norm"), &by::<T>("group_norm_backward")];
        let made = group_norm_outputs(place, shape, groups, given.each_ref().map(|given| &given[..]), submit);
        for ((made, expected), name) in
            made.iter().zip(&expected).zip(["out", "by_input", "by_weight", "by_bias"])
        {
            assert_close(&format!("group_norm of {shape:?}, {place:?}: {name}"), made, expected);
        }
    }
}

fn group_norm<T: Real>() {
    group_norm_of::<T, 3>([3, 6, 35], 2);
    // A warp takes a plane, and some take two.
    group_norm_of::<T, 4>([2, 22, 5, 7], 2);
    // A block takes a long plane.
    group_norm_of::<T, 3>([2, 9, 1031], 1);
    group_norm_of::<T, 2>([5, 12], 3);
}

/// Calls `f` with an array for each list of elements, `[rows, columns]`.
fn with_inputs<T: Real, const COUNT: usize>(
    rt: &Runtime,
    place: Place,
    rows: usize,
    given: [&[T]; COUNT],
    f: impl FnOnce([&Array<'_, T, 2>; COUNT]),
) {
    let columns = |elements: &[T]| elements.len() / rows;
    let wide = given.map(|elements| match place {
        Place::Whole => rt.from_vec([rows, columns(elements)], elements.to_vec()).unwrap(),
        Place::Part => {
            let lines = elements.chunks_exact(columns(elements));
            let lines = lines.flat_map(|line| [vec![T::ONE; line.len()], line.to_vec()].concat());
            rt.from_vec([rows, 2 * columns(elements)], lines.collect()).unwrap()
        }
    });
    let parts = wide.each_ref().map(|wide| match place {
        Place::Whole => wide.partition_by(Axis(1), &[0, wide.shape()[1]]).unwrap(),
        Place::Part => wide.partition_by(Axis(1), &[wide.shape()[1] / 2; 2]).unwrap(),
    });
    f(parts.each_ref().map(|parts| &parts[1]));
}

fn lstm_cell_backward_outputs<T: Real>(
    place: Place,
    width: usize,
    given: [&[T]; 5],
    submit: Submit<'_>,
) -> [Vec<T>; 2] {
    let (rt, rows) = (runtime(), given[1].len() / width);
    let mut made: [Vec<T>; 2] = Default::default();
    with_inputs(&rt, place, rows, given, |[gates, cell, next, by_hidden, by_next]| {
        let [by_gates, by_cell] = &mut made;
        *by_gates = output(&rt, place, [rows, 4 * width], |by_gates| {
            *by_cell = output(&rt, place, [rows, width], |by_cell| {
                submit(LstmCellBackward::task(gates, cell, next, by_hidden, by_next, by_gates, by_cell));
            });
        });
    });
    made
}

fn lstm_cell_backward<T: Real>() {
    let (rows, width) = (7, 37);
    let lens = [4 * width, width, width, width, width];
    let given: Vec<Vec<T>> = lens.iter().zip(1..).map(|(len, seed)| numbers(rows * len, seed, 3.0)).collect();
    let wide: Vec<Vec<f64>> = given.iter().map(|given| widened(given)).collect();
    let wide: [&[f64]; 5] = std::array::from_fn(|i| &wide[i][..]);
    let expected = lstm_cell_backward_outputs(Place::Whole, width, wide, &on_cpu);
    for place in PLACES {
        let given: [&[T]; 5] = std::array::from_fn(|i| &given[i][..]);
        let made = lstm_cell_backward_outputs(place, width, given, &by::<T>("lstm_cell_backward"));
        for (made, expected) in made.iter().zip(&expected) {
            assert_close(&format!("lstm_cell_backward, {place:?}"), made, expected);
        }
    }
}

fn gru_cell_backward_outputs<T: Real>(
    place: Place,
    width: usize,
    given: [&[T]; 4],
    submit: Submit<'_>,
) -> [Vec<T>; 3] {
    let (rt, rows) = (runtime(), given[2].len() / width);
    let mut made: [Vec<T>; 3] = Default::default();
    with_inputs(&rt, place, rows, given, |[input_gates, hidden_gates, hidden, gradient]| {
        let [by_input, by_gates, by_hidden] = &mut made;
        *by_input = output(&rt, place, [rows, 3 * width], |by_input| {
            *by_gates = output(&rt, place, [rows, 3 * width], |by_gates| {
                *by_hidden = output(&rt, place, [rows, width], |by_hidden| {
                    submit(GruCellBackward::task(
                        input_gates,
                        hidden_gates,
                        hidden,
                        gradient,
                        by_input,
                        by_gates,
                        by_hidden,
                    ));
                });
            });
        });
    });
    made
}

fn gru_cell_backward<T: Real>() {
    let (rows, width) = (7, 37);
    let lens = [3 * width, 3 * width, width, width];
    let given: Vec<Vec<T>> = lens.iter().zip(1..).map(|(len, seed)| numbers(rows * len, seed, 2.0)).collect();
    let wide: Vec<Vec<f64>> = given.iter().map(|given| widened(given)).collect();
    let wide: [&[f64]; 4] = std::array::from_fn(|i| &wide[i][..]);
    let expected = gru_cell_backward_outputs(Place::Whole, width, wide, &on_cpu);
    for place in PLACES {
        let given: [&[T]; 4] = std::array::from_fn(|i| &given[i][..]);
        let made = gru_cell_backward_outputs(place, width, given, &by::<T>("gru_cell_backward"));
        for (made, expected) in made.iter().zip(&expected) {
            assert_close(&format!("gru_cell_backward, {place:?}"), made, expected);
        }
    }
}
