//! Reductions by user-defined codelets: their initial values, and how and in which order partial results are combined.

use std::num::NonZeroUsize;

use dahl::ndarray::{ArrayViewMut1, Axis};
use dahl::prelude::*;
use dahl::{Result, ndarray};

/// Every scheduler, with one worker and with several.
fn runtimes() -> impl Iterator<Item = Runtime> {
    [(1, "eager"), (1, "ws"), (3, "eager"), (3, "ws")].into_iter().map(|(workers, scheduler)| {
        Runtime::builder().cpu_workers(workers).scheduler(scheduler).build().expect("a runtime")
    })
}

/// Multiplies `out` by the product of `x`; combined by a map.
#[codelet(R, REDUX(identity = T::ONE, combine = dahl::ops::mul), shape(out = []))]
fn product<T: Real>(x: &[T], out: &mut [T]) {
    for &x in x {
        out[0] *= x;
    }
}

#[test]
fn a_product_begins_at_one() -> Result<()> {
    for rt in runtimes() {
        let arena = rt.arena();
        let x = rt.from_vec([3], vec![1.5_f64, 2.0, 4.0])?;
        let mut out = rt.from_vec([], vec![10.0])?;
        product(&x, &mut out)?;
        product(&x, &mut out)?;
        assert_eq!(out.to_vec()?, [1440.0]);
        assert_eq!(product_init(&arena, &x)?.to_vec()?, [12.0], "without an old value");
    }
    Ok(())
}

#[test]
fn a_product_of_parts() -> Result<()> {
    for rt in runtimes() {
        let x = rt.from_vec([2, 5], (1..=10).map(f64::from).collect())?;
        let mut out = rt.from_vec([], vec![1.0])?;
        for part in x.partition(Axis(1), 2)?.iter() {
            product(part, &mut out)?;
        }
        assert_eq!(out.to_vec()?, [3_628_800.0]);
    }
    Ok(())
}

/// The step of [`mix`]: neither associative nor commutative.
fn mixed(earlier: i64, later: i64) -> i64 {
    earlier.wrapping_mul(31).wrapping_add(later.rotate_left(7)).wrapping_add(1)
}

/// Combines so that the result depends on the order.
#[codelet(RW, R)]
fn mix(earlier: &mut [i64], later: &[i64]) {
    for (earlier, &later) in earlier.iter_mut().zip(later) {
        *earlier = mixed(*earlier, later);
    }
}

/// Mixes `value` into every element of `out`.
#[codelet(REDUX(identity = 5, combine = mix))]
fn record(out: &mut [i64], value: i64) {
    for out in out {
        *out = mixed(*out, value);
    }
}

/// The result of contributions `0..count`, combined as a tree, after the old value.
fn by_the_tree(old: i64, count: i64) -> i64 {
    total(count, 4).map_or(old, |total| mixed(old, total))
}

/// The result of contributions `0..count`, if there are any: leaves of `leaf_len`, folded like a binary counter.
fn total(count: i64, leaf_len: usize) -> Option<i64> {
    let values: Vec<i64> = (0..count).collect();
    let mut levels: Vec<Option<i64>> = Vec::new();
    for leaf in values.chunks(leaf_len) {
        let mut sum = leaf.iter().fold(5, |sum, &value| mixed(sum, value));
        let mut level = 0;
        while let Some(earlier) = levels.get_mut(level).and_then(Option::take) {
            sum = mixed(earlier, sum);
            level += 1;
        }
        levels.resize(levels.len().max(level + 1), None);
        levels[level] = Some(sum);
    }
    levels.into_iter().flatten().reduce(|later, earlier| mixed(earlier, later))
}

#[test]
fn the_order_is_that_of_the_tree() -> Result<()> {
    for rt in runtimes() {
        for count in [0, 1, 3, 4, 5, 8, 9, 16, 29, 64, 100] {
            let mut out = rt.from_vec([3], vec![7, 8, 9])?;
            for value in 0..count {
                record(&mut out, value)?;
            }
            assert_eq!(out.to_vec()?, [7, 8, 9].map(|old| by_the_tree(old, count)), "{count} contributions");
        }
    }
    Ok(())
}

#[test]
fn an_array_says_how_many_share_a_leaf() -> Result<()> {
    for rt in runtimes() {
        for leaf_len in [1, 2, 3, 5] {
            for count in [1, 2, 3, 7, 20] {
                let mut out = rt.from_vec([2], vec![7, 7])?;
                out.set_leaf_len(NonZeroUsize::new(leaf_len).expect("at least 1"));
                for value in 0..count {
                    record(&mut out, value)?;
                }
                let total = total(count, leaf_len).expect("there are some");
                assert_eq!(out.to_vec()?, [mixed(7, total); 2], "{count} contributions, {leaf_len} a leaf");
            }
        }
    }
    Ok(())
}

