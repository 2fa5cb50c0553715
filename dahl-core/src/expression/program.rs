//! [`Program`]: an expression and its derivatives.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use dahl_expression::{Binary, Graph, Node, NodeId, Type};

/// The type number of the compute type of the result's elements.
pub(super) const ELEMENT: u8 = 0;
/// The type number of `f32`.
pub(super) const F32: u8 = 1;
/// The type number of `f64`.
pub(super) const F64: u8 = 2;

/// An expression. Its inputs are the operands of a map, in order.
#[derive(Debug)]
pub(crate) struct Program {
    pub(super) text: String,
    pub(super) graph: Graph,
    pub(super) root: NodeId,
    /// One more than the largest index of a leaf.
    pub(super) leaves: usize,
    /// The derivatives by operands, as far as somebody asked for them.
    derivatives: Mutex<HashMap<usize, Option<&'static Derivative>>>,
}

/// The gradient by one operand of a program, if the program computes `out` from its operands.
#[derive(Debug)]
pub(crate) struct Derivative {
    /// Takes those of the operands that `inputs` names, then the gradient by `out`. The leaves stay the same.
    pub(crate) program: &'static Program,
    /// Ascending.
    pub(crate) inputs: Vec<usize>,
}

impl Program {
    /// The program of an expression as text; none if a real type of it is none of those known here.
    ///
    /// # Panics
    /// If the text is no expression.
    pub(crate) fn of_text(text: &str) -> Option<&'static Self> {
        static KNOWN: OnceLock<Mutex<HashMap<&'static str, Option<&'static Program>>>> = OnceLock::new();
        let mut known = KNOWN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = known.get(text) {
            return *program;
        }
        let program = Self::new(text).map(|program| &*Box::leak(Box::new(program)));
        let key = program.map_or_else(|| &*text.to_owned().leak(), |program| &program.text);
        known.insert(key, program);
        program
    }

    fn new(text: &str) -> Option<Self> {
        let mut graph = Graph::new();
        let root = graph.of_text(text).unwrap_or_else(|| panic!("this is no expression: {text}"));
        let nodes = || graph.schedule(root).into_iter().map(|scheduled| scheduled.id);
        let is_known = |ty| !matches!(ty, Type::Real(number) if number > F64);
        if !nodes().all(|id| is_known(graph.ty(id))) || !matches!(graph.ty(root), Type::Real(_)) {
            return None;
        }
        let leaves = nodes().filter_map(|id| match graph.node(id) {
            Node::Leaf(index) => Some(usize::from(index) + 1),
            _ => None,
        });
        let leaves = leaves.max().unwrap_or(0);
        Some(Self { text: text.to_owned(), graph, root, leaves, derivatives: Mutex::default() })
    }

    /// Whether the expression can have a derivative by an operand: it is of the result's type.
    pub(crate) fn reads_as_real(&self, operand: usize) -> bool {
        u16::try_from(operand).is_ok_and(|index| {
            let input = self.graph.find(Node::Input(index), self.graph.ty(self.root));
            input.is_some() && self.graph.mentions(self.root).contains(&index)
        })
    }

    /// Whether the result is the operand.
    pub(crate) fn passes(&self, operand: usize) -> bool {
        matches!(self.graph.node(self.root), Node::Input(index) if usize::from(index) == operand)
    }

    /// The gradient by an operand; none if it is 0 everywhere.
    pub(crate) fn derivative(&self, operand: usize) -> Option<&'static Derivative> {
        let mut known = self.derivatives.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(operand).or_insert_with(|| Some(Box::leak(Box::new(self.differentiated(operand)?))))
    }

    fn differentiated(&self, operand: usize) -> Option<Derivative> {
        let mut graph = self.graph.clone();
        let derivative = graph.tangent(self.root, u16::try_from(operand).ok()?)?;
        let gradient = u16::MAX;
        let by_result = graph.input(gradient, graph.ty(self.root));
        let root = graph.binary(Binary::Mul, by_result, derivative);
        let inputs = graph.mentions(root).into_iter().filter(|input| *input != gradient);
        let inputs: Vec<u16> = inputs.collect();
        let mut copy = Graph::new();
        let atom = |copy: &mut Graph, node, ty| {
            Some(match node {
                Node::Input(index) => {
                    let place = inputs.binary_search(&index).unwrap_or(inputs.len());
                    copy.input(u16::try_from(place).ok()?, ty)
                }
                Node::Leaf(index) => copy.leaf(index, ty),
                Node::Constant(number) => copy.constant(number.value(), ty),
                _ => return None,
            })
        };
        let root = copy.copy(&graph, root, atom, Some)?;
        let program = Self::of_text(&copy.to_text(root))?;
        Some(Derivative { program, inputs: inputs.into_iter().map(usize::from).collect() })
    }
}
