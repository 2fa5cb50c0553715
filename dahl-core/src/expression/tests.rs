//! The interpreter against `Graph::evaluate`, over random expressions.

use dahl_expression::{Binary, Graph, NodeId, Ternary, Type, Unary};

use super::interpreter::Interpreter;
use super::operand::Operand;
use super::program::Program;
use super::tile::Registers;
use crate::element::ElementType;
use crate::{Array, Runtime, Task, bf16, f16};

const REAL: Type = Type::Real(0);

/// Numbers of all magnitudes, with all that is special.
fn number(rng: &mut fastrand::Rng) -> f64 {
    match rng.u8(0..12) {
        0 => 0.0,
        1 => -0.0,
        2 => f64::NAN,
        3 => f64::INFINITY,
        4 => f64::NEG_INFINITY,
        5 => 1e-310,
        6 => f64::from(rng.i32(-4..5)),
        7 => (rng.f64() - 0.5) * 1e300,
        _ => (rng.f64() - 0.5) * 8.0,
    }
}

/// Whether the results are exact or correctly rounded.
fn is_exact(function: Unary) -> bool {
    use Unary::*;
    matches!(
        function,
        Neg | Abs
            | Ceil
            | Floor
            | Fract
            | IsFinite
            | IsInfinite
            | IsNan
            | IsNormal
            | Recip
            | RoundTiesEven
            | Signum
            | Sqrt
            | Trunc
            | Round
    )
}

/// A random expression of functions whose results are correctly rounded, and do not depend on the signs of NaN.
fn expression(rng: &mut fastrand::Rng, graph: &mut Graph, operands: u16, leaves: u16) -> NodeId {
    let (mut reals, mut truths) = (Vec::new(), Vec::new());
    reals.extend((0..operands).map(|index| graph.input(index, REAL)));
    reals.extend((0..leaves).map(|index| graph.leaf(index, REAL)));
    for _ in 0..rng.usize(1..30) {
        let constant = rng.choice([0.5, -3.0, 2.0, 0.1]).expect("not empty");
        if rng.u8(0..8) == 0 {
            reals.push(graph.constant(constant, REAL));
        }
        let [a, b, c] = [(); 3].map(|()| reals[rng.usize(0..reals.len())]);
        let node = match rng.u8(0..6) {
            0 => {
                let functions: Vec<_> = Unary::ALL.iter().filter(|function| is_exact(**function)).collect();
                graph.unary(*functions[rng.usize(0..functions.len())], a)
            }
            1 if !truths.is_empty() => {
                let condition = truths[rng.usize(0..truths.len())];
                graph.select(condition, a, b)
            }
            2 => graph.ternary(if rng.bool() { Ternary::Clamp } else { Ternary::MulAdd }, a, b, c),
            3 if truths.len() > 1 => {
                let [a, b] = [(); 2].map(|()| truths[rng.usize(0..truths.len())]);
                match rng.u8(0..3) {
                    0 => graph.binary(Binary::And, a, b),
                    1 => graph.binary(Binary::Or, a, b),
                    _ => graph.unary(Unary::Not, a),
                }
            }
            _ => {
                use Binary::*;
                let functions = [
                    Add,
                    Sub,
                    Mul,
                    Div,
                    Rem,
                    Equal,
                    NotEqual,
                    Less,
                    LessEqual,
                    Greater,
                    GreaterEqual,
                    Maximum,
                    Minimum,
                ];
                graph.binary(functions[rng.usize(0..functions.len())], a, b)
            }
        };
        if graph.ty(node) == Type::Bool { truths.push(node) } else { reals.push(node) }
    }
    *reals.last().expect("an operand")
}

fn interpreter(graph: &Graph, root: NodeId, elements: &[ElementType]) -> &'static Interpreter {
    let program = Program::of_text(&graph.to_text(root)).expect("all types are known");
    Interpreter::of(program, "expression", elements).expect("it computes with these elements")
}

