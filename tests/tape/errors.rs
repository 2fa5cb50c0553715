//! What a tape refuses, with the texts.

use super::*;

#[track_caller]
pub(super) fn assert_error<T>(result: Result<T>, code: &str, texts: &[&str]) {
    let error = result.err().expect("it is refused");
    let text = error.to_string();
    assert_eq!(error.code(), code, "{text}");
    for part in texts {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn what_the_loss_does_not_depend_on() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2], &[1.0_f64, 2.0])?;
    let unused = arena.zeros::<f64, 2>([3, 4])?;
    let loss = sum_init(&tape, &x)?;
    assert_error(
        tape.gradients(&loss, &unused),
        "D0018",
        &["does not depend on the wanted array", "errors.rs"],
    );
    assert_error(tape.gradients(&loss, (&x, &unused)), "D0018", &["the array of shape [3, 4]"]);
    // Nothing flows through a mask.
    let mask = greater_init(&tape, &x, &arena.zeros([2])?)?;
    let chosen = select_init(&tape, &mask, &arena.zeros::<f64, 1>([2])?, &arena.zeros([2])?)?;
    assert_error(tape.gradients(&sum_init(&tape, &chosen)?, &x), "D0018", &[]);
    Ok(())
}

#[test]
fn a_loss_of_another_tape() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape, other) = (rt.arena(), rt.tape(), rt.tape());
    let x = arena.from_slice([2], &[1.0_f64, 2.0])?;
    let loss = sum_init(&other, &x)?;
    assert_error(tape.gradients(&loss, &x), "D0020", &["was not made under this tape"]);
    assert_error(tape.gradients(&sum_init(&rt.arena(), &x)?, &x), "D0020", &[]);
    Ok(())
}

#[test]
fn a_value_that_was_overwritten() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let mut x = arena.from_slice([2], &[1.0_f64, 2.0])?;
    let loss = sum_init(&tape, &mul_init(&tape, &x, &x)?)?;
    assert_eq!(tape.gradients(&loss, &x)?.to_vec()?, [2.0, 4.0]);
    scale_self(&mut x, 3.0)?;
    let scaled_at = line!() - 1;
    let line = format!("overwritten at tests/tape/errors.rs:{scaled_at}:");
    assert_error(tape.gradients(&loss, &x), "D0016", &["mul: its gradient needs the value of `y`", &line]);
    // So does a change by the host, or of a part.
    let tape = rt.tape();
    let loss = sum_init(&tape, &mul_init(&tape, &x, &x)?)?;
    x.write()?[0] = 5.0;
    assert_error(tape.gradients(&loss, &x), "D0016", &[]);
    let tape = rt.tape();
    let loss = sum_init(&tape, &mul_init(&tape, &x, &x)?)?;
    scale_self(&mut x.partition_mut(Axis(0), 1)?[0], 2.0)?;
    assert_error(tape.gradients(&loss, &x), "D0016", &[]);
    Ok(())
}

#[test]
fn what_no_gradient_reads_may_change() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let mut x = arena.from_slice([2], &[1.0_f64, 2.0])?;
    let loss = sum_init(&tape, &add_init(&tape, &x, &x)?)?;
    scale_self(&mut x, 3.0)?;
    assert_eq!(tape.gradients(&loss, &x)?.to_vec()?, [2.0, 2.0]);
    // And by the other factor alone, this one may change.
    let tape = rt.tape();
    let mut y = arena.from_slice([2], &[5.0_f64, 6.0])?;
    let loss = sum_init(&tape, &mul_init(&tape, &x, &y)?)?;
    scale_self(&mut x, 0.0)?;
    assert_eq!(tape.gradients(&loss, &x)?.to_vec()?, [5.0, 6.0]);
    scale_self(&mut y, 0.0)?;
    assert_error(tape.gradients(&loss, &x), "D0016", &["the value of `y`"]);
    Ok(())
}

#[test]
fn changes_of_what_was_made_under_a_tape() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2], &[1.0_f64, 2.0])?;
    let mut y = mul_init(&tape, &x, &x)?;
    let ways_out = ["scale: `x` was made under a tape", "use `scale_init` with the tape", "tape.detached()"];
    assert_error(scale_self(&mut y, 2.0), "D0017", &ways_out);
    assert_error(add(&x, &x, &mut y), "D0017", &["add: `out` was made under a tape", "`add_init`"]);
    assert_error(y.write().map(drop), "D0022", &["write: the array was made under a tape"]);
    assert_error(y.partition_mut(Axis(0), 1).map(drop), "D0022", &["partition_mut"]);
    assert_error(y.invalidate(), "D0022", &["invalidate"]);
    assert_eq!(y.to_vec()?, [1.0, 4.0]);
    Ok(())
}