#[test]
fn a_strided_part_is_reduced_into() -> Result<()> {
    for rt in runtimes() {
        let mut out = rt.zeros::<i64, 2>([2, 4])?;
        {
            let mut columns = out.partition_mut(Axis(1), 1)?;
            for (column, count) in columns.iter_mut().zip([0, 1, 5, 9]) {
                for value in 0..count {
                    record(column, value)?;
                }
            }
        }
        let row = [0, 1, 5, 9].map(|count| by_the_tree(0, count));
        assert_eq!(out.to_vec()?, [row, row].concat());
    }
    Ok(())
}

#[test]
fn a_forgotten_value_does_not_count() -> Result<()> {
    for rt in runtimes() {
        for count in [1, 3, 4, 5, 8, 9, 29] {
            let mut whole = rt.from_vec([3], vec![7, 8, 9])?;
            record(&mut whole, 3)?;
            whole.invalidate()?; // what was contributed before goes too
            let mut strided = rt.from_vec([3, 2], vec![7; 6])?;
            let mut columns = strided.partition_mut(Axis(1), 1)?;
            columns[1].invalidate()?;
            for value in 0..count {
                record(&mut whole, value)?;
                record(&mut columns[1], value)?;
            }
            drop(columns);
            let total = total(count, 4).expect("there are some");
            assert_eq!(whole.to_vec()?, [total; 3], "{count} contributions");
            assert_eq!(strided.to_vec()?, [7, total, 7, total, 7, total], "{count} contributions");
        }
    }
    Ok(())
}

#[test]
fn a_forgotten_value_is_zeros_to_whoever_looks() -> Result<()> {
    for rt in runtimes() {
        let mut out = rt.from_vec([2, 2], vec![7, 8, 9, 10])?;
        out.invalidate()?;
        out.invalidate()?;
        assert_eq!(out.to_vec()?, [0; 4]);
        for value in 0..2 {
            record(&mut out, value)?;
        }
        assert_eq!(out.to_vec()?, [by_the_tree(0, 2); 4], "a value again, if of zeros");
        out.invalidate()?;
        out.finalize()?;
        for value in 0..2 {
            record(&mut out, value)?;
        }
        assert_eq!(out.to_vec()?, [by_the_tree(0, 2); 4], "zeros from then on");
        let mut columns = out.partition_mut(Axis(1), 1)?;
        columns[0].invalidate()?;
        assert_eq!(columns[0].to_vec()?, [0, 0]);
        dahl::ops::fill(&mut columns[1], 3)?;
        drop(columns);
        assert_eq!(out.to_vec()?, [0, 3, 0, 3]);
        out.invalidate()?;
        out.write()?[[0, 1]] += 1;
        assert_eq!(out.to_vec()?, [0, 1, 0, 0]);
    }
    Ok(())
}

#[test]
fn contributions_to_a_forgotten_value_are_all_there_is_to_do() -> Result<()> {
    for rt in runtimes() {
        let arena = rt.arena();
        let x = rt.from_vec([2], vec![3.0, 5.0])?;
        let completed = || -> Result<u64> {
            rt.wait()?;
            Ok(rt.statistics().tasks.completed)
        };
        let mut before = completed()?;
        let mut out = product_init(&arena, &x)?;
        // Each contribution, and a fold for each leaf but the first.
        for (contributions, tasks) in [(1, 1), (2, 2), (4, 4), (5, 6), (9, 11)] {
            (1..contributions).try_for_each(|_| product(&x, &mut out))?;
            assert_eq!(out.to_vec()?, [15.0_f64.powi(contributions)]);
            let now = completed()?;
            assert_eq!(now - before, tasks, "{contributions} contributions");
            before = now;
            out.invalidate()?;
            product(&x, &mut out)?;
        }
    }
    Ok(())
}

/// Of two pairs (value, index), the one with the larger value; the earlier one if they are equal.
#[codelet(RW, R)]
fn larger_pair<T: Real>(mut earlier: ArrayViewMut1<T>, later: ndarray::ArrayView1<T>) {
    if later[0] > earlier[0] {
        earlier.assign(&later);
    }
}

