//! Expressions as text, and copies of expressions.

use dahl_expression::{Binary, Graph, Node, NodeId, Ternary, Type, Unary};

const REAL: Type = Type::Real(0);

/// `if x > 0.5 { clamp(exp(-x), y, leaf) } else { x^-2 as another type and back }`.
fn example(graph: &mut Graph) -> NodeId {
    let (x, y, leaf) = (graph.input(0, REAL), graph.input(3, REAL), graph.leaf(1, REAL));
    let half = graph.constant(0.5, REAL);
    let condition = graph.binary(Binary::Greater, x, half);
    let negative = graph.unary(Unary::Neg, x);
    let exp = graph.unary(Unary::Exp, negative);
    let clamped = graph.ternary(Ternary::Clamp, exp, y, leaf);
    let power = graph.powi(x, -2);
    let other = graph.convert(power, Type::Real(2));
    let back = graph.convert(other, REAL);
    graph.select(condition, clamped, back)
}

#[test]
fn text_is_read_again() {
    let mut graph = Graph::new();
    let root = example(&mut graph);
    let text = graph.to_text(root);
    assert_eq!(
        text,
        "input 0 real0; input 3 real0; leaf 1 real0; number 0.5 real0; > 0 3; - 0; exp 5; clamp 6 1 2; powi 0 -2; \
         convert 8 real2; convert 9 real0; if 4 7 10"
    );
    let mut read = Graph::new();
    let again = read.of_text(&text).expect("it is an expression");
    assert_eq!(read.to_text(again), text);
    for x in [-1.25, 0.25, 0.75, f64::NAN] {
        let (inputs, leaves) = ([x, 0.0, 0.0, 0.1], [0.0, 0.9]);
        let (value, expected) =
            (read.evaluate(again, &inputs, &leaves), graph.evaluate(root, &inputs, &leaves));
        assert_eq!(value.to_bits(), expected.to_bits(), "{x}");
    }
}

#[test]
fn numbers_keep_all_digits() {
    for number in [0.1, -0.0, 1e-310, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        let mut graph = Graph::new();
        let root = graph.constant(number, REAL);
        let mut read = Graph::new();
        let again = read.of_text(&graph.to_text(root)).expect("it is a number");
        assert_eq!(read.number(again).map(f64::to_bits), Some(number.to_bits()));
    }
}

#[test]
fn other_text_is_no_expression() {
    for text in
        ["", "input", "input 0", "input 0 real", "exp 0", "input 0 real0; exp 1", "input 0 real0; nothing 0"]
    {
        assert_eq!(Graph::new().of_text(text), None, "{text}");
    }
}

#[test]
fn copies_have_other_numbers() {
    let mut graph = Graph::new();
    let root = example(&mut graph);
    let mut copy = Graph::new();
    let atom = |copy: &mut Graph, node, ty| match node {
        Node::Input(index) => Some(copy.input(index + 1, ty)),
        Node::Leaf(_) => Some(copy.constant(0.9, ty)),
        Node::Constant(number) => Some(copy.constant(number.value(), ty)),
        _ => None,
    };
    // One type: the conversions are dropped.
    let copied = copy.copy(&graph, root, atom, |ty| Some(if ty == Type::Bool { ty } else { REAL }));
    let copied = copied.expect("all is copied");
    assert_eq!(
        copy.to_text(copied),
        "input 1 real0; input 4 real0; number 0.9 real0; number 0.5 real0; > 0 3; - 0; exp 5; clamp 6 1 2; powi 0 -2; \
         if 4 7 8"
    );
    assert_eq!(copy.copy(&graph, root, |_, _, _| None, Some), None);
}
