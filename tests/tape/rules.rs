//! Rules of the user's: what they are given, and what they must do.

use dahl::ndarray::ArrayView0;

use super::errors::assert_error;
use super::*;

/// `out = x`, whose rule does what `behaviour` says.
#[codelet(R, W, shape(out = x), gradient = odd_gradient())]
fn odd<T: Real>(x: &[T], out: &mut [T], behaviour: u32) {
    let _ = behaviour;
    out.copy_from_slice(x);
}

fn odd_gradient<T: Real, const N: usize>(rule: OddGradient<'_, T, N>) -> Result<()> {
    let Some(by_x) = rule.by_x else { return Ok(()) };
    match rule.behaviour {
        0 => copy(rule.gradient, by_x),
        1 => Ok(()),
        2 => {
            *by_x = rule.scope.detached().zeros([7; N])?;
            Ok(())
        }
        3 => {
            *by_x = copy_init(rule.scope, rule.gradient)?;
            Ok(())
        }
        _ => Err(dahl::Error::invalid_shape("odd", "a rule of the user's".to_owned())),
    }
}

fn gradient_of_odd(rt: &Runtime, behaviour: u32) -> Result<Vec<f64>> {
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2], &[1.0_f64, 2.0])?;
    let loss = sum_init(&tape, &odd_init(&tape, &x, behaviour)?)?;
    tape.gradients(&loss, &x)?.to_vec()
}

#[test]
fn a_rule_writes_its_array_or_puts_another_in_its_place() -> Result<()> {
    let rt = runtime()?;
    assert_eq!(gradient_of_odd(&rt, 0)?, [1.0, 1.0]);
    assert_eq!(gradient_of_odd(&rt, 3)?, [1.0, 1.0]);
    Ok(())
}

#[test]
fn a_rule_that_writes_nothing_or_another_shape_is_an_error() -> Result<()> {
    let rt = runtime()?;
    let text = |behaviour| gradient_of_odd(&rt, behaviour).expect_err("a mistake").to_string();
    assert!(text(1).contains("odd: the gradient by `x` was not written by the rule"), "{}", text(1));
    assert!(text(2).contains("odd: the gradient by `x` has not the shape of the input"), "{}", text(2));
    assert!(text(4).contains("a rule of the user's"), "{}", text(4));
    Ok(())
}

#[test]
fn a_rule_that_an_outer_tape_cannot_follow_is_an_error() -> Result<()> {
    let rt = runtime()?;
    let arena = rt.arena();
    let x = arena.from_slice([2], &[1.0_f64, 2.0])?;
    for (behaviour, is_known) in [(0, false), (3, true)] {
        let outer = rt.tape();
        let inner = outer.tape();
        let loss = sum_init(&inner, &odd_init(&inner, &x, behaviour)?)?;
        let result = inner.gradients(&loss, &x);
        assert_eq!(result.is_ok(), is_known);
        if let Err(error) = result {
            assert_eq!(error.code(), "D0021");
            assert!(error.to_string().contains("cannot be differentiated again"), "{error}");
        }
    }
    Ok(())
}

/// `out = 2 x + 3 y`, whose rule exchanges the arrays that it was lent, and writes those that `writes` names first.
#[codelet(R, R, W, gradient = exchanged_gradient())]
fn exchanged<T: Real>(x: T, y: T, writes: [bool; 2]) -> T {
    let _ = writes;
    T::from_f64(2.0) * x + T::from_f64(3.0) * y
}

fn exchanged_gradient<T: Real, const N: usize>(rule: ExchangedGradient<'_, T, N>) -> Result<()> {
    let (Some(by_x), Some(by_y)) = (rule.by_x, rule.by_y) else { return Ok(()) };
    if rule.writes[0] {
        scale(rule.gradient, by_x, T::from_f64(3.0))?;
    }
    if rule.writes[1] {
        scale(rule.gradient, by_y, T::from_f64(2.0))?;
    }
    std::mem::swap(by_x, by_y);
    Ok(())
}

