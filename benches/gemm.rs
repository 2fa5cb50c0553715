//! Matrix products on one core: `matmul` here beside the crate `gemm`, called in turn, in GFLOP/s by the best of the rounds,
//! with the median of the ratios. A round has as many products in a row as take about two milliseconds.
//!
//! `cargo bench -p dahl-benches --bench gemm`; of the lines those with a text: `-- --lines 32x9216x128`. Or square ones of one type, without the
//! crate, by the median of the rounds, a line of JSON each: `-- --json --type f32 --size 256 --size 512`.

#![allow(unsafe_code, reason = "the crate `gemm` takes raw pointers")]

use std::time::Instant;

use dahl::Result;
use dahl::ndarray::{Array2, ArrayView2};
use dahl::ops::*;
use dahl::prelude::*;
use dahl::{bf16, f16};

/// Seconds that one size takes, about,
const SECONDS: f64 = 0.5;
/// and those between two looks at the clock: what wakes a worker up is no part of a product.
const IN_A_ROW: f64 = 0.002;

/// `[rows, inner] x [inner, cols]`, of which the factors may be transposes.
#[derive(Clone, Copy)]
struct Case {
    extents: [usize; 3],
    transposed: [bool; 2],
}

fn numbers<T: Real>([rows, cols]: [usize; 2]) -> Array2<T> {
    Array2::from_shape_fn([rows, cols], |(i, j)| {
        T::from_f64(((i * 7919 + j * 104_729) % 4001) as f64 / 1000.3 - 2.0)
    })
}

fn stored([rows, cols]: [usize; 2], transposed: bool) -> [usize; 2] {
    if transposed { [cols, rows] } else { [rows, cols] }
}

fn seen<T>(matrix: &Array2<T>, transposed: bool) -> ArrayView2<'_, T> {
    if transposed { matrix.t() } else { matrix.view() }
}

