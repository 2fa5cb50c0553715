//! Products by cuBLAS: the requests, and when its work runs.

use dahl_core::{Real, Result, Runtime, Task, bf16, f16};

use super::product::{Factors, PRODUCT, is_absent, number, numbers, product, task};
use crate::runtime::bed::{Bed, builder, cuda, in_seeds};

const FORMS: [[bool; 2]; 4] = [[false, false], [false, true], [true, false], [true, true]];
const SHAPES: [[usize; 3]; 4] = [[3, 4, 5], [1, 6, 2], [5, 1, 1], [1, 1, 7]];

/// Compares every form on the device and on the CPU.
fn compare<T: Real, O: Real>(rt: &Runtime) -> Result<()> {
    for (shape, transposed, keep) in SHAPES
        .into_iter()
        .flat_map(|shape| FORMS.map(|form| (shape, form)))
        .flat_map(|(shape, form)| [(shape, form, false), (shape, form, true)])
    {
        let [mut expected, mut found] =
            [Factors::<T, O>::new(rt, shape, transposed)?, Factors::new(rt, shape, transposed)?];
        task(product::<T, O>(), &mut expected, transposed, keep).on(0).submit()?;
        task(product::<T, O>(), &mut found, transposed, keep).on(cuda(0)).submit()?;
        assert_eq!(
            found.out.to_vec()?,
            expected.out.to_vec()?,
            "{} {shape:?} {transposed:?} {keep}",
            T::NAME
        );
    }
    Ok(())
}

#[test]
fn every_form_and_type() {
    in_seeds(1, || {
        let rt = builder().build().expect("it can be had");
        if is_absent(&rt) {
            return;
        }
        compare::<f32, f32>(&rt).expect("nothing failed");
        compare::<f64, f64>(&rt).expect("nothing failed");
        compare::<f16, f16>(&rt).expect("nothing failed");
        compare::<bf16, bf16>(&rt).expect("nothing failed");
        compare::<f16, f32>(&rt).expect("nothing failed");
        compare::<bf16, f32>(&rt).expect("nothing failed");
    });
}

#[test]
fn cublas_is_told_types_modes_and_the_transpose() {
    let Some(bed) = Bed::new("") else { return };
    let rt = builder().build().expect("it can be had");
    let shape = [3, 4, 5];
    let mut single = Factors::<f32, f32>::new(&rt, shape, [false, true]).expect("it can be had");
    let mut half = Factors::<bf16, f32>::new(&rt, shape, [true, false]).expect("it can be had");
    let mut double = Factors::<f64, f64>::new(&rt, shape, [false, false]).expect("it can be had");
    task(product::<f32, f32>(), &mut single, [false, true], false).on(cuda(0)).submit().expect("it is right");
    task(product::<bf16, f32>(), &mut half, [true, false], true).on(cuda(0)).submit().expect("it is right");
    task(product::<f64, f64>(), &mut double, [false, false], false)
        .on(cuda(0))
        .submit()
        .expect("it is right");
    rt.wait().expect("nothing failed");
    // 68 is f32 without TF32, 70 is f64; mode 16: no reductions in less than the compute type; no atomics.
    let told = "workspace given, math 16, atomics 0";
    assert_eq!(
        bed.products(),
        format!(
            "TN 5x3x4, leading 4 4 5, f32 to f32 in 68, beta 0, {told}\n\
             NT 5x3x4, leading 5 3 5, bf16 to f32 in 68, beta 1, {told}\n\
             NN 5x3x4, leading 5 4 5, f64 to f64 in 70, beta 0, {told}\n"
        )
    );
}

#[test]
fn tf32_is_for_who_asks_for_it() {
    let Some(bed) = Bed::new("") else { return };
    // 1 - 2^-12 needs more than 10 bits of fraction.
    let fine = 1.0 - 1.0 / 4096.0;
    for (allowed, expected, compute) in [(false, fine, 68), (true, 1.0 - 1.0 / 2048.0, 77)] {
        let rt = builder().cuda_tf32(allowed).build().expect("it can be had");
        let a = rt.from_vec([1, 1], vec![fine]).expect("it can be had");
        let b = rt.from_vec([1, 1], vec![1.0]).expect("it can be had");
        let mut of = Factors::<f32, f32> { a, b, out: rt.zeros([1, 1]).expect("it can be had") };
        task(product::<f32, f32>(), &mut of, [false; 2], false).on(cuda(0)).submit().expect("it is right");
        assert_eq!(of.out.to_vec().expect("nothing failed"), [expected]);
        let told = bed.products();
        assert!(told.contains(&format!("f32 to f32 in {compute}")), "{told}");
    }
}

#[test]
fn its_work_is_in_the_order_of_the_stream() {
    in_seeds(2, || {
        let rt = builder().build().expect("it can be had");
        if is_absent(&rt) {
            return;
        }
        let square = [4, 4, 4];
        let [mut expected, mut found] =
            [(); 2].map(|()| Factors::<f32, f32>::new(&rt, square, [false; 2]).expect("it can be had"));
        for (step, keep) in [false, true, true, false, true].into_iter().enumerate() {
            // From device to device, by cuBLAS and by the kernel, each on the result of the one before.
            task(&PRODUCT, &mut expected, [false, true], keep).on(0).submit().expect("it is right");
            let name = ["by_cublas", "cuda"][usize::from(step == 2)];
            task(&PRODUCT, &mut found, [false, true], keep)
                .kernel(name)
                .on(cuda(step % 2))
                .submit()
                .expect("it is right");
            std::mem::swap(&mut expected.a, &mut expected.out);
            std::mem::swap(&mut found.a, &mut found.out);
        }
        assert_eq!(found.a.to_vec().expect("nothing failed"), expected.a.to_vec().expect("nothing failed"));
    });
}

#[test]
fn parts_of_a_matrix() {
    in_seeds(1, || {
        let rt = builder().build().expect("it can be had");
        if is_absent(&rt) {
            return;
        }
        let wide = numbers::<f32>(&rt, [4, 6], 0).expect("it can be had");
        let parts = wide.partition(dahl_core::ndarray::Axis(1), 3).expect("it can be cut");
        let mut out = rt.zeros::<f32, 2>([3, 3]).expect("it can be had");
        let mut task = Task::new(&PRODUCT);
        task.read(&parts[0]);
        task.read(&parts[1]);
        task.write(&mut out);
        [true, false, false].into_iter().for_each(|flag| task.argument(flag));
        task.kernel("by_cublas").on(cuda(0)).submit().expect("it is right");
        let at = |row: usize, col: usize| number(6 * row + col);
        let sum = |row: usize, col: usize| (0..4).map(|i| at(i, row) * at(i, 3 + col)).sum::<f64>() as f32;
        let expected: Vec<f32> = (0..9).map(|i| sum(i / 3, i % 3)).collect();
        assert_eq!(out.to_vec().expect("nothing failed"), expected);
    });
}