/// Whether two results are equal. All NaN are.
fn same(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

#[test]
fn random_expressions_have_the_values_of_the_graph() {
    let mut rng = fastrand::Rng::with_seed(1);
    for case in 0..3000 {
        let mut graph = Graph::new();
        let (operands, leaves) = (rng.u16(1..5), rng.u16(0..3));
        let root = expression(&mut rng, &mut graph, operands, leaves);
        let elements = vec![ElementType::of::<f64>(); usize::from(operands) + 1];
        let interpreter = interpreter(&graph, root, &elements);
        let len = if case % 50 == 0 { rng.usize(500..1100) } else { rng.usize(0..20) };
        let values = |rng: &mut fastrand::Rng, len| -> Vec<f64> { (0..len).map(|_| number(rng)).collect() };
        let inputs: Vec<_> = (0..operands).map(|_| values(&mut rng, len)).collect();
        let leaves = values(&mut rng, usize::from(leaves));
        let slices: Vec<_> = inputs.iter().map(|input| Operand::F64(input)).collect();
        let mut out = vec![0.0_f64; len];
        let mut registers = Registers::<f64>::new(interpreter.steps(), &leaves);
        interpreter.evaluate(&mut registers, &slices, &mut out);
        for (i, &value) in out.iter().enumerate() {
            let at: Vec<f64> = inputs.iter().map(|input| input[i]).collect();
            let expected = graph.evaluate(root, &at, &leaves);
            let text = graph.to_text(root);
            assert!(
                same(value, expected),
                "case {case}: {value} and not {expected} of {text} at {at:?}, {leaves:?}"
            );
        }
    }
}

/// The value of a function of one or two operands at one point.
fn value(graph: &Graph, root: NodeId, inputs: &[f64]) -> f64 {
    let elements = vec![ElementType::of::<f64>(); inputs.len() + 1];
    let interpreter = interpreter(graph, root, &elements);
    let operands: Vec<_> = inputs.iter().map(|input| Operand::F64(std::slice::from_ref(input))).collect();
    let mut out = [0.0_f64];
    interpreter.evaluate(&mut Registers::<f64>::new(interpreter.steps(), &[]), &operands, &mut out);
    out[0]
}

#[test]
fn each_function_is_that_of_the_graph() {
    let mut rng = fastrand::Rng::with_seed(2);
    for _ in 0..200 {
        let at = [rng.f64() * 4.0 - 2.0, rng.f64() * 4.0 - 2.0];
        let mut graph = Graph::new();
        let [x, y] = [0, 1].map(|index| graph.input(index, REAL));
        let one = graph.constant(1.0, REAL);
        let zero = graph.constant(0.0, REAL);
        let mut functions = vec![graph.powi(x, 5), graph.powi(x, -2)];
        let unary = Unary::ALL.iter().filter(|function| **function != Unary::Not);
        functions.extend(unary.map(|function| graph.unary(*function, x)));
        let of_truths = [Binary::And, Binary::Or, Binary::BitAnd, Binary::BitOr, Binary::BitXor];
        let binary = Binary::ALL.iter().filter(|function| !of_truths.contains(function));
        functions.extend(binary.map(|function| graph.binary(*function, x, y)));
        for root in functions {
            let is_truth = graph.ty(root) == Type::Bool;
            let root = if is_truth { graph.select(root, one, zero) } else { root };
            let (value, expected) = (value(&graph, root, &at), graph.evaluate(root, &at, &[]));
            // The graph subtracts the error function from 1 for its complement.
            let near = (value - expected).abs() <= 2e-14 * expected.abs() + 1e-15;
            assert!(
                near || same(value, expected),
                "{value} and not {expected} of {} at {at:?}",
                graph.to_text(root)
            );
        }
    }
}

#[test]
fn masks_and_integers_are_exact() {
    let mut graph = Graph::new();
    let (mask, count, x) = (graph.input(0, Type::Other), graph.input(1, Type::Other), graph.input(2, REAL));
    let limit = graph.leaf(0, Type::Other);
    let three = graph.constant(3.0, Type::Other);
    let bits = graph.binary(Binary::BitAnd, mask, three);
    let is_two = {
        let two = graph.constant(2.0, Type::Other);
        graph.binary(Binary::Equal, bits, two)
    };
    let is_below = graph.binary(Binary::Less, count, limit);
    let both = graph.binary(Binary::And, is_two, is_below);
    let minus = graph.unary(Unary::Neg, x);
    let root = graph.select(both, x, minus);
    let elements = [
        ElementType::of::<u8>(),
        ElementType::of::<i32>(),
        ElementType::of::<f32>(),
        ElementType::of::<f32>(),
    ];
    let interpreter = interpreter(&graph, root, &elements);
    // `f32` has neither of the two numbers.
    let counts = [i32::MAX - 1, i32::MAX, i32::MAX - 1, -5];
    let operands = [Operand::U8(&[6, 6, 5, 2]), Operand::I32(&counts), Operand::F32(&[1.5; 4])];
    let mut out = [0.0_f32; 4];
    let leaves = [f64::from(i32::MAX)];
    interpreter.evaluate(&mut Registers::<f64>::new(interpreter.steps(), &leaves), &operands, &mut out);
    assert_eq!(out, [1.5, -1.5, -1.5, 1.5]);
}

#[test]
fn arithmetic_of_integers_is_not_interpreted() {
    let mut graph = Graph::new();
    let (count, x) = (graph.input(0, Type::Other), graph.input(1, REAL));
    let sum = graph.binary(Binary::Add, count, count);
    let condition = graph.binary(Binary::Less, sum, count);
    let root = graph.binary(Binary::Mul, x, x);
    let root = graph.select(condition, root, x);
    let program = Program::of_text(&graph.to_text(root)).expect("all types are known");
    let elements = [ElementType::of::<u8>(), ElementType::of::<f64>(), ElementType::of::<f64>()];
    assert!(Interpreter::of(program, "expression", &elements).is_none());
}

/// In a program with both, each value is rounded to its type.
#[test]
fn numbers_of_two_types() {
    let (element, wide) = (Type::Real(0), Type::Real(2));
    let mut graph = Graph::new();
    let x = graph.input(0, element);
    let third = {
        let (one, three) = (graph.constant(1.0, element), graph.constant(3.0, element));
        graph.binary(Binary::Div, one, three)
    };
    let sum = graph.binary(Binary::Add, x, third);
    let in_wide = graph.convert(sum, wide);
    let square = graph.binary(Binary::Mul, in_wide, in_wide);
    let narrow = graph.convert(x, wide);
    let difference = graph.binary(Binary::Sub, square, narrow);
    let root = graph.convert(difference, element);
    let elements = [ElementType::of::<f32>(); 2];
    let interpreter = interpreter(&graph, root, &elements);
    let inputs = [0.1_f32, 1.3, 1e10, -7.7];
    let mut out = [0.0_f32; 4];
    let operands = [Operand::F32(&inputs)];
    interpreter.evaluate(&mut Registers::<f64>::new(interpreter.steps(), &[]), &operands, &mut out);
    let expected = inputs.map(|x| {
        let sum = f64::from(x + 1.0 / 3.0);
        (sum * sum - f64::from(x)) as f32
    });
    assert_eq!(out, expected);
}

/// `x * y + z` under the runtime, with operands that are stretched, in every type.
#[test]
fn stretched_operands() -> crate::Result<()> {
    fn run<T: crate::Real>(rt: &Runtime) -> crate::Result<()> {
        let mut graph = Graph::new();
        let [x, y, z] = [0, 1, 2].map(|index| graph.input(index, REAL));
        let product = graph.binary(Binary::Mul, x, y);
        let root = graph.binary(Binary::Add, product, z);
        let interpreter = interpreter(&graph, root, &[ElementType::of::<T>(); 4]);
        let arena = rt.arena();
        let numbers =
            |len: usize| -> Vec<T> { (0..len).map(|i| T::from_f64(i as f64 * 0.25 - 2.0)).collect() };
        let (rows, columns) = (3, 301);
        let (xs, ys, zs) = (numbers(rows * columns), numbers(columns), numbers(rows));
        let x = arena.from_slice([rows, columns], &xs)?;
        let y = arena.from_slice([1, columns], &ys)?;
        let z = arena.from_slice([rows, 1], &zs)?;
        let mut out: Array<'_, T, 2> = arena.zeros([rows, columns])?;
        let mut task = Task::new(interpreter.codelet());
        task.read(&x);
        task.read(&y);
        task.read(&z);
        task.write(&mut out);
        task.push_arguments(&interpreter.arguments(&[]));
        task.submit()?;
        for (i, value) in out.to_vec()?.into_iter().enumerate() {
            let (row, column) = (i / columns, i % columns);
            let expected = xs[i].widen() * ys[column].widen() + zs[row].widen();
            assert_eq!(value, T::narrow(expected), "{} at {row}, {column}", T::NAME);
        }
        Ok(())
    }
    let rt = Runtime::builder().cpu_workers(1).build()?;
    run::<f16>(&rt)?;
    run::<bf16>(&rt)?;
    run::<f32>(&rt)?;
    run::<f64>(&rt)
}

/// The derivatives of `exp` by its operand are one program, of whatever order.
#[test]
fn derivatives_are_made_once() {
    let text = "input 1 real0; input 0 real0; exp 1; * 0 2";
    let program = Program::of_text(text).expect("all types are known");
    let by_x = program.derivative(0).expect("it depends on it");
    assert!(std::ptr::eq(by_x, program.derivative(0).expect("it is known")));
    // `x, gradient, gradient of the gradient`.
    assert_eq!(by_x.inputs, [0, 1]);
    let by_gradient = program.derivative(1).expect("it depends on it");
    assert_eq!(by_gradient.inputs, [0]);
    let again = by_gradient.program.derivative(1).expect("it depends on it");
    assert!(std::ptr::eq(by_gradient.program, again.program));
}
