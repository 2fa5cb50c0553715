//! Operations by rows, and kernels with a prologue and an epilogue, in one task: the same bits in every type and shape, and why some
//! stay apart.

use dahl::ops::{
    add_init, bias_init, div_init, exp_init, layer_norm_init, log_softmax_init, matmul_init, max_axis_init,
    mean_axis_init, mul_init, neg_init, relu_init, softmax_init, sub_init, sum_axis_init, sum_init,
};
use dahl::prelude::*;

/// The softmax of `x y` along the last axis, in single operations, times `y`.
#[program]
fn softmax_in_pieces<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Matrix<'_, T>,
    y: &Matrix<'_, T>,
) -> dahl::Result<Matrix<'s, T>> {
    let scaled = mul_init(scope, x, y)?;
    let powers = exp_init(scope, &sub_init(scope, &scaled, &max_axis_init(scope, &scaled, 1)?)?)?;
    let shares = div_init(scope, &powers, &sum_axis_init(scope, &powers, 1)?)?;
    mul_init(scope, &shares, y)
}

/// A norm of sums, a softmax with what others read too, means, and the sum of all that.
#[program]
fn norms<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Matrix<'_, T>,
    y: &Matrix<'_, T>,
    weight: &Vector<'_, T>,
    shift: &Vector<'_, T>,
) -> dahl::Result<(Matrix<'s, T>, Matrix<'s, T>, Scalar<'s, T>)> {
    let sum = add_init(scope, x, y)?;
    let normal = layer_norm_init(scope, &sum, weight, shift, 1e-5)?;
    let shares = softmax_init(scope, &bias_init(scope, &normal, shift, 1)?, 1)?;
    let logarithms = log_softmax_init(scope, &mul_init(scope, &shares, x)?, 1)?;
    let means = mean_axis_init(scope, &logarithms, 1)?;
    let total = sum_init(scope, &mul_init(scope, &sub_init(scope, &logarithms, &means)?, x)?)?;
    Ok((shares, means, total))
}

fn value<T: Real>(i: usize) -> T {
    T::from_f64((i * 7919 % 4001) as f64 / 1000.3 - 2.0)
}

fn array<'r, T: Real, const N: usize>(
    rt: &'r Runtime,
    shape: [usize; N],
    seed: usize,
) -> dahl::Result<Array<'r, T, N>> {
    rt.from_vec(shape, (0..shape.iter().product()).map(|i| value(i + seed)).collect())
}

fn bits<T: Real>(values: Vec<T>) -> Vec<u64> {
    values.into_iter().map(|value| value.to_f64().to_bits()).collect()
}

/// Runs both programs with these passes: tasks and bits.
fn run<T: Real>([rows, cols]: [usize; 2], passes: Passes) -> dahl::Result<([usize; 2], Vec<Vec<u64>>)> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let (x, y) = (array::<T, 2>(&rt, [rows, cols], 0)?, array::<T, 2>(&rt, [rows, cols], 5)?);
    let (weight, shift) = (array::<T, 1>(&rt, [cols], 3)?, array::<T, 1>(&rt, [cols], 11)?);
    let mut pieces = SoftmaxInPieces::new(&rt).passes(passes);
    let mut normed = Norms::new(&rt).passes(passes);
    let mut results = Vec::new();
    for _ in 0..2 {
        results.push(bits(pieces.call(&x, &y)?.to_vec()?));
        let (shares, means, total) = normed.call(&x, &y, &weight, &shift)?;
        results.extend([bits(shares.to_vec()?), bits(means.to_vec()?), bits(total.to_vec()?)]);
    }
    Ok(([pieces.graph().tasks(), normed.graph().tasks()], results))
}

fn check<T: Real>(shape: [usize; 2], expected: [usize; 2]) -> dahl::Result<()> {
    let (_, plain) = run::<T>(shape, Passes::none())?;
    let (tasks, fused) = run::<T>(shape, Passes::none().fusion(true).reductions(true))?;
    assert_eq!(fused, plain, "{} of {shape:?}", T::NAME);
    assert_eq!(tasks, expected, "{} of {shape:?}", T::NAME);
    Ok(())
}

