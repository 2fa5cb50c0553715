//! Correct gradients pass, and the expected check finds each wrong one.

use std::cell::Cell;

use dahl::testing::gradient::{Check, Failure, Gradient, Outcome};

/// `out[i] = tanh(x[i])`, with the backward operation `backward`.
fn tanh<'a>(backward: impl Fn(f64, f64) -> f64 + 'a) -> Gradient<'a> {
    Gradient::new(
        "tanh",
        |inputs| Ok(inputs[0].iter().map(|x| x.tanh()).collect()),
        move |inputs, output_gradient| {
            Ok(vec![inputs[0].iter().zip(output_gradient).map(|(&x, &w)| backward(x, w)).collect()])
        },
    )
    .input("x", &[2, 3], vec![0.3, -1.2, 0.0, 2.5, -0.7, 1.1])
}

fn tanh_backward(x: f64, w: f64) -> f64 {
    (1.0 - x.tanh() * x.tanh()) * w
}

const ROWS: usize = 3;
const INNER: usize = 4;
const COLS: usize = 2;

/// `a x b`, for `a: [3, 4]` and `b: [4, 2]`.
fn product(a: &[f64], b: &[f64], [rows, inner, cols]: [usize; 3]) -> Vec<f64> {
    let at = |i: usize| (0..inner).map(|k| a[i / cols * inner + k] * b[k * cols + i % cols]).sum();
    (0..rows * cols).map(at).collect()
}

fn transposed(a: &[f64], [rows, cols]: [usize; 2]) -> Vec<f64> {
    (0..rows * cols).map(|i| a[i % rows * cols + i / rows]).collect()
}

/// The gradients of a matrix product, modified by `wrong`.
fn matmul<'a>(wrong: impl Fn(&mut Vec<Vec<f64>>) + 'a) -> Gradient<'a> {
    Gradient::new(
        "matmul",
        |inputs| Ok(product(&inputs[0], &inputs[1], [ROWS, INNER, COLS])),
        move |inputs, w| {
            let by_a = product(w, &transposed(&inputs[1], [INNER, COLS]), [ROWS, COLS, INNER]);
            let by_b = product(&transposed(&inputs[0], [ROWS, INNER]), w, [INNER, ROWS, COLS]);
            let mut gradients = vec![by_a, by_b];
            wrong(&mut gradients);
            Ok(gradients)
        },
    )
    .drawn("a", &[ROWS, INNER])
    .drawn("b", &[INNER, COLS])
}

/// `out = sum of x`.
fn sum<'a>(backward: impl Fn(f64) -> Outcome<Vec<Vec<f64>>> + 'a) -> Gradient<'a> {
    Gradient::new("sum", |inputs| Ok(vec![inputs[0].iter().sum()]), move |_, w| backward(w[0]))
        .drawn("x", &[50])
}

#[track_caller]
fn failure(gradient: Gradient<'_>, check: Check, input: Option<&str>) -> String {
    let failure: Failure = gradient.check().expect_err("it is wrong");
    assert_eq!((failure.check(), failure.input()), (check, input), "{failure}");
    failure.to_string()
}

#[test]
fn right_gradients_pass() {
    let report = tanh(tanh_backward).assert();
    assert_eq!((report.directions, report.kinks.len()), (8, 0));
    assert!(report.worst < 1e-9, "{report:?}");
    let report = matmul(|_| {}).linear().assert();
    assert_eq!((report.directions, report.kinks.len()), (12, 0));
    assert!(report.worst < 1e-12, "{report:?}");
    let report = sum(|w| Ok(vec![vec![w; 50]])).linear().assert();
    assert!(report.worst < 1e-12, "{report:?}");
}

#[test]
fn a_wrong_sign() {
    let text = failure(tanh(|x, w| -tanh_backward(x, w)), Check::Directions, Some("x"));
    assert!(text.contains("of 6 that were looked at 6 are wrong"), "{text}");
    failure(sum(|w| Ok(vec![vec![-w; 50]])), Check::Directions, Some("x"));
}

#[test]
fn an_infinity() {
    let text = failure(
        tanh(|x, w| if x == 2.5 { w * f64::INFINITY } else { tanh_backward(x, w) }),
        Check::Finite,
        Some("x"),
    );
    assert!(text.contains("element 3"), "{text}");
}

