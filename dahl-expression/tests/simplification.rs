//! What constructors simplify, as text.

use dahl_expression::{Binary, Graph, Node, NodeId, Scheduled, Type, Unary};

const REAL: Type = Type::Real(0);

fn text(graph: &Graph, id: NodeId) -> String {
    let of = |id| text(graph, id);
    match graph.node(id) {
        Node::Input(index) => ["x", "y", "z", "g"][usize::from(index)].to_owned(),
        Node::Leaf(index) => format!("leaf{index}"),
        Node::Constant(number) => number.value().to_string(),
        Node::Convert(a) => format!("convert({})", of(a)),
        Node::Unary(function, a) => format!("{}({})", function.name(), of(a)),
        Node::Powi(a, exponent) => format!("powi({}, {exponent})", of(a)),
        Node::Binary(function, a, b) => format!("({} {} {})", of(a), function.name(), of(b)),
        Node::Ternary(function, a, b, c) => format!("{}({}, {}, {})", function.name(), of(a), of(b), of(c)),
        Node::Select(condition, a, b) => format!("if {} {{{}}} else {{{}}}", of(condition), of(a), of(b)),
    }
}

struct Variables {
    graph: Graph,
    x: NodeId,
    y: NodeId,
    g: NodeId,
    zero: NodeId,
    one: NodeId,
    is_less: NodeId,
}

fn variables() -> Variables {
    let mut graph = Graph::new();
    let [x, y, g] = [0, 1, 3].map(|index| graph.input(index, REAL));
    let (zero, one) = (graph.constant(0.0, REAL), graph.constant(1.0, REAL));
    let is_less = graph.binary(Binary::Less, x, y);
    Variables { graph, x, y, g, zero, one, is_less }
}

#[test]
fn zeros_ones_and_signs() {
    use Binary::{Add, Div, Mul, Powf, Sub};
    let Variables { mut graph, x, y, zero, one, .. } = variables();
    let minus_x = graph.unary(Unary::Neg, x);
    let minus_y = graph.unary(Unary::Neg, y);
    let minus_one = graph.unary(Unary::Neg, one);
    let over_y = graph.binary(Div, one, y);
    let over_y_x = graph.binary(Div, over_y, x);
    for (function, a, b, expected) in [
        (Add, x, zero, "x"),
        (Add, zero, x, "x"),
        (Add, x, minus_y, "(x - y)"),
        (Add, minus_x, y, "(y - x)"),
        (Sub, x, zero, "x"),
        (Sub, zero, x, "-(x)"),
        (Sub, x, minus_y, "(x + y)"),
        (Mul, x, one, "x"),
        (Mul, one, x, "x"),
        (Mul, x, minus_one, "-(x)"),
        (Mul, minus_x, y, "-((x * y))"),
        (Mul, minus_x, minus_y, "(x * y)"),
        (Mul, x, zero, "(x * 0)"),
        (Mul, x, over_y, "(x / y)"),
        (Mul, y, over_y_x, "((y / y) / x)"),
        (Div, x, one, "x"),
        (Div, x, minus_y, "-((x / y))"),
        (Div, minus_x, minus_y, "(x / y)"),
        (Powf, x, one, "x"),
        (Powf, x, zero, "1"),
    ] {
        let id = graph.binary(function, a, b);
        assert_eq!(text(&graph, id), expected, "{} {} {}", text(&graph, a), function.name(), text(&graph, b));
    }
    let (below, above) = (graph.binary(Sub, one, x), graph.binary(Add, one, x));
    let cancelled = graph.binary(Sub, below, above);
    assert_eq!(text(&graph, cancelled), "-((x + x))");
    let (left, right) = (graph.binary(Mul, below, y), graph.binary(Mul, y, above));
    let cancelled = graph.binary(Sub, left, right);
    assert_eq!(text(&graph, cancelled), "-((y * (x + x)))");
    let difference = graph.binary(Sub, x, y);
    let negated = graph.unary(Unary::Neg, difference);
    assert_eq!(text(&graph, negated), "(y - x)");
    assert_eq!(graph.unary(Unary::Neg, minus_x), x);
}

#[test]
fn constants_are_folded_where_that_is_exact() {
    let mut graph = Graph::new();
    let [two, three, tenth] = [2.0, 3.0, 0.1].map(|value| graph.constant(value, REAL));
    for (function, a, b, expected) in [
        (Binary::Mul, two, three, "6"),
        (Binary::Sub, two, three, "-1"),
        (Binary::Div, three, two, "1.5"),
        (Binary::Div, two, three, "(2 / 3)"),
        (Binary::Mul, two, tenth, "(2 * 0.1)"),
    ] {
        let id = graph.binary(function, a, b);
        assert_eq!(text(&graph, id), expected);
    }
}