#[test]
fn operations_by_rows_are_one_task_with_the_same_bits_in_every_type() -> dahl::Result<()> {
    // One row, a few, one tile, many tiles of many rows and of few.
    for shape in [[1, 5], [7, 1], [33, 40], [1000, 77], [9, 1500]] {
        // The total of halves is rounded by a task of its own.
        check::<f16>(shape, [1, 2])?;
        check::<bf16>(shape, [1, 2])?;
        check::<f32>(shape, [1, 1])?;
        check::<f64>(shape, [1, 1])?;
    }
    Ok(())
}

#[test]
fn without_rows_only_maps_are_one_task() -> dahl::Result<()> {
    let (tasks, bits) = run::<f32>([30, 20], Passes::none().fusion(true))?;
    let (_, plain) = run::<f32>([30, 20], Passes::none())?;
    assert_eq!(bits, plain);
    // The maps before the largest, the largest, the difference and its power, the sum, the quotient and the product.
    assert_eq!(tasks[0], 5);
    Ok(())
}

#[test]
fn rows_of_fused_operations_need_no_memory() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let (x, y) = (array::<f32, 2>(&rt, [500, 100], 0)?, array::<f32, 2>(&rt, [500, 100], 1)?);
    let mut peaks = Vec::new();
    for passes in [Passes::none(), Passes::all()] {
        let mut program = SoftmaxInPieces::new(&rt).passes(passes);
        program.call(&x, &y)?.to_vec()?;
        peaks.push(program.memory_plan().peak_bytes());
    }
    assert!(peaks[0] >= 2 * 200_000 && peaks[1] == 0, "{peaks:?}");
    Ok(())
}

#[test]
fn rows_that_are_larger_than_a_tile_stay_apart_and_say_so() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let (x, y) = (array::<f64, 2>(&rt, [2, 20_000], 0)?, array::<f64, 2>(&rt, [2, 20_000], 1)?);
    let mut results = Vec::new();
    for passes in [Passes::none(), Passes::all()] {
        let mut program = SoftmaxInPieces::new(&rt).passes(passes);
        results.push(bits(program.call(&x, &y)?.to_vec()?));
        if passes == Passes::all() {
            let report = program.explain().iter().map(ToString::to_string).collect::<String>();
            let why = "the rows, or what each of them reads whole, are larger than a tile";
            assert!(report.contains("stays apart from") && report.contains(why), "{report}");
        }
    }
    assert_eq!(results[0], results[1]);
    Ok(())
}

/// Sums along the first axis: rows have nothing to do with each other only along the second one.
#[program]
fn columns<'s, T: Real>(scope: &'s Recording<'_>, x: &Matrix<'_, T>) -> dahl::Result<Matrix<'s, T>> {
    let sums = sum_axis_init(scope, &exp_init(scope, x)?, 0)?;
    neg_init(scope, &relu_init(scope, &sums)?)
}

#[test]
fn columns_are_fused_if_all_is_one_tile() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    for (shape, expected) in [([40, 50], 1), ([4000, 50], 4)] {
        let x = array::<f32, 2>(&rt, shape, 0)?;
        let mut results = Vec::new();
        for passes in [Passes::none(), Passes::none().reductions(true)] {
            let mut program = Columns::new(&rt).passes(passes);
            results.push(bits(program.call(&x)?.to_vec()?));
            let tasks = if passes == Passes::none() { 4 } else { expected };
            assert_eq!(program.graph().tasks(), tasks, "{}", program.graph());
        }
        assert_eq!(results[0], results[1]);
    }
    Ok(())
}

