//! Wrong gradients, each with the check that must find it.

use dahl::ndarray::{ArrayView0, ArrayView2, ArrayViewMut2};
use dahl::testing::gradient::{Check, Failure, Gradient};

use super::*;

/// The check of an operation of one or two matrices of rank 2, under a tape.
fn check(
    op: impl for<'t> Fn(&'t Tape<'_>, &Matrix<'_, f64>, &Matrix<'_, f64>) -> Result<Matrix<'t, f64>>,
    shapes: [[usize; 2]; 2],
) -> std::result::Result<(), Failure> {
    let gradient = Gradient::new(
        "mutant",
        |inputs| {
            let rt = runtime()?;
            let (arena, tape) = (rt.arena(), rt.tape());
            let (x, y) = (arena.from_slice(shapes[0], &inputs[0])?, arena.from_slice(shapes[1], &inputs[1])?);
            Ok(op(&tape, &x, &y)?.to_vec()?)
        },
        |inputs, gradient| {
            let rt = runtime()?;
            let (arena, tape) = (rt.arena(), rt.tape());
            let (x, y) = (arena.from_slice(shapes[0], &inputs[0])?, arena.from_slice(shapes[1], &inputs[1])?);
            let output = op(&tape, &x, &y)?;
            let seed = arena.from_slice(output.shape(), gradient)?;
            let (by_x, by_y) = tape.gradients_from(&output, &seed, (&x, &y))?;
            Ok(vec![by_x.to_vec()?, by_y.to_vec()?])
        },
    );
    gradient.drawn("x", &shapes[0]).drawn("y", &shapes[1]).check().map(drop)
}

#[track_caller]
fn assert_caught(result: std::result::Result<(), Failure>, check: Check, input: Option<&str>) {
    let failure = result.expect_err("a mutant lives");
    assert_eq!((failure.check(), failure.input()), (check, input), "{failure}");
}

const SQUARE: [[usize; 2]; 2] = [[3, 3], [3, 3]];

#[test]
fn what_is_right_passes() {
    check(|tape, x, y| mul_init(tape, x, y), SQUARE).unwrap();
    check(|tape, x, y| matmul_init(tape, x, y), [[2, 3], [3, 4]]).unwrap();
}

/// `out = x^2 y`, whose rule forgets the factor 2.
#[codelet(R, R, W, gradient = forgets_a_factor(x, y))]
fn square_times<T: Real>(x: T, y: T) -> T {
    x * x * y
}

fn forgets_a_factor<T: Real, const N: usize>(rule: SquareTimesGradient<'_, T, N>) -> Result<()> {
    let SquareTimesGradient { x, y, gradient, by_x, by_y, scope } = rule;
    if let Some(by_x) = by_x {
        *by_x = mul_init(scope, gradient, &mul_init(scope, x, y)?)?;
    }
    if let Some(by_y) = by_y {
        *by_y = mul_init(scope, gradient, &mul_init(scope, x, x)?)?;
    }
    Ok(())
}

#[test]
fn a_forgotten_factor() {
    assert_caught(check(|tape, x, y| square_times_init(tape, x, y), SQUARE), Check::Directions, Some("x"));
}

/// `out = x` where `x > y`, else `y^2`; its rule takes the wrong side.
#[codelet(R, R, W, gradient = takes_the_wrong_side(x, y))]
fn larger<T: Real>(x: T, y: T) -> T {
    if x > y { x } else { y * y }
}

fn takes_the_wrong_side<T: Real, const N: usize>(rule: LargerGradient<'_, T, N>) -> Result<()> {
    let LargerGradient { x, y, gradient, by_x, by_y, scope } = rule;
    let (taken, other) = (less_init(scope, x, y)?, greater_equal_init(scope, x, y)?);
    let zeros = scope.detached().zeros(x.shape())?;
    if let Some(by_x) = by_x {
        *by_x = select_init(scope, &taken, gradient, &zeros)?;
    }
    if let Some(by_y) = by_y {
        let twice = scale_init(scope, &mul_init(scope, gradient, y)?, T::from_f64(2.0))?;
        *by_y = select_init(scope, &other, &twice, &zeros)?;
    }
    Ok(())
}

#[test]
fn the_wrong_side_of_an_if() {
    assert_caught(check(|tape, x, y| larger_init(tape, x, y), SQUARE), Check::Directions, Some("x"));
}

/// `out = x + y`, where `y` has one row; its rule gives the first row of the gradient, and not the sum of all.
#[codelet(R, R, W, shape(out = x), gradient = forgets_the_sum())]
fn add_row<T: Real>(x: ArrayView2<T>, y: ArrayView2<T>, mut out: ArrayViewMut2<T>) {
    for (mut out, x) in out.rows_mut().into_iter().zip(x.rows()) {
        out.assign(&x);
        out.zip_mut_with(&y.row(0), |out, y| *out += *y);
    }
}

