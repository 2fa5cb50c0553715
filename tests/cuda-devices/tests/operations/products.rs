//! The matrix products, by cuBLAS and by their kernels.

use dahl::ops::Transposed;
use dahl::ops::codelets::{Matmul, MatmulAdd, MatmulBatched, Matvec};
use dahl::prelude::*;
use dahl::{Result, bf16, f16};

use super::{CPU, in_seeds, measured, numbers};

fn turned([rows, cols]: [usize; 2], turn: bool) -> [usize; 2] {
    if turn { [cols, rows] } else { [rows, cols] }
}

const SHAPES: [[usize; 3]; 3] = [[3, 5, 4], [1, 7, 2], [6, 1, 1]];
const FORMS: [[bool; 2]; 4] = [[false, false], [false, true], [true, false], [true, true]];

/// Computes every form of the products of matrices by the kernels of these names; returns their number.
fn matrices<T: Real>(rt: &Runtime, device: usize, name: &dyn Fn(&str) -> String) -> Result<usize> {
    let mut count = 0;
    for [rows, inner, cols] in SHAPES {
        for [transpose_a, transpose_b] in FORMS {
            let a: Matrix<'_, T> =
                rt.from_vec(turned([rows, inner], transpose_a), numbers(rows * inner, 0))?;
            let b: Matrix<'_, T> =
                rt.from_vec(turned([inner, cols], transpose_b), numbers(inner * cols, 4))?;
            let run = |worker: usize, [kernel, of_sum]: [&str; 2]| -> Result<[Vec<T>; 2]> {
                let (mut out, mut sum) =
                    (rt.zeros([rows, cols])?, rt.from_vec([rows, cols], numbers(rows * cols, 2))?);
                Matmul::task(&a, &b, &mut out, Transposed { left: transpose_a, right: transpose_b })
                    .kernel(kernel)
                    .on(worker)
                    .submit()?;
                // The matrix that was just computed is read on the same device, and added up.
                MatmulAdd::task(&a, &b, &mut sum, Transposed { left: transpose_a, right: transpose_b })
                    .kernel(of_sum)
                    .on(worker)
                    .submit()?;
                Ok([out.to_vec()?, sum.to_vec()?])
            };
            let found = run(device, [&name("matmul"), &name("matmul_add")])?;
            assert_eq!(found, run(CPU, ["rust"; 2])?, "{} {:?}", T::NAME, [transpose_a, transpose_b]);
            count += 2;
        }
    }
    Ok(count)
}

/// Computes every form of a batch of three products; returns their number.
fn batches<T: Real>(rt: &Runtime, device: usize, kernel: &str) -> Result<usize> {
    let mut count = 0;
    for [rows, inner, cols] in SHAPES {
        for [left, right] in FORMS {
            let of = |shape: [usize; 2], turn: bool, first: usize| {
                let [rows, cols] = turned(shape, turn);
                rt.from_vec([3, rows, cols], numbers::<T>(3 * rows * cols, first))
            };
            let (a, b) = (of([rows, inner], left, 0)?, of([inner, cols], right, 4)?);
            let run = |worker: usize, kernel: &str| -> Result<Vec<T>> {
                let mut out = rt.zeros([3, rows, cols])?;
                let task = MatmulBatched::task(&a, &b, &mut out, Transposed { left, right });
                task.kernel(kernel).on(worker).submit()?;
                out.to_vec()
            };
            assert_eq!(run(device, kernel)?, run(CPU, "rust")?, "{} {:?}", T::NAME, [left, right]);
            count += 1;
        }
    }
    Ok(count)
}

/// Computes both forms of the product of a matrix and a vector; returns their number.
fn vectors<T: Real>(rt: &Runtime, device: usize, kernel: &str) -> Result<usize> {
    let mut count = 0;
    for ([rows, cols], transpose) in [([4, 6], false), ([4, 6], true), ([1, 5], false), ([5, 1], true)] {
        let a: Matrix<'_, T> = rt.from_vec(turned([rows, cols], transpose), numbers(rows * cols, 1))?;
        let x: Vector<'_, T> = rt.from_vec([cols], numbers(cols, 3))?;
        let run = |worker: usize, kernel: &str| -> Result<Vec<T>> {
            let mut out = rt.zeros([rows])?;
            Matvec::task(&a, &x, &mut out, transpose).kernel(kernel).on(worker).submit()?;
            out.to_vec()
        };
        assert_eq!(run(device, kernel)?, run(CPU, "rust")?, "{} {rows} x {cols}, {transpose}", T::NAME);
        count += 1;
    }
    Ok(count)
}

fn all_types(rt: &Runtime, device: usize, suffix: Option<&str>) -> Result<usize> {
    let name = |op: &str| suffix.map_or_else(|| "cuda".to_owned(), |suffix| format!("{op}_{suffix}"));
    let mut count = 0;
    for products in [matrices::<f32>, matrices::<f64>, matrices::<f16>, matrices::<bf16>] {
        count += products(rt, device, &name)?;
    }
    for products in [batches::<f32>, batches::<f64>, batches::<f16>, batches::<bf16>] {
        count += products(rt, device, &name("matmul_batched"))?;
    }
    for products in [vectors::<f32>, vectors::<f64>, vectors::<f16>, vectors::<bf16>] {
        count += products(rt, device, &name("matvec"))?;
    }
    Ok(count)
}

#[test]
fn cublas_and_the_cpu_agree() {
    in_seeds(|rt, device, products| {
        if !has_cublas(rt) {
            eprintln!("not tested: there is no cuBLAS");
            return Ok(());
        }
        products();
        let count = all_types(rt, device, Some("by_cublas"))?;
        let told = products();
        assert!(told.is_empty() || told.lines().count() == count, "{told}");
        Ok(())
    });
}

#[test]
fn the_kernels_and_the_cpu_agree() {
    in_seeds(|rt, device, products| {
        all_types(rt, device, None)?;
        assert_eq!(products(), "");
        Ok(())
    });
}

/// Whether the library is available; on the fake driver it is.
fn has_cublas(rt: &Runtime) -> bool {
    let x = rt.zeros::<f32, 2>([1, 1]).expect("it can be had");
    let mut out = rt.zeros([1, 1]).expect("it can be had");
    let has = Matmul::task(&x, &x, &mut out, Transposed::NEITHER).kernel("matmul_by_cublas").submit().is_ok();
    let is_fake = std::env::var("FAKE_CUDA").as_deref() != Ok("0");
    assert!(has || !is_fake, "the fake driver has it");
    rt.wait().expect("nothing fails");
    has
}

#[test]
fn it_is_chosen_where_it_is_there() {
    in_seeds(|rt, device, _| {
        if !has_cublas(rt) {
            return Ok(());
        }
        let a: Matrix<'_, f32> = rt.from_vec([4, 4], numbers(16, 0))?;
        let mut out = rt.zeros([4, 4])?;
        Matmul::task(&a, &a, &mut out, Transposed::RIGHT).on(device).submit()?;
        rt.wait()?;
        assert_eq!(measured(rt), ["matmul_by_cublas"]);
        Ok(())
    });
}