#[test]
fn a_missing_factor() {
    failure(tanh(|x, w| tanh_backward(x, w) / 2.0), Check::Directions, Some("x"));
    failure(
        matmul(|gradients| gradients[1].iter_mut().for_each(|g| *g *= 2.0)),
        Check::Directions,
        Some("b"),
    );
}

#[test]
fn a_factor_hardly_off() {
    failure(tanh(|x, w| tanh_backward(x, w) * (1.0 + 1e-6)), Check::Directions, Some("x"));
    let slightly = |gradients: &mut Vec<Vec<f64>>| gradients[0].iter_mut().for_each(|g| *g *= 1.0 + 1e-11);
    matmul(slightly).assert();
    failure(matmul(slightly).linear(), Check::Exact, Some("a"));
}

#[test]
fn one_element_missing() {
    let text = failure(matmul(|gradients| gradients[0][7] = 0.0), Check::Directions, Some("a"));
    assert!(text.contains("the worst element is a[1, 3]; of 12 that were looked at 1 are wrong"), "{text}");
}

#[test]
fn one_of_very_many_elements() {
    let len = 20_000;
    let gradient = Gradient::new(
        "sum",
        |inputs| Ok(vec![inputs[0].iter().sum()]),
        |inputs, w| {
            let mut gradient = vec![w[0]; inputs[0].len()];
            gradient[17_321] = 0.0;
            Ok(vec![gradient])
        },
    );
    let text = failure(gradient.drawn("x", &[len]).tolerance(1e-6), Check::Directions, Some("x"));
    assert!(
        text.contains("the worst element is x[17321]; of 2500 that were looked at 1 are wrong"),
        "{text}"
    );
}

#[test]
fn a_transposed_gradient() {
    let transpose = |gradients: &mut Vec<Vec<f64>>| gradients[1] = transposed(&gradients[1], [INNER, COLS]);
    failure(matmul(transpose), Check::Directions, Some("b"));
}

#[test]
fn a_forgotten_input() {
    failure(matmul(|gradients| gradients[0].fill(0.0)), Check::Directions, Some("a"));
    failure(matmul(|gradients| gradients.truncate(1)), Check::Shapes, None);
    failure(matmul(|gradients| gradients[1].truncate(3)), Check::Shapes, Some("b"));
}

#[test]
fn gradients_in_the_wrong_order() {
    let gradient = Gradient::new(
        "product",
        |inputs| Ok(vec![inputs[0][0] * inputs[1][0]]),
        |inputs, w| Ok(vec![vec![inputs[0][0] * w[0]], vec![inputs[1][0] * w[0]]]),
    );
    failure(gradient.input("a", &[1], vec![2.0]).input("b", &[1], vec![3.0]), Check::Directions, Some("a"));
}

#[test]
fn a_gradient_that_is_not_proportional_to_the_outputs() {
    failure(tanh(|x, _| tanh_backward(x, 1.0)), Check::Scales, Some("x"));
    failure(sum(|w| Ok(vec![vec![w * w; 50]])), Check::Scales, Some("x"));
    failure(sum(|w| Ok(vec![vec![w + 1e-12; 50]])), Check::Scales, Some("x"));
}

/// Proportional to the output's gradient, and right for the first one that is tried, but not linear in it.
#[test]
fn a_gradient_that_knows_the_first_output_gradient_only() {
    let first = Cell::new(None);
    let backward = |x: f64, w: f64| {
        let first = first.get().unwrap_or_else(|| {
            first.set(Some(w.abs()));
            w.abs()
        });
        if w.abs() == first || w.abs() == 2.0 * first { tanh_backward(x, w) } else { 3.0 * w }
    };
    let gradient = Gradient::new(
        "tanh",
        |inputs| Ok(vec![inputs[0][0].tanh()]),
        |inputs, w| Ok(vec![vec![backward(inputs[0][0], w[0])]]),
    );
    failure(gradient.input("x", &[1], vec![0.5]), Check::Adjoint, Some("x"));
}

#[test]
fn a_tangent_is_compared_to_machine_precision() {
    let tangent = |inputs: &[Vec<f64>], directions: &[Vec<f64>]| {
        Ok(inputs[0].iter().zip(&directions[0]).map(|(&x, &v)| tanh_backward(x, v)).collect())
    };
    tanh(tanh_backward).tangent(tangent).assert();
    let off = tanh(|x, w| tanh_backward(x, w) * (1.0 + 1e-11));
    failure(off.tangent(tangent), Check::Exact, None);
}