#[test]
fn a_part_that_a_gradient_would_read() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([4], &[1.0_f64, 2.0, 3.0, 4.0])?;
    let parts = x.partition(Axis(0), 2)?;
    assert_error(
        mul_init(&tape, &parts[0], &parts[1]),
        "D0019",
        &["`x` is a part", "copy_init", "slice_init"],
    );
    let copy = copy_init(tape.detached(), &parts[1])?;
    let loss = sum_init(&tape, &mul_init(&tape, &copy, &copy)?)?;
    assert_eq!(tape.gradients(&loss, &copy)?.to_vec()?, [6.0, 8.0]);
    Ok(())
}

#[test]
fn other_shapes_than_the_output_s() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2], &[1.0_f64, 2.0])?;
    let y = mul_init(&tape, &x, &x)?;
    assert_error(tape.gradients_from(&y, &arena.zeros([3])?, &x), "D0009", &["[3]", "[2]"]);
    let loss = sum_init(&tape, &y)?;
    let mut sum = arena.zeros([3])?;
    assert_error(tape.accumulate(&loss, (&x, &mut sum)), "D0009", &["accumulate"]);
    Ok(())
}

#[test]
fn a_loss_that_is_no_number_gives_gradients_that_are_none() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2], &[f64::NAN, 2.0])?;
    let loss = sum_init(&tape, &mul_init(&tape, &x, &x)?)?;
    assert!(loss.to_vec()?[0].is_nan());
    let by_x = tape.gradients(&loss, &x)?.to_vec()?;
    assert!(by_x[0].is_nan() && by_x[1] == 4.0, "{by_x:?}");
    Ok(())
}

#[test]
fn sums_that_a_tape_would_not_know_of() -> Result<()> {
    let rt = runtime()?;
    let (arena, outer) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2], &[1.0_f64, 2.0])?;
    let inner = outer.tape();
    let loss = sum_init(&inner, &mul_init(&inner, &x, &x)?)?;
    assert_error(inner.accumulate(&loss, (&x, &mut arena.zeros([2])?)), "D0024", &["the outer tape"]);
    let mut sum = mul_init(&outer, &x, &x)?;
    let loss = sum_init(&outer, &sum)?;
    assert_error(outer.accumulate(&loss, (&x, &mut sum)), "D0022", &["accumulate"]);
    Ok(())
}

#[test]
fn a_reduction_into_a_value_that_a_gradient_reads() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([], &[1.0_f64])?;
    let mut factor = arena.from_slice([], &[2.0_f64])?;
    let loss = mul_init(&tape, &x, &factor)?;
    sum(&arena.filled([3], 10.0)?, &mut factor)?;
    assert_error(tape.gradients(&loss, &x), "D0016", &["the value of `y`"]);
    Ok(())
}

#[test]
fn two_values_of_one_array() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let mut x = arena.from_slice([2], &[1.0_f64, 2.0])?;
    let first = sum_init(&tape, &x)?;
    scale_self(&mut x, 3.0)?;
    let loss = add_init(&tape, &first, &sum_init(&tape, &x)?)?;
    assert_error(tape.gradients(&loss, &x), "D0016", &["sum"]);
    Ok(())
}

#[test]
fn a_part_through_which_a_gradient_would_flow() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([4], &[1.0_f64, 2.0, 3.0, 4.0])?;
    let parts = x.partition(Axis(0), 2)?;
    assert_error(add_init(&tape, &parts[0], &arena.zeros([2])?), "D0019", &["`x` is a part"]);
    assert_error(concat_init(&tape, &[&parts[0], &parts[1]], 0), "D0019", &["`inputs` is a part"]);
    // Indices are no real numbers.
    let order = arena.from_slice([4], &[0_u32, 1, 0, 1])?;
    let halves = order.partition(Axis(0), 2)?;
    let gathered = gather_rows_init(&tape, &x, &*copy_init(&arena, &halves[1])?.reshaped([2])?)?;
    assert_eq!(tape.gradients(&sum_init(&tape, &gathered)?, &x)?.to_vec()?, [1.0, 1.0, 0.0, 0.0]);
    Ok(())
}

#[test]
fn arrays_of_another_tape_and_of_another_runtime() -> Result<()> {
    let (rt, other) = (runtime()?, runtime()?);
    let (arena, tape, second) = (rt.arena(), rt.tape(), rt.tape());
    let x = arena.from_slice([2], &[1.0_f64, 2.0])?;
    let square = mul_init(&tape, &x, &x)?;
    let texts = ["mul: `x` was made under another tape", "copy_init(tape.detached(), ..)"];
    assert_error(mul_init(&second, &square, &x), "D0025", &texts);
    let constant = copy_init(second.detached(), &square)?;
    let loss = sum_init(&second, &mul_init(&second, &constant, &x)?)?;
    assert_eq!(second.gradients(&loss, &x)?.to_vec()?, [1.0, 4.0]);
    // What is inside of a checkpoint is unknown outside of it.
    let result = tape.checkpoint(|inner| {
        let square = mul_init(inner, &x, &x)?;
        assert_error(mul_init(&tape, &square, &x), "D0025", &["inside of a checkpoint"]);
        mul_init(inner, &square, &x)
    })?;
    assert_eq!(tape.gradients(&sum_init(&tape, &result)?, &x)?.to_vec()?, [3.0, 12.0]);
    let foreign = other.from_vec([2], vec![1.0_f64, 2.0])?;
    let loss = sum_init(&tape, &square)?;
    assert_error(tape.gradients(&loss, &foreign), "D0004", &["gradients"]);
    Ok(())
}

