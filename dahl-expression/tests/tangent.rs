//! Derivatives against central differences, and their values where there is no derivative.

use dahl_expression::{Binary, Graph, NodeId, Ternary, Type, Unary};

const REAL: Type = Type::Real(0);

fn input(graph: &mut Graph, index: u16) -> NodeId {
    graph.input(index, REAL)
}

/// The derivative of `root` by an input, by differences of fourth order.
fn difference(graph: &Graph, root: NodeId, at: &[f64], by: usize) -> f64 {
    let step = 1e-3 * at[by].abs().clamp(0.01, 1.0);
    let value = |steps: f64| {
        let mut moved = at.to_vec();
        moved[by] += steps * step;
        graph.evaluate(root, &moved, &[])
    };
    (8.0 * (value(1.0) - value(-1.0)) - (value(2.0) - value(-2.0))) / (12.0 * step)
}

/// Compares the derivatives by all inputs, and their derivatives, with differences.
fn check(name: &str, graph: &mut Graph, root: NodeId, points: &[&[f64]]) {
    for by in graph.mentions(root) {
        let first = graph.tangent(root, by);
        let value = |graph: &Graph, root: Option<NodeId>, at: &[f64]| {
            root.map_or(0.0, |root| graph.evaluate(root, at, &[]))
        };
        for at in points {
            let (derived, expected) = (value(graph, first, at), difference(graph, root, at, usize::from(by)));
            let bound = 1e-8 * (1.0 + expected.abs());
            assert!(
                (derived - expected).abs() < bound,
                "{name} by {by} at {at:?}: {derived} and not {expected}"
            );
        }
        let Some(first) = first else { continue };
        for again in graph.mentions(root) {
            let second = graph.tangent(first, again);
            for at in points {
                let (derived, expected) =
                    (value(graph, second, at), difference(graph, first, at, usize::from(again)));
                let bound = 1e-7 * (1.0 + expected.abs());
                assert!(
                    (derived - expected).abs() < bound,
                    "{name} by {by} and {again} at {at:?}: {derived} and not {expected}"
                );
            }
        }
    }
}

#[test]
fn functions_of_one_number() {
    let everywhere = [-2.3, -1.4, -0.6, 0.3, 0.8, 1.7, 3.2];
    for &function in Unary::ALL {
        let points: &[f64] = match function {
            Unary::Not => continue,
            Unary::Asin | Unary::Acos | Unary::Atanh => &[-0.9, -0.4, 0.2, 0.7],
            Unary::Acosh => &[1.2, 1.9, 4.0],
            Unary::Ln | Unary::Log10 | Unary::Log2 | Unary::Sqrt => &[0.2, 0.9, 3.5],
            // Far from the poles, near which differences have no digits.
            Unary::Tan => &[-2.3, -0.6, 0.3, 0.8, 3.2],
            Unary::Ln1p => &[-0.8, 0.1, 2.5],
            _ => &everywhere,
        };
        let mut graph = Graph::new();
        let x = input(&mut graph, 0);
        // The square and the factor show the chain rule.
        let square = graph.binary(Binary::Mul, x, x);
        let (factor, summand) = (graph.constant(0.01, REAL), graph.constant(0.99, REAL));
        let (square, scaled) =
            (graph.binary(Binary::Mul, factor, square), graph.binary(Binary::Mul, summand, x));
        let inner = graph.binary(Binary::Add, square, scaled);
        for argument in [x, inner] {
            let root = graph.unary(function, argument);
            if function.is_predicate() {
                assert_eq!(graph.tangent(root, 0), None);
                continue;
            }
            let points: Vec<[f64; 1]> = points.iter().map(|point| [*point]).collect();
            let points: Vec<&[f64]> = points.iter().map(|point| &point[..]).collect();
            check(function.name(), &mut graph, root, &points);
        }
    }
}

#[test]
fn functions_of_two_numbers() {
    let everywhere: [&[f64]; 5] = [&[0.7, 1.9], &[-1.3, 0.4], &[2.4, -1.7], &[-0.8, -2.2], &[3.1, 2.9]];
    let positive: [&[f64]; 3] = [&[0.7, 1.9], &[2.4, 0.6], &[1.3, 3.0]];
    for &function in Binary::ALL {
        let mut graph = Graph::new();
        let (x, y) = (input(&mut graph, 0), input(&mut graph, 1));
        match function {
            Binary::And | Binary::Or | Binary::BitAnd | Binary::BitOr | Binary::BitXor | Binary::Plus => {
                continue;
            }
            _ if function.is_comparison() => {
                let root = graph.binary(function, x, y);
                assert_eq!(graph.tangent(root, 0), None);
                continue;
            }
            _ => {}
        }
        let points: &[&[f64]] =
            if matches!(function, Binary::Powf | Binary::Log) { &positive } else { &everywhere };
        let root = graph.binary(function, x, y);
        check(function.name(), &mut graph, root, points);
        // Both operands depend on the same input.
        let scaled = {
            let (factor, summand) = (graph.constant(0.3, REAL), graph.constant(1.1, REAL));
            let product = graph.binary(Binary::Mul, factor, x);
            graph.binary(Binary::Add, product, summand)
        };
        let root = graph.binary(function, x, scaled);
        check(function.name(), &mut graph, root, &[&[0.7], &[1.9], &[2.6]]);
    }
}