#[test]
fn other_bits_when_run_again() {
    let calls = Cell::new(0);
    let next = || calls.replace(calls.get() + 1) as f64;
    let noisy = sum(|w| Ok(vec![vec![w * (1.0 + 1e-15 * next()); 50]]));
    failure(noisy, Check::Repeats, Some("x"));
    let forward = Gradient::new("noise", |_| Ok(vec![next()]), |_, _| Ok(vec![]));
    failure(forward, Check::Repeats, None);
}

#[test]
fn errors_are_failures() {
    let text = failure(sum(|_| Err("no memory".into())), Check::Runs, None);
    assert_eq!(text, "gradient of sum: it does not run (seed 1)\nbackward: no memory");
}

/// `out[i] = relu(x[i])`.
fn relu(values: Vec<f64>) -> Gradient<'static> {
    Gradient::new(
        "relu",
        |inputs| Ok(inputs[0].iter().map(|x| x.max(0.0)).collect()),
        |inputs, w| Ok(vec![inputs[0].iter().zip(w).map(|(&x, &w)| if x > 0.0 { w } else { 0.0 }).collect()]),
    )
    .input("x", &[values.len()], values)
}

#[test]
fn a_kink_is_not_a_wrong_gradient() {
    relu(vec![1.0, -0.5, 1e-3, -2.0]).assert();
    let text = failure(relu(vec![1.0, 0.0, -0.5]), Check::Smooth, Some("x"));
    assert!(text.contains("direction 3 by `x`: the slopes to the two sides are"), "{text}");
    let report = relu(vec![1.0, 0.0, -0.5]).kink(0.0).assert();
    assert_eq!(report.kinks, Vec::<String>::new());
}

#[test]
fn a_kink_in_some_directions_is_reported() {
    // At 0 it has a kink where x and y grow together, and is constant where one grows and the other falls.
    let gradient = Gradient::new(
        "smaller",
        |inputs| {
            let [x, y, z] = inputs[0][..] else { return Err("three numbers".into()) };
            Ok(vec![x.min(y).max(0.0) + z])
        },
        |_, w| Ok(vec![vec![0.0, 0.0, w[0]]]),
    );
    let report = gradient.directions(8).input("x", &[3], vec![0.0, 0.0, 0.5]).assert();
    assert_eq!(report.directions + report.kinks.len(), 16);
    assert!(report.directions > 2 && report.kinks.len() > 2, "{report:?}");
}

#[test]
fn values_outside_of_the_functions_domain() {
    let log = |values: Vec<f64>| {
        Gradient::new(
            "log",
            |inputs| Ok(inputs[0].iter().map(|x| x.ln()).collect()),
            |inputs, w| Ok(vec![inputs[0].iter().zip(w).map(|(x, w)| w / x).collect()]),
        )
        .input("x", &[values.len()], values)
    };
    log(vec![1e-3, 2.0, 0.5]).assert();
    log(vec![1e6, 2e6]).assert();
    failure(log(vec![-1.0, 2.0]), Check::Smooth, Some("x"));
}

#[test]
fn a_failure_reads_well() {
    let gradient = matmul(|gradients| gradients[1][2] *= -1.0);
    expect_test::expect![[r#"
        gradient of matmul: wrong by differences, by the input `b` (seed 1)
        the slope in direction 0 by `b`, from differences, good to 1.3e-12, and from backward; 2.7e-7 is allowed
          expected  -2.3184232414293118
          got       -2.256045387198647
                       ^^^^^^^^^^^^^^^^
        the worst element is b[1, 0]; of 8 that were looked at 1 are wrong
          expected  -0.04859368826532829
          got        0.048593688265305635
                    ^               ^^^^^
        the gradient by `b`, as differences give it, and as it is:
        [[ 1.26450635 -0.66514475]
         [-0.04859369  0.29121974]
         [ 0.16788707  1.80842806]
         [ 0.51928377 -0.51053726]]
        [[ 1.26450635 -0.66514475]
         [ 0.04859369  0.29121974]
         [ 0.16788707  1.80842806]
         [ 0.51928377 -0.51053726]]"#]].assert_eq(&failure(gradient, Check::Directions, Some("b")));
}