/// `relu(relu(x) w + b)`, the layer of a network with a prologue and an epilogue.
#[program]
fn layer<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Matrix<'_, T>,
    w: &Matrix<'_, T>,
    b: &Vector<'_, T>,
) -> dahl::Result<Matrix<'s, T>> {
    let product = matmul_init(scope, &relu_init(scope, x)?, w)?;
    relu_init(scope, &bias_init(scope, &product, b, 1)?)
}

fn layer_of<T: Real>([rows, inner, cols]: [usize; 3], workers: usize, expected: usize) -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(workers).build()?;
    let (x, w) = (array::<T, 2>(&rt, [rows, inner], 0)?, array::<T, 2>(&rt, [inner, cols], 9)?);
    let b = array::<T, 1>(&rt, [cols], 4)?;
    let mut results = Vec::new();
    for passes in [Passes::none(), Passes::none().epilogues(true)] {
        let mut program = Layer::new(&rt).passes(passes);
        for _ in 0..2 {
            results.push(bits(program.call(&x, &w, &b)?.to_vec()?));
        }
        let tasks = if passes == Passes::none() { 4 } else { expected };
        assert_eq!(program.graph().tasks(), tasks, "{} of {rows} x {inner} x {cols}", T::NAME);
    }
    assert!(results.iter().all(|result| *result == results[0]), "{} of {rows} x {inner} x {cols}", T::NAME);
    Ok(())
}

#[test]
fn products_are_one_task_with_what_is_around_them() -> dahl::Result<()> {
    // One tile: in every type, and however a product is computed.
    for shape in [[1, 1, 1], [3, 5, 7], [20, 300, 17], [60, 60, 60], [5, 700, 3]] {
        layer_of::<f16>(shape, 2, 1)?;
        layer_of::<bf16>(shape, 2, 1)?;
        layer_of::<f32>(shape, 2, 1)?;
        layer_of::<f64>(shape, 2, 1)?;
    }
    Ok(())
}

#[test]
fn large_products_are_cut_into_rows_where_their_bits_allow_it() -> dahl::Result<()> {
    // Whole tiles, and a rest of fewer rows than a product may have.
    for shape in [[1000, 40, 30], [1531, 64, 100], [777, 200, 64], [1003, 33, 2], [2000, 1, 60]] {
        layer_of::<f32>(shape, 1, 1)?;
        layer_of::<f64>(shape, 1, 1)?;
    }
    // Halves are widened in blocks of rows; one column is another product; a large factor leaves the cache.
    layer_of::<f16>([2000, 64, 100], 1, 4)?;
    layer_of::<f32>([40_000, 64, 1], 1, 4)?;
    layer_of::<f32>([600, 600, 600], 1, 4)?;
    // Several workers may share a product.
    layer_of::<f32>([1000, 40, 30], 2, 4)?;
    Ok(())
}

/// What is between two products belongs to one of them, and what others read stays in memory.
#[program]
fn network<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Matrix<'_, T>,
) -> dahl::Result<(Matrix<'s, T>, Matrix<'s, T>)> {
    let hidden = matmul_init(scope, x, x)?;
    let active = relu_init(scope, &hidden)?;
    let out = matmul_init(scope, &active, x)?;
    Ok((out, neg_init(scope, &exp_init(scope, &hidden)?)?))
}

#[test]
fn a_task_has_one_product_and_nobody_waits_for_its_epilogue() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let x = array::<f64, 2>(&rt, [9, 9], 2)?;
    let mut results = Vec::new();
    for passes in [Passes::none(), Passes::none().epilogues(true)] {
        let mut program = Network::new(&rt).passes(passes);
        let (out, other) = program.call(&x)?;
        results.push((bits(out.to_vec()?), bits(other.to_vec()?)));
        if passes != Passes::none() {
            // The first product, of which two read the result; what follows it, with the second one; and two maps.
            assert_eq!(program.graph().tasks(), 4, "{}", program.graph());
            let report = program.explain()[0].to_string();
            assert!(report.contains("what is passed on is also used otherwise"), "{report}");
        }
    }
    assert_eq!(results[0], results[1]);
    Ok(())
}