#[test]
fn functions_of_three_numbers() {
    let points: [&[f64]; 5] =
        [&[0.7, 0.2, 1.9], &[-1.3, 0.4, 1.0], &[2.4, -1.7, 1.1], &[0.8, 2.2, -1.0], &[-3.0, 1.5, 0.5]];
    for &function in Ternary::ALL {
        let mut graph = Graph::new();
        let [x, y, z] = [0, 1, 2].map(|index| input(&mut graph, index));
        let root = graph.ternary(function, x, y, z);
        check(function.name(), &mut graph, root, &points);
    }
}

#[test]
fn integer_powers() {
    for exponent in [-3, -1, 0, 1, 2, 5] {
        let mut graph = Graph::new();
        let x = input(&mut graph, 0);
        let root = graph.powi(x, exponent);
        check("powi", &mut graph, root, &[&[-1.7], &[0.6], &[2.1]]);
    }
    let mut graph = Graph::new();
    let x = input(&mut graph, 0);
    let root = graph.powi(x, i32::MIN);
    let tangent = graph.tangent(root, 0).unwrap();
    assert_eq!(graph.evaluate(tangent, &[1.0], &[]), f64::from(i32::MIN));
}

/// `x` selects, and passes where it is positive.
#[test]
fn a_selection_computes_with_the_side_that_it_takes() {
    let mut graph = Graph::new();
    let x = input(&mut graph, 0);
    let zero = graph.constant(0.0, REAL);
    let is_positive = graph.binary(Binary::Greater, x, zero);
    let root = graph.unary(Unary::Sqrt, x);
    let logarithm = graph.unary(Unary::Ln, root);
    let selected = graph.select(is_positive, logarithm, zero);
    let tangent = graph.tangent(selected, 0).unwrap();
    let gradient = input(&mut graph, 1);
    let product = graph.binary(Binary::Mul, gradient, tangent);
    // The other side is NaN or infinite.
    assert_eq!(graph.evaluate(product, &[-1.0, 3.0], &[]), 0.0);
    assert_eq!(graph.evaluate(product, &[0.0, f64::INFINITY], &[]), 0.0);
    assert_eq!(graph.evaluate(product, &[4.0, 2.0], &[]), 0.25);
}