#[test]
fn a_rule_may_exchange_arrays_that_it_has_written() -> Result<()> {
    let rt = runtime()?;
    let arena = rt.arena();
    let (x, y) = (arena.from_slice([2], &[1.0_f64, 2.0])?, arena.from_slice([2], &[3.0_f64, 4.0])?);
    for (writes, unwritten) in [
        ([true, true], None),
        ([false, false], Some("x")),
        ([true, false], Some("x")),
        ([false, true], Some("y")),
    ] {
        let tape = rt.tape();
        let loss = sum_init(&tape, &exchanged_init(&tape, &x, &y, writes)?)?;
        match (tape.gradients(&loss, (&x, &y)), unwritten) {
            (Ok((by_x, by_y)), None) => {
                assert_eq!((by_x.to_vec()?, by_y.to_vec()?), (vec![2.0; 2], vec![3.0; 2]));
            }
            (Err(error), Some(input)) => {
                let text = format!("the gradient by `{input}` was not written by the rule");
                assert!(error.to_string().contains(&text), "{error}");
            }
            (result, _) => panic!("with {writes:?}: {:?}", result.map(drop)),
        }
    }
    Ok(())
}

/// `out = x * factor`, where both are arrays; its rule reads the factor alone.
#[codelet(R, R, W, shape(out = x), gradient = stretched_gradient(factor))]
fn stretched<T: Real>(x: &[T], factor: ArrayView0<T>, out: &mut [T]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out = *x * factor[[]];
    }
}

fn stretched_gradient<T: Real, const N: usize>(rule: StretchedGradient<'_, T, N>) -> Result<()> {
    let StretchedGradient { factor, gradient, by_x, by_factor, scope } = rule;
    assert!(by_factor.is_none(), "nobody wants it");
    if let Some(by_x) = by_x {
        *by_x = stretched_init(scope, gradient, factor)?;
    }
    Ok(())
}

#[test]
fn what_a_rule_does_not_mention_is_not_kept() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let mut x = arena.from_slice([2], &[1.0_f64, 2.0])?;
    let factor = arena.from_slice([], &[3.0_f64])?;
    let loss = sum_init(&tape, &stretched_init(&tape, &x, &factor)?)?;
    // The rule does not read `x`, so it may change, and be dropped.
    scale_self(&mut x, 2.0)?;
    assert_eq!(tape.gradients(&loss, &x)?.to_vec()?, [3.0, 3.0]);
    Ok(())
}

/// A map that names a rule, which uses the output.
#[codelet(R, W, gradient = logistic_gradient(out))]
fn logistic<T: Real>(x: T) -> T {
    T::ONE / (T::ONE + (-x).exp())
}

fn logistic_gradient<T: Real, const N: usize>(rule: LogisticGradient<'_, T, N>) -> Result<()> {
    let Some(by_x) = rule.by_x else { return Ok(()) };
    *by_x = sigmoid_backward_init(rule.scope, rule.out, rule.gradient)?;
    Ok(())
}

#[test]
fn a_map_may_name_a_rule() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2], &[0.0_f64, 2.0])?;
    let y = logistic_init(&tape, &x)?;
    let by_x = tape.gradients(&sum_init(&tape, &y)?, &x)?;
    assert_near(&by_x.to_vec()?, &y.to_vec()?.iter().map(|y| y * (1.0 - y)).collect::<Vec<_>>());
    Ok(())
}

/// A map through which nothing is to flow, on purpose.
#[codelet(R, W, gradient = none)]
fn stopped<T: Real>(x: T) -> T {
    x + x
}

#[test]
fn nothing_flows_through_none() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2], &[1.0_f64, 2.0])?;
    let loss = sum_init(&tape, &mul_init(&tape, &stopped_init(&tape, &x)?, &x)?)?;
    assert_eq!(tape.gradients(&loss, &x)?.to_vec()?, [2.0, 4.0]);
    Ok(())
}