/// The largest element of `x`, and its index from `first` on.
#[codelet(R, REDUX(combine = larger_pair, identity = T::NEG_INFINITY), shape(out = [2]))]
fn argmax<T: Real>(x: &[T], out: &mut [T], first: u32) {
    for (index, &x) in (first..).zip(x) {
        if x > out[0] {
            out.copy_from_slice(&[x, T::from_f64(f64::from(index))]);
        }
    }
}

#[test]
fn pairs_are_combined_as_pairs() -> Result<()> {
    for rt in runtimes() {
        let arena = rt.arena();
        let x = rt.from_vec([100], (0..100).map(|i| f64::from(i * 37 % 101)).collect())?;
        let mut out = argmax_init(&arena, &x, 1000)?;
        for (part, first) in x.partition(Axis(0), 7)?.iter().zip((0..).step_by(7)) {
            argmax(part, &mut out, first)?;
        }
        assert_eq!(out.to_vec()?, [100.0, 1030.0], "the first of the two");
    }
    Ok(())
}

/// `ln(exp(a) + exp(b))`.
#[codelet(R, R, W)]
fn log_add<T: Real>(a: T, b: T) -> T {
    let largest = a.max(b);
    if largest == T::NEG_INFINITY {
        largest
    } else {
        largest + ((a - largest).exp() + (b - largest).exp()).ln()
    }
}

/// `out = ln(exp(out) + sum(exp(x)))`.
#[codelet(R, REDUX(identity = T::NEG_INFINITY, combine = log_add), shape(out = []))]
fn log_sum_exp<T: Real>(x: &[T], out: &mut [T]) {
    let largest = x.iter().fold(out[0], |largest, x| largest.max(*x));
    let sum = x.iter().fold((out[0] - largest).exp(), |sum, x| sum + (*x - largest).exp());
    out[0] = largest + sum.ln();
}

#[test]
fn a_logarithm_of_a_sum_of_exponentials() -> Result<()> {
    for rt in runtimes() {
        let arena = rt.arena();
        let mut out = rt.from_vec([], vec![f64::NEG_INFINITY])?;
        let x = rt.from_vec([40], (0..40).map(|i| f64::from(i) + 1000.0).collect())?;
        for part in x.partition(Axis(0), 3)?.iter() {
            log_sum_exp(part, &mut out)?;
        }
        let expected = 1039.0 + (0..40).map(|i| f64::from(-i).exp()).sum::<f64>().ln();
        assert!((out.to_vec()?[0] - expected).abs() < 1e-12);
        assert!((log_sum_exp_init(&arena, &x)?.to_vec()?[0] - expected).abs() < 1e-12);
    }
    Ok(())
}

/// Multiplies `out` by the product of `x`, in the compute type.
#[codelet(R, REDUX(identity = T::ONE.widen(), combine = dahl::ops::mul), shape(out = []))]
fn wide_product<T: Real>(x: &[T], out: &mut [T::Compute]) {
    for x in x {
        out[0] *= x.widen();
    }
}

#[test]
fn half_precision_is_rounded_once() -> Result<()> {
    for rt in runtimes() {
        let arena = rt.arena();
        let factor = f16::from_f32(1.1);
        let x = rt.from_vec([20], vec![factor; 20])?;
        let mut out = rt.from_vec([], vec![f16::from_f32(2.0)])?;
        for part in x.partition(Axis(0), 1)?.iter() {
            wide_product(part, &mut out)?;
        }
        let wide = |start: f32| (0..20).fold(start, |product, _| product * factor.to_f32());
        assert_eq!(out.to_vec()?, [f16::from_f32(wide(2.0))]);
        assert_eq!(wide_product_init(&arena, &x)?.to_vec()?, [f16::from_f32(wide(1.0))]);
        let mut anew = rt.from_vec([], vec![f16::from_f32(2.0)])?;
        anew.invalidate()?;
        wide_product(&x, &mut anew)?;
        assert_eq!(anew.to_vec()?, [f16::from_f32(wide(1.0))]);
        // Rounded at every step, the result would be another number.
        let stepwise =
            (0..20).fold(f16::from_f32(2.0), |product, _| f16::from_f32(product.to_f32() * factor.to_f32()));
        assert_ne!(out.to_vec()?, [stepwise]);
    }
    Ok(())
}

/// The greatest common divisor, which has a kernel of its own in place.
#[codelet(R, R, W, in_place_kernel = divisor_in_place)]
fn divisor(a: &[i64], b: &[i64], out: &mut [i64]) {
    out.copy_from_slice(a);
    divisor_in_place(out, b);
}

fn divisor_in_place(a: &mut [i64], b: &[i64]) {
    for (a, &b) in a.iter_mut().zip(b) {
        let (mut larger, mut smaller) = (*a, b);
        while smaller != 0 {
            (larger, smaller) = (smaller, larger % smaller);
        }
        *a = larger;
    }
}