/// What the tangents by all inputs are at a point, for each function that has a kink there.
#[test]
fn conventions_at_kinks() {
    const NAN: f64 = f64::NAN;
    const INF: f64 = f64::INFINITY;
    let unary: &[(Unary, f64, f64)] = &[
        (Unary::Abs, 0.0, 0.0),
        (Unary::Abs, -0.0, 0.0),
        (Unary::Abs, NAN, NAN),
        (Unary::Sqrt, 0.0, INF),
        (Unary::Cbrt, 0.0, INF),
        (Unary::Signum, 0.0, 0.0),
        (Unary::Round, 0.5, 0.0),
        (Unary::RoundTiesEven, 0.5, 0.0),
        (Unary::Floor, 1.0, 0.0),
        (Unary::Ceil, 1.0, 0.0),
        (Unary::Trunc, 1.0, 0.0),
        (Unary::Fract, 1.0, 1.0),
        (Unary::Asin, 1.0, INF),
        (Unary::Acos, -1.0, -INF),
        (Unary::Acosh, 1.0, INF),
        (Unary::Atanh, -1.0, INF),
        (Unary::Ln, 0.0, INF),
        (Unary::Recip, 0.0, -INF),
        (Unary::Atan, INF, 0.0),
        (Unary::Erf, INF, 0.0),
        (Unary::Tanh, INF, 0.0),
        (Unary::Exp, -INF, 0.0),
    ];
    for &(function, x, expected) in unary {
        let mut graph = Graph::new();
        let a = input(&mut graph, 0);
        let root = graph.unary(function, a);
        let tangent = graph.tangent(root, 0);
        let value = tangent.map_or(0.0, |tangent| graph.evaluate(tangent, &[x], &[]));
        assert!(same(value, expected), "{} at {x}: {value}", function.name());
    }
    let binary: &[(Binary, [f64; 2], [f64; 2])] = &[
        (Binary::Maximum, [2.0, 2.0], [0.5, 0.5]),
        (Binary::Maximum, [NAN, 2.0], [1.0, 1.0]),
        (Binary::Maximum, [2.0, NAN], [1.0, 1.0]),
        (Binary::Minimum, [-2.0, -2.0], [0.5, 0.5]),
        (Binary::Minimum, [0.0, -0.0], [0.5, 0.5]),
        (Binary::Minimum, [NAN, NAN], [1.0, 1.0]),
        (Binary::MaxNumber, [2.0, 2.0], [1.0, 0.0]),
        (Binary::MaxNumber, [2.0, NAN], [1.0, 0.0]),
        (Binary::MaxNumber, [NAN, 2.0], [0.0, 1.0]),
        (Binary::MinNumber, [2.0, 2.0], [1.0, 0.0]),
        (Binary::Copysign, [0.0, -1.0], [0.0, 0.0]),
        (Binary::Copysign, [2.0, -0.0], [-1.0, 0.0]),
        (Binary::Copysign, [-2.0, NAN], [-1.0, 0.0]),
        (Binary::Rem, [-7.0, 2.0], [1.0, 3.0]),
        (Binary::Powf, [0.0, 0.0], [0.0, 0.0]),
        (Binary::Powf, [0.0, 2.0], [0.0, 0.0]),
        (Binary::Powf, [0.0, 1.0], [1.0, 0.0]),
        (Binary::Powf, [0.0, -1.0], [-INF, -INF]),
        (Binary::Powf, [NAN, 0.0], [0.0, NAN]),
        (Binary::Powf, [-2.0, 2.0], [-4.0, NAN]),
        (Binary::Hypot, [0.0, 0.0], [NAN, NAN]),
        (Binary::Atan2, [0.0, 0.0], [NAN, NAN]),
    ];
    for &(function, at, expected) in binary {
        let mut graph = Graph::new();
        let (a, b) = (input(&mut graph, 0), input(&mut graph, 1));
        let root = graph.binary(function, a, b);
        for by in 0..2 {
            let tangent = graph.tangent(root, by);
            let value = tangent.map_or(0.0, |tangent| graph.evaluate(tangent, &at, &[]));
            let expected = expected[usize::from(by)];
            assert!(same(value, expected), "{} by {by} at {at:?}: {value}", function.name());
        }
    }
    let clamp: &[([f64; 3], [f64; 3])] = &[
        ([1.0, 1.0, 2.0], [1.0, 0.0, 0.0]),
        ([2.0, 1.0, 2.0], [1.0, 0.0, 0.0]),
        ([0.0, 1.0, 2.0], [0.0, 1.0, 0.0]),
        ([3.0, 1.0, 2.0], [0.0, 0.0, 1.0]),
        ([1.5, 2.0, 1.0], [0.0, 0.0, 1.0]),
        ([1.0, 1.0, 1.0], [1.0, 0.0, 0.0]),
        ([NAN, 1.0, 2.0], [0.0, 0.0, 0.0]),
    ];
    for (at, expected) in clamp {
        let mut graph = Graph::new();
        let [x, low, high] = [0, 1, 2].map(|index| input(&mut graph, index));
        let root = graph.ternary(Ternary::Clamp, x, low, high);
        for by in 0..3 {
            let tangent = graph.tangent(root, by).unwrap();
            let value = graph.evaluate(tangent, at, &[]);
            assert!(same(value, expected[usize::from(by)]), "clamp by {by} at {at:?}: {value}");
        }
    }
}

fn same(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

/// A conversion passes the derivative, and integers and booleans none.
#[test]
fn types() {
    let mut graph = Graph::new();
    let x = input(&mut graph, 0);
    let wide = graph.convert(x, Type::Real(1));
    let square = graph.binary(Binary::Mul, wide, wide);
    let root = graph.convert(square, REAL);
    let tangent = graph.tangent(root, 0).unwrap();
    assert_eq!(graph.ty(tangent), REAL);
    assert_eq!(graph.evaluate(tangent, &[3.0], &[]), 6.0);

    let mask = graph.input(1, Type::Other);
    let zero = graph.leaf(0, Type::Other);
    let is_set = graph.binary(Binary::NotEqual, mask, zero);
    let selected = graph.select(is_set, x, root);
    assert_eq!(graph.tangent(selected, 1), None);
    let tangent = graph.tangent(selected, 0).unwrap();
    assert_eq!(graph.evaluate(tangent, &[3.0, 1.0], &[0.0]), 1.0);
    assert_eq!(graph.evaluate(tangent, &[3.0, 0.0], &[0.0]), 6.0);
}

/// The error function of the evaluation, against values of tables (DLMF 7.23).
#[test]
fn the_error_function() {
    let mut graph = Graph::new();
    let x = input(&mut graph, 0);
    let (erf, erfc) = (graph.unary(Unary::Erf, x), graph.unary(Unary::Erfc, x));
    for (at, value, complement) in [
        (0.5, 0.5204998778130465, 0.4795001221869535),
        (-1.0, -0.8427007929497149, 1.842_700_792_949_715),
        (1.9, 0.9927904292352575, 0.0072095707647425),
        (2.5, 0.999593047982555, 4.069520174449589e-4),
        (5.0, 0.9999999999984626, 1.537_459_794_428_035e-12),
    ] {
        let close = |a: f64, b: f64| (a - b).abs() <= 4e-15 * b.abs() + 1e-16;
        assert!(close(graph.evaluate(erf, &[at], &[]), value), "erf({at})");
        let got = graph.evaluate(erfc, &[at], &[]);
        assert!((got - complement).abs() <= 1e-12 * complement, "erfc({at}) = {got}");
    }
}
