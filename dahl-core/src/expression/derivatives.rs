//! [`Derivatives`]: the derivatives of a map that is known as an expression. They are maps that are interpreted, and have
//! derivatives again.

use std::fmt;
use std::sync::OnceLock;

use super::interpreter::Interpreter;
use super::program::{Derivative, Program};
use crate::codelet::{Codelet, EncodedArguments};

/// The derivatives of a map that is known as an expression.
pub struct Derivatives {
    program: &'static Program,
    /// The map.
    codelet: &'static Codelet,
    leaves: Leaves,
    /// By operand, once somebody has asked for it.
    by: Vec<OnceLock<By>>,
}

/// Where the values of an expression's leaves are.
enum Leaves {
    /// A function computes them from the map's arguments.
    Computed(fn(&mut EncodedArguments<'_>) -> Vec<f64>),
    /// The map is interpreted: they are its arguments.
    Arguments,
}

/// The derivative by one operand.
pub(crate) enum By {
    /// It is 0 everywhere.
    Zero,
    /// No interpreter can compute it.
    Unknown,
    /// A map.
    Map(DerivativeMap),
}

/// The derivative by one operand, as a map.
pub(crate) struct DerivativeMap {
    derivative: &'static Derivative,
    interpreter: &'static Interpreter,
    /// Its own derivatives.
    derivatives: OnceLock<&'static Derivatives>,
}

/// The leaves of an expression without leaves.
pub fn no_leaves(_: &mut EncodedArguments<'_>) -> Vec<f64> {
    Vec::new()
}

impl Derivatives {
    /// Those of a map that computes the expression `text`, whose leaves `leaves` computes. None if it has types that are
    /// not known. They live for ever, so the caller keeps them.
    pub(crate) fn of_map(
        codelet: &'static Codelet,
        text: &str,
        leaves: fn(&mut EncodedArguments<'_>) -> Vec<f64>,
    ) -> Option<&'static Self> {
        Some(Self::new(codelet, Program::of_text(text)?, Leaves::Computed(leaves)))
    }

    fn new(codelet: &'static Codelet, program: &'static Program, leaves: Leaves) -> &'static Self {
        let by = codelet.parameters[1..].iter().map(|_| OnceLock::new()).collect();
        Box::leak(Box::new(Self { program, codelet, leaves, by }))
    }

    /// The number of operands.
    pub(crate) fn operands(&self) -> usize {
        self.by.len()
    }

    /// Whether there can be a derivative by an operand.
    pub(crate) fn can_depend_on(&self, operand: usize) -> bool {
        self.program.reads_as_real(operand)
    }

    /// The derivative by an operand.
    pub(crate) fn by(&self, operand: usize) -> &By {
        self.by[operand].get_or_init(|| {
            let Some(derivative) = self.program.derivative(operand) else { return By::Zero };
            let element = |index: usize| self.codelet.parameters[index].element;
            let elements = derivative.inputs.iter().copied().chain([self.operands(), operand]).map(element);
            let name = format!("{}_by_{}", self.codelet.name, self.codelet.parameters[operand].name);
            let interpreter = Interpreter::of(derivative.program, &name, &elements.collect::<Vec<_>>());
            interpreter.map_or(By::Unknown, |interpreter| {
                By::Map(DerivativeMap { derivative, interpreter, derivatives: OnceLock::new() })
            })
        })
    }

    /// The arguments of the map of a derivative, from those of the map.
    pub(crate) fn arguments(&self, derivative: &DerivativeMap, arguments: &[u8]) -> Vec<u8> {
        derivative.interpreter.arguments(&match self.leaves {
            Leaves::Computed(leaves) => leaves(&mut EncodedArguments::new(arguments)),
            Leaves::Arguments => Interpreter::leaves(arguments),
        })
    }
}

impl DerivativeMap {
    /// The operands that it reads, in order; the gradient by the output follows.
    pub(crate) fn inputs(&self) -> &'static [usize] {
        &self.derivative.inputs
    }

    /// Whether it is the gradient by the output itself.
    pub(crate) fn passes(&self) -> bool {
        self.derivative.program.passes(self.derivative.inputs.len())
    }

    pub(crate) fn codelet(&self) -> &'static Codelet {
        self.interpreter.codelet()
    }

    /// Its own derivatives.
    pub(crate) fn derivatives(&self) -> &'static Derivatives {
        self.derivatives
            .get_or_init(|| Derivatives::new(self.codelet(), self.derivative.program, Leaves::Arguments))
    }
}

impl fmt::Debug for Derivatives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Derivatives").field("map", &self.codelet.name).finish_non_exhaustive()
    }
}