/// The greatest common divisor of `out` and `value`.
#[codelet(R, REDUX(identity = 0, combine = self::divisor))]
fn common_divisor(value: &[i64], out: &mut [i64]) {
    divisor_in_place(out, value);
}

#[test]
fn a_kernel_in_place_combines() -> Result<()> {
    for rt in runtimes() {
        let mut out = rt.from_vec([2], vec![0, 2520])?;
        for i in 1..=9 {
            common_divisor(&rt.from_vec([2], vec![12 * i, 60 * i])?, &mut out)?;
        }
        assert_eq!(out.to_vec()?, [12, 60]);
    }
    Ok(())
}

/// Sums, beside a reduction of another kind.
#[codelet(R, REDUX)]
fn sums<T: Real>(x: &[T], out: &mut [T]) {
    for (out, &x) in out.iter_mut().zip(x) {
        *out += x;
    }
}

/// Multiplies, element by element.
#[codelet(R, REDUX(identity = T::ONE, combine = dahl::ops::mul))]
fn multiplies<T: Real>(x: &[T], out: &mut [T]) {
    for (out, &x) in out.iter_mut().zip(x) {
        *out *= x;
    }
}

#[test]
fn another_reduction_closes_the_one_before() -> Result<()> {
    for rt in runtimes() {
        let x = rt.from_vec([2], vec![2.0_f32, 3.0])?;
        let mut out = rt.from_vec([2], vec![1.0, 1.0])?;
        for _ in 0..2 {
            sums(&x, &mut out)?;
            sums(&x, &mut out)?;
            multiplies(&x, &mut out)?;
            multiplies(&x, &mut out)?;
        }
        assert_eq!(out.to_vec()?, [96.0, 621.0]);
    }
    Ok(())
}

/// Refuses to combine with 13.
#[codelet(RW, R)]
fn superstitious(earlier: &mut [i64], later: &[i64]) {
    assert!(later[0] != 13, "unlucky");
    earlier[0] += later[0];
}

#[codelet(REDUX(identity = 0, combine = superstitious))]
fn count_up(out: &mut [i64], value: i64) {
    out[0] += value;
}

#[test]
fn a_panic_while_combining_fails_the_reduction_and_nothing_else() -> Result<()> {
    for rt in runtimes() {
        let mut out = rt.from_vec([1], vec![100_i64])?;
        let mut other = rt.from_vec([1], vec![100_i64])?;
        for value in [1, 2, 3, 4, 13] {
            count_up(&mut out, value)?; // two leaves, of which the second holds 13
            count_up(&mut other, value + 1)?;
        }
        let error = out.to_vec().unwrap_err().to_string();
        assert!(
            error.contains("count_up") && error.contains("unlucky") && error.contains(file!()),
            "{error}"
        );
        assert_eq!(other.to_vec()?, [128]);
        dahl::ops::fill(&mut out, 7)?;
        count_up(&mut out, 1)?;
        assert_eq!(out.to_vec()?, [8]);
        for value in [1, 2, 3, 4, 13] {
            out.invalidate()?; // which ends a failure too
            (0..5).try_for_each(|time| count_up(&mut out, if time == 4 { value } else { 0 }))?;
            assert_eq!(out.to_vec().ok(), (value != 13).then_some(vec![value]));
        }
        out.invalidate()?;
        count_up(&mut out, 1)?;
        assert_eq!(out.to_vec()?, [1]);
        rt.wait()?;
    }
    Ok(())
}

#[test]
fn the_mode_is_shown_in_short() {
    assert_eq!(Product::MODES.map(AccessMode::name), ["R", "REDUX(..)"]);
}

#[test]
fn what_is_settled_is_combined_before_it_is_read() -> Result<()> {
    for rt in runtimes() {
        let x = rt.from_vec([2], vec![3.0, 5.0])?;
        let mut out = rt.zeros([])?;
        out.write()?[[]] = 2.0;
        for _ in 0..6 {
            product(&x, &mut out)?;
        }
        rt.wait()?;
        let contributed = rt.statistics().tasks.submitted;
        out.finalize()?;
        let settled = rt.statistics().tasks.submitted;
        rt.wait()?;
        assert_eq!(out.read()?[[]], 2.0 * 15_f64.powi(6));
        assert!(settled > contributed, "the tasks that combine are submitted at once");
        assert_eq!(rt.statistics().tasks.submitted, settled, "reading submits none");
    }
    Ok(())
}