#[test]
fn products_go_into_selections() {
    let Variables { mut graph, x, y, g, zero, one, is_less } = variables();
    let inner = graph.select(is_less, zero, one);
    let is_equal = graph.binary(Binary::Equal, x, y);
    let outer = graph.select(is_equal, one, x);
    for (factor, expected) in [(inner, "if (x < y) {0} else {g}"), (outer, "if (x == y) {g} else {(g * x)}")]
    {
        let product = graph.binary(Binary::Mul, g, factor);
        assert_eq!(text(&graph, product), expected);
    }
    let quotient = graph.binary(Binary::Div, inner, x);
    let product = graph.binary(Binary::Mul, g, quotient);
    assert_eq!(text(&graph, product), "if (x < y) {0} else {(g / x)}");
    let negated = graph.unary(Unary::Neg, inner);
    let product = graph.binary(Binary::Mul, g, negated);
    assert_eq!(text(&graph, product), "if (x < y) {0} else {-(g)}");
    let (one_way, other_way) = (graph.select(is_less, zero, x), graph.select(is_less, y, zero));
    let difference = graph.binary(Binary::Sub, one_way, other_way);
    assert_eq!(text(&graph, difference), "if (x < y) {-(y)} else {x}");
    // Neither side is simple: one product.
    let sides = graph.select(is_less, x, y);
    let product = graph.binary(Binary::Mul, g, sides);
    assert_eq!(text(&graph, product), "(g * if (x < y) {x} else {y})");
}

#[test]
fn a_factor_takes_the_place_of_a_one() {
    let Variables { mut graph, x, y, g, one, is_less, .. } = variables();
    let [over_x, over_y] = [x, y].map(|denominator| graph.binary(Binary::Div, one, denominator));
    let over_both = graph.binary(Binary::Div, over_x, y);
    let sides = graph.select(is_less, over_both, over_y);
    let mixed = graph.select(is_less, over_x, y);
    for (factor, expected) in [
        (over_x, "(g / x)"),
        (over_both, "((g / x) / y)"),
        (sides, "if (x < y) {((g / x) / y)} else {(g / y)}"),
        (mixed, "(g * if (x < y) {(1 / x)} else {y})"),
    ] {
        let product = graph.binary(Binary::Mul, g, factor);
        assert_eq!(text(&graph, product), expected);
    }
}

#[test]
fn selections() {
    let Variables { mut graph, x, y, zero, is_less, .. } = variables();
    assert_eq!(graph.select(is_less, x, x), x);
    let not = graph.unary(Unary::Not, is_less);
    let (one_way, other_way) = (graph.select(not, x, y), graph.select(is_less, y, x));
    assert_eq!(one_way, other_way);
    let nested = graph.select(is_less, one_way, zero);
    assert_eq!(text(&graph, nested), "if (x < y) {y} else {0}");
}

/// What is left of an inner selection computes the same for each order of two numbers, and for NaN.
#[test]
fn a_comparison_decides_another() {
    let comparisons = Binary::ALL.iter().filter(|function| function.is_comparison());
    let mut shorter = 0;
    for &outer in comparisons.clone() {
        for &inner in comparisons.clone() {
            let Variables { mut graph, x, y, g, .. } = variables();
            let [three, five] = [3.0, 5.0].map(|value| graph.constant(value, REAL));
            let (outer, inner) = (graph.binary(outer, x, y), graph.binary(inner, x, y));
            let nested = graph.select(inner, three, five);
            for is_then in [true, false] {
                let (then, otherwise) = if is_then { (nested, g) } else { (g, nested) };
                let selected = graph.select(outer, then, otherwise);
                shorter += usize::from(!text(&graph, selected).contains("{if"));
                for at in [[1.0, 2.0], [2.0, 1.0], [1.0, 1.0], [f64::NAN, 1.0], [f64::NAN, f64::NAN]] {
                    let inputs = [at[0], at[1], 0.0, 7.0];
                    let [outer, nested, value] =
                        [outer, nested, selected].map(|id| graph.evaluate(id, &inputs, &[]));
                    let expected = if (outer != 0.0) == is_then { nested } else { 7.0 };
                    assert_eq!(value, expected, "{} at {at:?}", text(&graph, selected));
                }
            }
        }
    }
    // Each comparison decides itself on both sides; 28 pairs of different ones.
    assert_eq!(shorter, 40);
}

#[test]
fn equal_expressions_are_one_node() {
    let Variables { mut graph, x, y, .. } = variables();
    let one = graph.binary(Binary::Add, x, y);
    assert_eq!(graph.binary(Binary::Add, x, y), one);
    assert_ne!(graph.binary(Binary::Add, y, x), one);
    assert_ne!(graph.constant(1.0, Type::Real(0)), graph.constant(1.0, Type::Real(1)));
}

#[test]
fn order_uses_and_replacement() {
    let Variables { mut graph, x, y, g, .. } = variables();
    let sum = graph.binary(Binary::Add, x, y);
    let square = graph.binary(Binary::Mul, sum, sum);
    let root = graph.binary(Binary::Mul, g, square);
    let scheduled = |id, uses| Scheduled { id, uses };
    assert_eq!(
        graph.schedule(root),
        [
            scheduled(x, 1),
            scheduled(y, 1),
            scheduled(g, 1),
            scheduled(sum, 2),
            scheduled(square, 1),
            scheduled(root, 1)
        ]
    );
    assert_eq!(graph.mentions(root), [0, 1, 3]);
    let z = graph.input(2, REAL);
    let replaced = graph.substitute(root, sum, z);
    assert_eq!(text(&graph, replaced), "(g * (z * z))");
    assert_eq!(graph.mentions(replaced), [2, 3]);
    assert_eq!(text(&graph, root), "(g * ((x + y) * (x + y)))");
}
