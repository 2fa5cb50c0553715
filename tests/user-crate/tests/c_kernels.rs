//! C kernels of a user's crate, which the runtime calls, compared with the declared bodies.

use dahl::ndarray::{Array2, Axis};
use dahl::prelude::*;
use user_crate::{RunningSum, WeightedAdd, running_sum, weighted_add};

/// Numbers that every element type holds exactly, and no two alike.
fn numbers<T: Real>(len: usize) -> Vec<T> {
    (0..len).map(|i| T::from_f64((i * i % 97) as f64 - 48.0)).collect()
}

fn weighted_add_in_c<T: Real>() -> dahl::Result<()> {
    let rt = Runtime::new()?;
    let (x, y) = (rt.from_vec([5, 7], numbers::<T>(35))?, rt.from_vec([5, 7], numbers::<T>(35))?);
    let mut y = y;
    y.write()?.mapv_inplace(|y| y + T::from_f64(3.0));
    let (mut rust, mut c) = (rt.zeros([5, 7])?, rt.zeros([5, 7])?);
    let alpha = T::from_f64(0.25);
    weighted_add(&x, &y, &mut rust, alpha, 2)?;
    WeightedAdd::task(&x, &y, &mut c, alpha, 2).kernel("weighted_add_c").submit()?;
    let expected = Array2::from_shape_fn((5, 7), |(row, column)| {
        let x = (((row * 7 + column).pow(2)) % 97) as f64 - 48.0;
        T::from_f64(if row < 2 { 0.0 } else { 0.25 * x + 0.75 * (x + 3.0) })
    });
    assert_eq!(*rust.read()?, expected);
    assert_eq!(*c.read()?, expected);
    Ok(())
}

#[test]
fn views_and_arguments_in_f32_and_f64() -> dahl::Result<()> {
    weighted_add_in_c::<f32>()?;
    weighted_add_in_c::<f64>()
}

/// Columns of a matrix: C gets strides if it takes views, and packed copies if it takes slices.
#[test]
fn strided_parts() -> dahl::Result<()> {
    let rt = Runtime::new()?;
    let x = rt.from_vec([4, 6], numbers::<f32>(24))?;
    let y = rt.from_vec([4, 6], vec![1.0_f32; 24])?;
    let (mut added, mut summed) = (rt.zeros([4, 6])?, rt.zeros([4, 6])?);
    {
        let (x_parts, y_parts) = (x.partition(Axis(1), 4)?, y.partition(Axis(1), 4)?);
        let mut added_parts = added.partition_mut(Axis(1), 4)?;
        let mut summed_parts = summed.partition_mut(Axis(1), 4)?;
        let inputs = x_parts.iter().zip(y_parts.iter());
        for ((x, y), (added, summed)) in inputs.zip(added_parts.iter_mut().zip(summed_parts.iter_mut())) {
            WeightedAdd::task(x, y, added, 0.5, 0).kernel("weighted_add_c").submit()?;
            RunningSum::task(x, summed).kernel("running_sum_c").submit()?;
        }
    }
    let x = Array2::from_shape_vec((4, 6), numbers::<f32>(24)).expect("24 numbers");
    assert_eq!(*added.read()?, x.mapv(|x| 0.5 * x + 0.5));
    let mut expected = Array2::zeros((4, 6));
    for columns in [0..4, 4..6] {
        let mut sum = 0.0;
        for row in 0..4 {
            for column in columns.clone() {
                sum += x[[row, column]];
                expected[[row, column]] = sum;
            }
        }
    }
    assert_eq!(*summed.read()?, expected);
    Ok(())
}

/// Without a kernel of its own, `_self` renames: the C kernel sees an input and an output.
#[test]
fn over_an_input() -> dahl::Result<()> {
    let rt = Runtime::new()?;
    let mut x = rt.from_vec([4], vec![1.0_f64, 2.0, 3.0, 4.0])?;
    RunningSum::task_self(&mut x).kernel("running_sum_c").submit()?;
    assert_eq!(x.read()?.to_vec(), [1.0, 3.0, 6.0, 10.0]);
    Ok(())
}

#[test]
fn half_precision_has_the_declared_body_only() -> dahl::Result<()> {
    let rt = Runtime::new()?;
    let x = rt.from_vec([3], numbers::<f16>(3))?;
    let mut out = rt.zeros([3])?;
    let error = RunningSum::task(&x, &mut out).kernel("running_sum_c").submit().unwrap_err().to_string();
    assert!(error.contains("no kernel `running_sum_c` for f16; the codelet has: rust"), "{error}");
    running_sum(&x, &mut out)?;
    assert_eq!(out.read()?[2], f16::from_f64(-48.0 - 47.0 - 44.0));
    Ok(())
}