/// The crate's product; it has none for `bf16`.
fn product_of_crate<T: Real>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, out: &mut Array2<T>) {
    let ([rows, inner], cols) = ([a.nrows(), a.ncols()], b.ncols());
    assert!(b.nrows() == inner && out.dim() == (rows, cols) && T::NAME != bf16::NAME);
    let (a_strides, b_strides) = (a.strides(), b.strides());
    // SAFETY: the extents and strides are those of the views, `out` is row-major and borrowed mutably, and the crate knows
    // the types `f16`, `f32` and `f64`.
    unsafe {
        gemm::gemm(
            rows,
            cols,
            inner,
            out.as_mut_ptr(),
            1,
            cols as isize,
            false,
            a.as_ptr(),
            a_strides[1],
            a_strides[0],
            b.as_ptr(),
            b_strides[1],
            b_strides[0],
            T::ZERO,
            T::ONE,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

/// The seconds that each of `count` calls takes, and what comes behind them.
fn seconds(
    count: usize,
    mut work: impl FnMut() -> Result<()>,
    end: impl FnOnce() -> Result<()>,
) -> Result<f64> {
    let begin = Instant::now();
    for _ in 0..count {
        work()?;
    }
    end()?;
    Ok(begin.elapsed().as_secs_f64() / count as f64)
}

/// The best speed of dahl and of the crate, and the median of their ratio.
struct Speed {
    dahl: f64,
    /// Of dahl's median call.
    median: f64,
    of_crate: Option<(f64, f64)>,
}

fn measure<T: Real>(
    rt: &Runtime,
    Case { extents: [rows, inner, cols], transposed }: Case,
    with_crate: bool,
) -> Result<Speed> {
    let (a_shape, b_shape) = (stored([rows, inner], transposed[0]), stored([inner, cols], transposed[1]));
    let (a, b) = (numbers::<T>(a_shape), numbers::<T>(b_shape));
    let (in_a, in_b) = (
        rt.from_vec(a_shape, a.iter().copied().collect())?,
        rt.from_vec(b_shape, b.iter().copied().collect())?,
    );
    let mut out = rt.zeros::<T, 2>([rows, cols])?;
    let mut of_crate = Array2::from_elem([rows, cols], T::ZERO);
    let with_crate = with_crate && T::NAME != bf16::NAME;
    let mut ours = |count| {
        let product = || {
            matmul_transposed(
                &in_a,
                &in_b,
                &mut out,
                Transposed { left: transposed[0], right: transposed[1] },
            )
        };
        seconds(count, product, || rt.wait())
    };
    let once = ours(1)?.min(ours(1)?);
    let count = (IN_A_ROW / once).ceil() as usize;
    let rounds = ((SECONDS / once) as usize / count).clamp(5, 2000);
    let (mut best, mut times, mut ratios) = ([f64::MAX; 2], Vec::new(), Vec::new());
    for _ in 0..rounds {
        let time = ours(count)?;
        best[0] = best[0].min(time);
        times.push(time);
        if with_crate {
            let product = || {
                product_of_crate(seen(&a, transposed[0]), seen(&b, transposed[1]), &mut of_crate);
                Ok(())
            };
            let other = seconds(count, product, || Ok(()))?;
            best[1] = best[1].min(other);
            ratios.push(other / time);
        }
    }
    times.sort_by(f64::total_cmp);
    ratios.sort_by(f64::total_cmp);
    let speed = |time: f64| 2.0 * (rows * inner * cols) as f64 / time / 1e9;
    let of_crate = ratios.get(ratios.len() / 2).map(|&ratio| (speed(best[1]), ratio));
    Ok(Speed { dahl: speed(best[0]), median: speed(times[times.len() / 2]), of_crate })
}

/// A line of the table, if it has the text `lines` in its name.
fn compare<T: Real>(rt: &Runtime, case: Case, lines: &str) -> Result<()> {
    let [rows, inner, cols] = case.extents;
    let layout: String =
        case.transposed.map(|transposed| if transposed { 'T' } else { 'N' }).iter().collect();
    let name = format!("{:<6}{:<18}{layout:>4}", T::NAME, format!("{rows}x{inner}x{cols}"));
    if !name.contains(lines) {
        return Ok(());
    }
    let speed = measure::<T>(rt, case, true)?;
    print!("{name}{:>10.1}", speed.dahl);
    match speed.of_crate {
        Some((speed, ratio)) => println!("{speed:>10.1}{ratio:>8.2}"),
        None => println!("{:>10}{:>8}", "-", "-"),
    }
    Ok(())
}

fn square(size: usize) -> Case {
    Case { extents: [size; 3], transposed: [false; 2] }
}

/// What is asked for.
enum Wanted {
    /// Square products of a type, as JSON.
    Json { element: String, sizes: Vec<usize> },
    /// The lines of the table that have this text.
    Table(String),
}

fn wanted() -> std::result::Result<Wanted, lexopt::Error> {
    use lexopt::prelude::*;
    let (mut json, mut element, mut sizes) = (false, "f32".to_owned(), Vec::new());
    let mut lines = String::new();
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("json") => json = true,
            Long("type") => element = parser.value()?.string()?,
            Long("size") => sizes.push(parser.value()?.parse()?),
            Long("lines") => lines = parser.value()?.string()?,
            Long("bench") => {} // cargo says so
            other => return Err(other.unexpected()),
        }
    }
    Ok(if json { Wanted::Json { element, sizes } } else { Wanted::Table(lines) })
}

fn as_json(
    rt: &Runtime,
    element: &str,
    sizes: &[usize],
) -> std::result::Result<(), Box<dyn std::error::Error>> {
    for &size in sizes {
        let speed = match element {
            "f16" => measure::<f16>(rt, square(size), false)?,
            "bf16" => measure::<bf16>(rt, square(size), false)?,
            "f32" => measure::<f32>(rt, square(size), false)?,
            "f64" => measure::<f64>(rt, square(size), false)?,
            other => return Err(format!("a type is f16, bf16, f32 or f64, not `{other}`").into()),
        };
        println!("{}", serde_json::json!({ "size": size, "gflops": speed.median }));
    }
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let rt = Runtime::builder().cpu_workers(1).check(false).build()?;
    let lines = match wanted()? {
        Wanted::Json { element, sizes } => return as_json(&rt, &element, &sizes),
        Wanted::Table(lines) => lines,
    };
    let case = |extents, transposed| Case { extents, transposed };
    let cases = [
        square(16),
        square(64),
        square(128),
        square(256),
        square(512),
        square(1024),
        square(2048),
        case([64; 3], [false, true]),
        case([128; 3], [false, true]),
        case([512; 3], [false, true]),
        case([512; 3], [true, false]),
        case([512; 3], [true, true]),
        // A dense layer of 676 inputs and 10 outputs, and its gradients.
        case([34, 676, 10], [false, true]),
        case([34, 10, 676], [false, false]),
        case([10, 34, 676], [true, false]),
        // One of 9,216 inputs and 128 outputs.
        case([32, 9216, 128], [false, true]),
        case([32, 128, 9216], [false, false]),
        case([128, 32, 9216], [true, false]),
        case([64, 9216, 128], [false, true]),
        case([64, 128, 9216], [false, false]),
        case([128, 64, 9216], [true, false]),
        // A right factor that leaves the caches, by few rows.
        case([32, 1024, 1024], [false, false]),
        case([32, 4096, 4096], [false, false]),
        case([32, 32, 9216], [false, false]),
        // Scores of attention.
        case([1024, 64, 2048], [false, true]),
        case([1, 1024, 1024], [false, false]),
        // Layers of GPT-2 small that write a token, or several texts.
        case([1, 768, 3072], [false, true]),
        case([1, 3072, 768], [false, true]),
        case([1, 768, 50257], [false, true]),
        case([1, 770, 3070], [false, true]),
        case([1, 768, 3072], [false, false]),
        case([1, 770, 3070], [false, false]),
        case([2, 768, 3072], [false, true]),
        case([4, 768, 3072], [false, true]),
        case([8, 768, 3072], [false, true]),
        case([12, 768, 3072], [false, true]),
        case([16, 768, 3072], [false, true]),
        case([2, 768, 3072], [false, false]),
        case([4, 768, 3072], [false, false]),
        case([8, 768, 3072], [false, false]),
        case([12, 768, 3072], [false, false]),
        case([16, 768, 3072], [false, false]),
        // The state of an LSTM of 256 features, and its gradients.
        case([32, 256, 1024], [false, true]),
        case([32, 1024, 256], [false, false]),
        case([1024, 32, 256], [true, false]),
        case([2048, 256, 1024], [false, true]),
        case([2048, 1024, 256], [false, false]),
        case([1024, 2048, 256], [true, false]),
        case([1024, 1024, 1], [false, false]),
    ];
    println!("type  extents         layout      dahl      gemm   ratio   (dahl: with the task around it)");
    for case in cases {
        compare::<f32>(&rt, case, &lines)?;
        compare::<f64>(&rt, case, &lines)?;
        compare::<f16>(&rt, case, &lines)?;
        compare::<bf16>(&rt, case, &lines)?;
    }
    Ok(())
}
