//! Inputs whose extents of 1 are stretched: their gradients are sums.

use super::*;

#[test]
fn stretched_inputs_get_the_sum() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2, 3], &[1.0_f64, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    let row = arena.from_slice([1, 3], &[0.5_f64, -1.0, 2.0])?;
    let one = arena.from_slice([1, 1], &[3.0_f64])?;
    let y = mul_init(&tape, &mul_init(&tape, &x, &row)?, &one)?;
    let (by_x, by_row, by_one) = tape.gradients(&sum_init(&tape, &y)?, (&x, &row, &one))?;
    assert_near(&by_x.to_vec()?, &[1.5, -3.0, 6.0, 1.5, -3.0, 6.0]);
    assert_near(&by_row.to_vec()?, &[15.0, 21.0, 27.0]);
    assert_near(&by_one.to_vec()?, &[0.5 * 5.0 - 7.0 + 2.0 * 9.0]);
    Ok(())
}

/// The elements of the sum of `values`, of this shape, over the axes at which `kept` has extent 1, and the sums of their
/// absolute values.
fn summed<T: Real>(values: &[T], shape: [usize; 5], kept: [usize; 5]) -> Vec<(f64, f64)> {
    let mut sums = vec![(0.0, 0.0); kept.iter().product()];
    for (index, value) in values.iter().map(|value| value.to_f64()).enumerate() {
        let (mut rest, mut place, mut stride) = (index, 0, 1);
        for axis in (0..5).rev() {
            place += rest % shape[axis] % kept[axis] * stride;
            (rest, stride) = (rest / shape[axis], stride * kept[axis]);
        }
        let (sum, magnitude) = sums[place];
        sums[place] = (sum + value, magnitude + value.abs());
    }
    sums
}

/// The gradient is off by half a unit in the last place of the type, and by the additions in the compute type.
fn the_sum_is_rounded_once<T: Real>() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let shape = [16, 3, 5, 2, 8];
    let values: Vec<T> = (0..3840).map(|i| T::from_f64((f64::from(i) * 0.7).sin())).collect();
    let (x, gradient) = (arena.zeros::<T, 5>(shape)?, arena.from_slice(shape, &values)?);
    let [unit, of_additions] =
        [T::EPSILON.to_f64(), T::Compute::EPSILON.to_f64()].map(|epsilon| epsilon / 2.0);
    for kept in [[1, 3, 1, 1, 1], [1, 3, 1, 2, 1], [16, 1, 5, 1, 8], [1, 1, 1, 1, 8], [1, 1, 1, 1, 1]] {
        let small = arena.zeros::<T, 5>(kept)?;
        let out = add_init(&tape, &x, &small)?;
        let by_small = tape.gradients_from(&out, &gradient, &small)?.to_vec()?;
        let terms = (values.len() / by_small.len()) as f64;
        for (actual, (sum, magnitude)) in by_small.into_iter().zip(summed(&values, shape, kept)) {
            let additions = terms * of_additions * magnitude;
            let (error, bound) = ((actual.to_f64() - sum).abs(), unit * (sum.abs() + additions) + additions);
            assert!(error <= bound, "{}: {actual} of {kept:?}, not {sum}: {error:e} > {bound:e}", T::NAME);
        }
    }
    Ok(())
}

#[test]
fn the_sum_over_several_axes_is_rounded_once() -> Result<()> {
    the_sum_is_rounded_once::<f16>()?;
    the_sum_is_rounded_once::<bf16>()?;
    the_sum_is_rounded_once::<f32>()?;
    the_sum_is_rounded_once::<f64>()
}
