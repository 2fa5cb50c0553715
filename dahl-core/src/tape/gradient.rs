//! [`Gradient`]: what a declaration says of its gradient, as data. `#[codelet]` writes it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::rule::RuleCall;
use crate::codelet::{Codelet, EncodedArguments, Pointwise, PointwiseArguments, pointwise_codelet};
use crate::element::{Element, ElementType, Real};
use crate::error::Result;
use crate::expression::{Derivatives, no_leaves};

/// What a declaration says of its gradient. Parameters are numbered as in the declaration.
#[derive(Debug)]
pub struct Gradient {
    /// The inputs by which there is a gradient, as bits.
    pub inputs: u64,
    /// The outputs whose gradient it takes, as bits.
    pub outputs: u64,
    /// The inputs and outputs whose values it reads, as bits.
    pub reads: u64,
    /// How it is computed.
    pub rule: Rule,
    /// The operations by which gradients by its arrays are added. Arrays of a checkpoint have those
    /// of the operations inside.
    pub addition: fn(ElementType) -> Option<&'static Addition>,
}

/// How a gradient is computed.
#[derive(Debug)]
pub enum Rule {
    /// It is not: nothing flows, on purpose.
    Nothing,
    /// Nothing flows, since every derivative of the map is 0.
    Zero,
    /// By derived maps, one for each input.
    Maps(&'static [DerivedMap]),
    /// By maps that are interpreted. This is the gradient of derived maps.
    Expression(&'static Derivatives),
    /// The operation is linear in its only input, and this is its adjoint, which takes the same arguments.
    Adjoint(fn() -> Linear),
    /// By running the tasks of a checkpoint again.
    Checkpoint,
    /// By a function of the user's.
    Function(fn(&mut RuleCall<'_>) -> Result<()>),
}

impl Rule {
    /// Whether something flows.
    pub(super) fn flows(&self) -> bool {
        !matches!(self, Self::Nothing | Self::Zero)
    }
}

/// A linear operation with one input and one output, and its gradient.
#[derive(Clone, Copy, Debug)]
pub struct Linear {
    /// The operation.
    pub codelet: &'static Codelet,
    /// Its own gradient.
    pub gradient: &'static Gradient,
}

/// A map that computes the gradient by one input, from some of the parameters and the gradient by the output. It takes the
/// arguments of the map that it was derived from.
#[derive(Debug)]
pub struct DerivedMap {
    /// The input.
    pub by: usize,
    /// The parameters that it reads, in order; the gradient by the output follows.
    pub inputs: &'static [usize],
    /// Whether it is the gradient by the output itself: nothing is to be computed.
    pub passes: bool,
    /// The map.
    pub codelet: fn() -> &'static Codelet,
    /// The map as an expression, if its own derivatives can be computed from that. Input `i` is its parameter `i`; the real
    /// type 0 is the compute type of the output's elements, 1 is `f32`, 2 is `f64`.
    pub expression: Option<&'static str>,
    /// The values of the expression's leaves.
    pub leaves: fn(&mut EncodedArguments<'_>) -> Vec<f64>,
}

/// The operations by which a reverse pass adds gradients of one element type.
#[derive(Debug)]
pub struct Addition {
    /// `out = x + y`, a map that can overwrite `x`.
    pub add: fn() -> &'static Codelet,
    /// Its gradient.
    pub add_gradient: fn() -> &'static Gradient,
    /// `out += ` the sum of `input` along an axis, a `usize`.
    pub sum_axis: fn() -> &'static Codelet,
    /// Its gradient.
    pub sum_axis_gradient: fn() -> &'static Gradient,
    /// `out += ` the sum of `input` along several axes, a `u64` with a bit for each, which is rounded once.
    pub sum_axes: fn() -> &'static Codelet,
    /// Its gradient.
    pub sum_axes_gradient: fn() -> &'static Gradient,
}

/// The operations that add gradients of an element type.
pub(super) type AdditionOf = fn(ElementType) -> Option<&'static Addition>;

impl DerivedMap {
    /// The derived map by the input of index `BY`, a map of `INPUTS` arrays to one, of `ARRAYS` in all. The declaration's
    /// plain arguments are `A`'s.
    pub const fn pointwise<P, A, T, const INPUTS: usize, const ARRAYS: usize, const BY: usize>() -> Self
    where
        P: Pointwise<T::Compute, A::Passed, INPUTS, BY>,
        A: PointwiseArguments<T>,
        T: Real,
    {
        Self {
            by: BY,
            inputs: P::MAP.inputs,
            passes: false,
            codelet: pointwise_codelet::<P, A, T, INPUTS, ARRAYS, BY>,
            expression: P::MAP.expression,
            leaves: |encoded| P::leaves(A::decode(encoded)),
        }
    }

    /// The gradient by the input of index `by` is that by the output.
    pub const fn passes(by: usize) -> Self {
        let codelet = || unreachable!("what passes a gradient on computes nothing");
        Self { by, inputs: &[], passes: true, codelet, expression: None, leaves: no_leaves }
    }

    /// The gradient of the map itself, from its expression; none if that is not known.
    pub(super) fn gradient(&'static self, addition: AdditionOf) -> Option<&'static Gradient> {
        known(std::ptr::from_ref(self).addr(), || {
            let derivatives = Derivatives::of_map((self.codelet)(), self.expression?, self.leaves)?;
            Some(Gradient::of_expression(derivatives, addition))
        })
    }
}

impl Gradient {
    /// The gradient of a map that is interpreted.
    pub(super) fn of_derivatives(derivatives: &'static Derivatives, addition: AdditionOf) -> &'static Self {
        let gradient = || Some(Self::of_expression(derivatives, addition));
        known(std::ptr::from_ref(derivatives).addr(), gradient).expect("it is always made")
    }

    fn of_expression(derivatives: &'static Derivatives, addition: AdditionOf) -> &'static Self {
        let operands = derivatives.operands();
        let inputs = (0..operands).filter(|operand| derivatives.can_depend_on(*operand));
        Box::leak(Box::new(Self {
            inputs: inputs.fold(0, |bits, operand| bits | bit(operand)),
            outputs: bit(operands),
            reads: (0..operands).fold(0, |bits, operand| bits | bit(operand)),
            rule: Rule::Expression(derivatives),
            addition,
        }))
    }
}

/// The bit of an operand. The last bit is that of all that follow.
pub(super) fn bit(index: usize) -> u64 {
    1 << index.min(63)
}

/// Whether `bits` name an operand.
pub(super) fn has(bits: u64, index: usize) -> bool {
    bits & bit(index) != 0
}

/// The gradient that was made from the object at `address`, which lives for ever. It is made once.
fn known(address: usize, make: impl FnOnce() -> Option<&'static Gradient>) -> Option<&'static Gradient> {
    static KNOWN: Mutex<Option<HashMap<usize, Option<&'static Gradient>>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.get_or_insert_default().entry(address).or_insert_with(make)
}

/// That of an operation through which nothing flows.
static NOTHING: Gradient =
    Gradient { inputs: 0, outputs: 0, reads: 0, rule: Rule::Nothing, addition: |_| None };

/// That of a map whose derivatives are 0.
static ZERO: Gradient = Gradient { inputs: 0, outputs: 0, reads: 0, rule: Rule::Zero, addition: |_| None };

impl Gradient {
    /// That of an operation through which nothing flows.
    pub fn nothing() -> &'static Self {
        &NOTHING
    }

    /// That of a map whose derivatives are 0, so that nothing flows through it.
    pub fn zero() -> &'static Self {
        &ZERO
    }

    /// The gradient for elements of type `T`, of those for `f16`, `bf16`, `f32` and `f64`; for other elements nothing
    /// flows.
    pub fn of_real<T: Element>(instances: [fn() -> &'static Self; 4]) -> &'static Self {
        let types = [
            ElementType::of::<half::f16>(),
            ElementType::of::<half::bf16>(),
            ElementType::of::<f32>(),
            ElementType::of::<f64>(),
        ];
        let found = types.iter().position(|ty| ty.is::<T>());
        found.map_or(&NOTHING, |index| instances[index]())
    }
}

/// The gradient of a codelet without one, which no tape takes.
pub fn no_gradient() -> &'static Gradient {
    unreachable!("a scope that remembers tasks takes only codelets that have a gradient")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::AccessMode;
    use crate::codelet::Parameter;

    /// A loop that differentiates a derived map makes its gradient once.
    #[test]
    fn a_derived_map_has_one_gradient() {
        static PARAMETERS: [Parameter; 3] = [
            Parameter::new("x", AccessMode::R, ElementType::of::<f32>()),
            Parameter::new("gradient", AccessMode::R, ElementType::of::<f32>()),
            Parameter::new("out", AccessMode::W, ElementType::of::<f32>()),
        ];
        static CODELET: Codelet = Codelet::new("sin_by_x", "tests", 0).parameters(&PARAMETERS);
        static MAPS: [DerivedMap; 2] = [map(Some("input 0 real0; cos 0; input 1 real0; * 2 1")), map(None)];
        const fn map(expression: Option<&'static str>) -> DerivedMap {
            let codelet = || &CODELET;
            DerivedMap { by: 0, inputs: &[0], passes: false, codelet, expression, leaves: no_leaves }
        }
        let gradient = MAPS[0].gradient(|_| None).expect("it is known as an expression");
        assert_eq!((gradient.inputs, gradient.outputs, gradient.reads), (0b11, 0b100, 0b11));
        assert!(std::ptr::eq(gradient, MAPS[0].gradient(|_| None).expect("it was made")));
        assert!(MAPS[1].gradient(|_| None).is_none());
        let Rule::Expression(derivatives) = gradient.rule else { panic!("it is interpreted") };
        let again = [(); 2].map(|()| Gradient::of_derivatives(derivatives, |_| None));
        assert!(std::ptr::eq(again[0], again[1]));
    }
}