fn forgets_the_sum<T: Real>(rule: AddRowGradient<'_, T>) -> Result<()> {
    if let Some(by_x) = rule.by_x {
        *by_x = rule.scope.same(rule.gradient)?;
    }
    if let Some(by_y) = rule.by_y {
        *by_y = slice_init(rule.scope, rule.gradient, 0, 0, 1)?;
    }
    Ok(())
}

#[test]
fn a_missing_sum_over_a_stretched_axis() {
    let result = check(|tape, x, y| add_row_init(tape, x, y), [[3, 2], [1, 2]]);
    assert_caught(result, Check::Directions, Some("y"));
}

/// A product whose rule takes the second factor for the gradient by the first without its transpose.
#[codelet(R, R, W, shape(out = [a.nrows(), b.ncols()]), gradient = forgets_a_transpose)]
fn product_of<T: Real>(a: ArrayView2<T>, b: ArrayView2<T>, mut out: ArrayViewMut2<T>) {
    for ((i, j), out) in out.indexed_iter_mut() {
        *out = a.row(i).iter().zip(b.column(j)).fold(T::ZERO, |sum, (a, b)| sum + *a * *b);
    }
}

fn forgets_a_transpose<T: Real>(rule: ProductOfGradient<'_, T>) -> Result<()> {
    if let Some(by_a) = rule.by_a {
        *by_a = matmul_init(rule.scope, rule.gradient, rule.b)?;
    }
    if let Some(by_b) = rule.by_b {
        *by_b = matmul_transposed_init(rule.scope, rule.a, rule.gradient, Transposed::LEFT)?;
    }
    Ok(())
}

#[test]
fn a_transposed_operand() {
    assert_caught(check(|tape, x, y| product_of_init(tape, x, y), SQUARE), Check::Directions, Some("x"));
}

#[test]
fn a_severed_gradient() {
    // On purpose, by a detached value: differences see what the tape does not.
    let result = check(
        |tape, x, y| {
            let constant = mul_init(tape.detached(), x, x)?;
            add_init(tape, &mul_init(tape, &constant, y)?, x)
        },
        SQUARE,
    );
    assert_caught(result, Check::Directions, Some("x"));
}

/// `out = factor x`, whose rule gives a gradient that is not proportional to that by the output.
#[codelet(R, R, W, shape(out = x), gradient = ignores_the_gradient(x, y))]
fn times_first<T: Real>(x: ArrayView2<T>, y: ArrayView2<T>, mut out: ArrayViewMut2<T>) {
    let factor = y[[0, 0]];
    out.zip_mut_with(&x, |out, x| *out = *x * factor);
}

fn ignores_the_gradient<T: Real>(rule: TimesFirstGradient<'_, T>) -> Result<()> {
    if let Some(by_x) = rule.by_x {
        *by_x = add_init(rule.scope, rule.gradient, &rule.scope.detached().filled(rule.x.shape(), T::ONE)?)?;
    }
    if let Some(by_y) = rule.by_y {
        *by_y = copy_init(rule.scope, rule.y)?;
    }
    Ok(())
}

#[test]
fn a_gradient_that_is_not_proportional() {
    let failure = check(|tape, x, y| times_first_init(tape, x, y), SQUARE).expect_err("a mutant lives");
    assert!(matches!(failure.check(), Check::Directions | Check::Scales), "{failure}");
}

#[test]
fn a_saved_value_that_was_overwritten() {
    // The tape itself finds it: no wrong gradient comes out.
    let rt = runtime().unwrap();
    let (arena, tape) = (rt.arena(), rt.tape());
    let mut x = arena.from_slice([2], &[1.0_f64, 2.0]).unwrap();
    let loss = sum_init(&tape, &square_times_init(&tape, &x, &x).unwrap()).unwrap();
    neg_self(&mut x).unwrap();
    assert_eq!(tape.gradients(&loss, &x).map(drop).expect_err("it was overwritten").code(), "D0016");
}

/// Numbers, so that the view of rank 0 is used.
#[codelet(R, W, shape(out = []), gradient = none)]
fn first<T: Real>(x: ArrayView0<T>, out: &mut [T]) {
    out[0] = x[[]];
}

#[test]
fn none_is_severed_on_purpose_and_an_error_says_so() {
    let rt = runtime().unwrap();
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([], &[1.0_f64]).unwrap();
    let loss = first_init(&tape, &x).unwrap();
    assert_eq!(tape.gradients(&loss, &x).map(drop).expect_err("nothing flows").code(), "D0020");
}