/// `out = x`, whose rule panics once.
#[codelet(R, W, shape(out = x), gradient = panics_once())]
fn unlucky<T: Real>(x: &[T], out: &mut [T], panics: bool) {
    let _ = panics;
    out.copy_from_slice(x);
}

fn panics_once<T: Real, const N: usize>(rule: UnluckyGradient<'_, T, N>) -> Result<()> {
    assert!(!rule.panics, "a rule of the user's panics");
    let Some(by_x) = rule.by_x else { return Ok(()) };
    *by_x = rule.scope.same(rule.gradient)?;
    Ok(())
}

#[test]
fn a_rule_that_panics_leaves_the_tape_as_it_was() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2], &[1.0_f64, 2.0])?;
    let fine = sum_init(&tape, &unlucky_init(&tape, &x, false)?)?;
    let unlucky = sum_init(&tape, &unlucky_init(&tape, &x, true)?)?;
    let panic =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| tape.gradients(&unlucky, &x).map(drop)));
    assert!(panic.is_err());
    assert_eq!(tape.gradients(&fine, &x)?.to_vec()?, [1.0, 1.0]);
    Ok(())
}

#[test]
fn the_gradient_that_a_pass_begins_with_stays_its_owner_s() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2], &[1.0_f64, 2.0])?;
    let y = unlucky_init(&tape, &x, false)?;
    let mut seed = arena.from_slice([2], &[5.0_f64, 6.0])?;
    let by_x = tape.gradients_from(&y, &seed, &x)?;
    scale_self(&mut seed, 0.0)?;
    assert_eq!(by_x.to_vec()?, [5.0, 6.0]);
    Ok(())
}

/// `out = 2 x`, whose rule contributes to a sum, or breaks its promise.
#[codelet(R, W, shape(out = x), gradient = summed_gradient())]
fn summed<T: Real>(x: &[T], out: &mut [T], keeps_promise: u32) {
    let _ = keeps_promise;
    for (out, x) in out.iter_mut().zip(x) {
        *out = *x + *x;
    }
}

fn summed_gradient<T: Real, const N: usize>(rule: SummedGradient<'_, T, N>) -> Result<()> {
    let Some(by_x) = rule.by_x else { return Ok(()) };
    let has_sum = rule.scope.sum(by_x);
    assert_eq!(has_sum, rule.scope.sum(by_x), "twice is as good as once");
    match rule.keeps_promise {
        1 => add_twice(rule.gradient, by_x),
        _ => scale(rule.gradient, by_x, T::from_f64(2.0)),
    }
}

/// `out += 2 x`.
#[codelet(R, REDUX)]
fn add_twice<T: Real>(x: &[T], out: &mut [T::Compute]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out += x.widen() + x.widen();
    }
}

#[test]
fn a_rule_contributes_to_a_sum() -> Result<()> {
    let rt = runtime()?;
    let (arena, mut tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2], &[1.0_f64, 2.0])?;
    let mut sum = arena.from_slice([2], &[10.0_f64, 20.0])?;
    for _ in 0..2 {
        let loss = sum_init(&tape, &summed_init(&tape, &x, 1)?)?;
        tape.accumulate(&loss, (&x, &mut sum))?;
        tape.reset();
    }
    assert_eq!(sum.to_vec()?, [14.0, 24.0]);
    // Beside another use of the array, whose gradient the pass adds.
    let both = add_init(&tape, &summed_init(&tape, &x, 1)?, &mul_init(&tape, &x, &x)?)?;
    let loss = sum_init(&tape, &both)?;
    tape.accumulate(&loss, (&x, &mut sum))?;
    assert_eq!(sum.to_vec()?, [14.0 + 2.0 + 2.0, 24.0 + 2.0 + 4.0]);
    // Without a sum, and for an array that was made under the tape, the rule gets an array of its own.
    assert_eq!(tape.gradients(&loss, &x)?.to_vec()?, [4.0, 6.0]);
    tape.reset();
    let made = mul_init(&tape, &x, &x)?;
    let loss = sum_init(&tape, &summed_init(&tape, &made, 1)?)?;
    let (mut by_made, mut by_x) = (arena.zeros([2])?, arena.zeros([2])?);
    tape.accumulate(&loss, ((&made, &mut by_made), (&x, &mut by_x)))?;
    assert_eq!((by_made.to_vec()?, by_x.to_vec()?), (vec![2.0, 2.0], vec![4.0, 8.0]));
    Ok(())
}

