//! [`Steps`]: the order in which an expression is evaluated, with registers for the values.

use std::collections::HashMap;

use dahl_expression::{Binary, Node, NodeId, Ternary, Type, Unary};

use super::program::{ELEMENT, F32, F64, Program};

/// The steps of a program.
#[derive(Debug)]
pub(super) struct Steps {
    /// Whether all is computed in `f64`; otherwise in `f32`.
    pub(super) wide: bool,
    /// The values that are the same for all elements, with their registers.
    pub(super) fixed: Vec<(Fixed, usize, bool)>,
    pub(super) steps: Vec<Step>,
    /// How many registers there are.
    pub(super) registers: usize,
    /// The register of the result.
    pub(super) result: usize,
}

/// A value that is the same for all elements.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fixed {
    Number(f64),
    Leaf(usize),
}

/// A step: what it computes, and the register that gets the result, which is none of those that it reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) operation: Operation,
    pub(super) result: usize,
    /// Whether the result is rounded to `f32`, in a program that computes in `f64`.
    pub(super) rounds: bool,
}

/// What a step computes from registers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operation {
    /// The elements of an operand.
    Load(usize),
    Copy(usize),
    /// Whether the number is normal in a type with this smallest normal number.
    IsNormal(usize, f64),
    Not(usize),
    Unary(Unary, usize),
    Powi(usize, i32),
    Binary(Binary, usize, usize),
    Ternary(Ternary, [usize; 3]),
    Select([usize; 3]),
}

impl Steps {
    /// The steps of a program whose result has elements that are computed with in `f64` if `is_wide`, otherwise in `f32`.
    /// None if it computes with integers, whose types are not known here.
    pub(super) fn new(program: &Program, is_wide: bool) -> Option<Self> {
        let graph = &program.graph;
        let is_narrow = |ty| ty == Type::Real(F32) || (ty == Type::Real(ELEMENT) && !is_wide);
        let schedule = graph.schedule(program.root);
        // All integers of at most 32 bits are numbers of `f64`.
        let needs_wide =
            |ty| matches!(ty, Type::Other | Type::Real(F64)) || (ty == Type::Real(ELEMENT) && is_wide);
        let wide = schedule.iter().any(|scheduled| needs_wide(graph.ty(scheduled.id)));
        let mut registers = Registers::default();
        let (mut fixed, mut steps) = (Vec::new(), Vec::new());
        let mut uses: HashMap<NodeId, usize> =
            schedule.iter().map(|scheduled| (scheduled.id, scheduled.uses)).collect();
        // First the values that are the same for all elements: no step overwrites their registers.
        for scheduled in &schedule {
            let value = match graph.node(scheduled.id) {
                Node::Constant(number) => Fixed::Number(number.value()),
                Node::Leaf(index) => Fixed::Leaf(usize::from(index)),
                _ => continue,
            };
            *uses.get_mut(&scheduled.id)? += 1;
            fixed.push((value, registers.take(scheduled.id), wide && is_narrow(graph.ty(scheduled.id))));
        }
        for scheduled in &schedule {
            let (id, node) = (scheduled.id, graph.node(scheduled.id));
            let of = |operand: NodeId| registers.of[&operand];
            let operation = match node {
                Node::Constant(_) | Node::Leaf(_) => continue,
                Node::Input(index) => Operation::Load(usize::from(index)),
                Node::Convert(a) => Operation::Copy(of(a)),
                Node::Unary(Unary::IsNormal, a) => {
                    let narrow = is_narrow(graph.ty(a));
                    let smallest = if narrow { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
                    Operation::IsNormal(of(a), smallest)
                }
                Node::Unary(Unary::Not, a) if graph.ty(id) == Type::Bool => Operation::Not(of(a)),
                Node::Unary(Unary::Not | Unary::Neg, _) if graph.ty(id) == Type::Other => return None,
                Node::Unary(function, a) => Operation::Unary(function, of(a)),
                Node::Powi(a, exponent) => Operation::Powi(of(a), exponent),
                Node::Binary(function, ..) if graph.ty(id) == Type::Other && may_overflow(function) => {
                    return None;
                }
                Node::Binary(function, a, b) => Operation::Binary(function, of(a), of(b)),
                Node::Ternary(function, a, b, c) => Operation::Ternary(function, [of(a), of(b), of(c)]),
                Node::Select(condition, a, b) => Operation::Select([of(condition), of(a), of(b)]),
            };
            let rounds = wide && is_narrow(graph.ty(id));
            let result = registers.take(id);
            steps.push(Step { operation, result, rounds });
            for operand in node.operands() {
                let left = uses.get_mut(&operand)?;
                *left -= 1;
                if *left == 0 {
                    registers.free.push(registers.of[&operand]);
                }
            }
        }
        Some(Self { wide, fixed, steps, registers: registers.count, result: registers.of[&program.root] })
    }
}

/// Whether a function of integers can leave the type, or fail.
fn may_overflow(function: Binary) -> bool {
    let is_total = matches!(
        function,
        Binary::BitAnd
            | Binary::BitOr
            | Binary::BitXor
            | Binary::Maximum
            | Binary::Minimum
            | Binary::MaxNumber
            | Binary::MinNumber
    );
    !is_total
}

/// The registers of nodes.
#[derive(Default)]
struct Registers {
    of: HashMap<NodeId, usize>,
    /// Those whose value is not needed any more.
    free: Vec<usize>,
    count: usize,
}

impl Registers {
    fn take(&mut self, id: NodeId) -> usize {
        let register = self.free.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        });
        self.of.insert(id, register);
        register
    }
}