#[test]
fn nothing_is_added_if_one_gradient_is_missing() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let (x, unused) = (arena.from_slice([1], &[2.0_f64])?, arena.zeros::<f64, 1>([1])?);
    let loss = sum_init(&tape, &mul_init(&tape, &x, &x)?)?;
    let (mut first, mut second) = (arena.zeros([1])?, arena.zeros([1])?);
    let result = tape.accumulate(&loss, ((&x, &mut first), (&unused, &mut second)));
    assert_error(result, "D0018", &["shape [1]"]);
    assert_eq!(first.to_vec()?, [0.0]);
    Ok(())
}

/// `out = x * factor`, for a factor that is not 0.
#[codelet(R, W, check(factor != T::ZERO))]
fn times<T: Real>(x: T, factor: T) -> T {
    x * factor
}

#[test]
fn a_call_that_fails_leaves_nothing_on_the_tape() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let mut x = arena.from_slice([2], &[1.0_f64, 2.0])?;
    assert_error(times_init(&tape, &x, 0.0), "D0003", &["times"]);
    // The call that failed has read no value, so there is one value alone.
    scale_self(&mut x, 3.0)?;
    let twice = times_init(&tape, &x, 2.0)?;
    // A checkpoint does not run it again.
    let squares = tape.checkpoint(|tape| {
        assert_error(times_init(tape, &twice, 0.0), "D0003", &[]);
        mul_init(tape, &twice, &twice)
    })?;
    assert_eq!(tape.gradients(&sum_init(&tape, &squares)?, &x)?.to_vec()?, [24.0, 48.0]);
    Ok(())
}

/// `out = x`; its rule waits until another thread has remembered a task.
#[codelet(R, W, shape(out = x), gradient = slowly_gradient())]
fn slowly<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

/// Where the rule of `slowly` and the thread meet: when the rule has begun, and when it may go on.
static MEETING: std::sync::Barrier = std::sync::Barrier::new(2);

fn slowly_gradient<T: Real, const N: usize>(rule: SlowlyGradient<'_, T, N>) -> Result<()> {
    let Some(by_x) = rule.by_x else { return Ok(()) };
    MEETING.wait();
    MEETING.wait();
    copy(rule.gradient, by_x)
}

#[test]
fn a_task_that_is_remembered_during_a_pass_follows_those_before() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let mut x = arena.from_slice([2], &[1.0_f64, 2.0])?;
    let y = arena.from_slice([2], &[5.0_f64, 6.0])?;
    let product = mul_init(&tape, &add_init(&tape, &x, &y)?, &y)?;
    let loss = sum_init(&tape, &slowly_init(&tape, &product)?)?;
    scale_self(&mut x, 1.0)?;
    let (by_y, sum) = std::thread::scope(|scope| {
        let pass = scope.spawn(|| tape.gradients(&loss, &y)?.to_vec());
        MEETING.wait();
        // It reads what was remembered before the pass began, an array that was changed since, and one that is new.
        let sum = tape
            .checkpoint(|tape| mul_init(tape, &product, &y))
            .and_then(|squares| add_init(&tape, &add_init(&tape, &squares, &x)?, &product));
        MEETING.wait();
        (pass.join().unwrap(), sum)
    });
    assert_eq!(by_y?, [11.0, 14.0]);
    // (x + y) y^2 + x + (x + y) y
    let total = sum_init(&tape, &sum?)?;
    assert_eq!(tape.gradients(&total, &y)?.to_vec()?, [96.0, 146.0]);
    assert_error(tape.gradients(&total, &x), "D0016", &["add"]);
    Ok(())
}

#[test]
fn threads_share_a_tape() -> Result<()> {
    // Recording, checkpoints and passes of several threads: each has the gradient of its own loss.
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let inputs = (0..4).map(|i| arena.from_slice([1], &[f64::from(i) + 1.0])).collect::<Result<Vec<_>>>()?;
    std::thread::scope(|scope| {
        for x in &inputs {
            let tape = &tape;
            scope.spawn(move || {
                let value = x.to_vec().unwrap()[0];
                for _ in 0..50 {
                    let square = tape.checkpoint(|tape| mul_init(tape, x, x)).unwrap();
                    let joined = concat_init(tape, &[&mul_init(tape, &square, x).unwrap(), x], 0).unwrap();
                    let by_x = tape.gradients(&sum_init(tape, &joined).unwrap(), x).unwrap();
                    assert_eq!(by_x.to_vec().unwrap(), [3.0 * value * value + 1.0]);
                }
            });
        }
    });
    Ok(())
}