#[test]
fn a_rule_that_writes_a_sum_is_an_error_and_the_sum_can_be_written_later() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2], &[1.0_f64, 2.0])?;
    let mut sum = arena.from_slice([2], &[10.0_f64, 20.0])?;
    let loss = sum_init(&tape, &summed_init(&tape, &x, 0)?)?;
    let error = tape.accumulate(&loss, (&x, &mut sum)).expect_err("it writes").to_string();
    assert!(error.contains("D0017"), "{error}");
    assert_eq!(sum.to_vec()?, [10.0, 20.0]);
    scale_self(&mut sum, 2.0)?;
    assert_eq!(sum.to_vec()?, [20.0, 40.0]);
    // The same rule without a sum may write.
    assert_eq!(tape.gradients(&loss, &x)?.to_vec()?, [2.0, 2.0]);
    Ok(())
}

#[test]
fn sums_stay_if_the_loss_does_not_depend_on_one_of_the_arrays() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2], &[1.0_f64, 2.0])?;
    let unused = arena.from_slice([3], &[1.0_f64, 2.0, 3.0])?;
    let (mut by_x, mut by_unused) = (arena.zeros([2])?, arena.zeros([3])?);
    let loss = sum_init(&tape, &summed_init(&tape, &x, 1)?)?;
    let result = tape.accumulate(&loss, ((&x, &mut by_x), (&unused, &mut by_unused)));
    assert_error(result, "D0018", &["[3]"]);
    assert_eq!(by_x.to_vec()?, [0.0, 0.0]);
    Ok(())
}

#[test]
fn one_array_may_be_two_inputs_or_have_two_sums() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    // By `a x a`: the gradient of the sum of all elements is the sums of rows and columns.
    let a = arena.from_slice([2, 2], &[1.0_f64, 2.0, 3.0, 4.0])?;
    let loss = sum_init(&tape, &matmul_init(&tape, &a, &a)?)?;
    let expected = tape.gradients(&loss, &a)?.to_vec()?;
    assert_eq!(expected, [3.0 + 4.0, 7.0 + 4.0, 3.0 + 6.0, 7.0 + 6.0]);
    let mut sum = arena.zeros([2, 2])?;
    tape.accumulate(&loss, (&a, &mut sum))?;
    assert_eq!(sum.to_vec()?, expected);
    let (mut first, mut second) = (arena.zeros([2, 2])?, arena.zeros([2, 2])?);
    tape.accumulate(&loss, ((&a, &mut first), (&a, &mut second)))?;
    assert_eq!((first.to_vec()?, second.to_vec()?), (expected.clone(), expected));
    // One array as the filters and the bias of a fused convolution, whose rule contributes to both in one task.
    let image = arena.from_slice([1, 1, 1, 2], &[3.0_f64, 5.0])?;
    let weight = arena.from_slice([1], &[2.0_f64])?;
    let out = conv2d_relu_init(&tape, &image, &*weight.reshaped([1, 1, 1, 1])?, &weight, [0, 0])?;
    let loss = sum_init(&tape, &out)?;
    let mut sum = arena.zeros([1])?;
    tape.accumulate(&loss, (&weight, &mut sum))?;
    assert_eq!(sum.to_vec()?, [3.0 + 5.0 + 2.0]);
    Ok(())
}
