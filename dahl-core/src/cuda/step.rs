//! [`CudaStep`]: one step of a stack machine that computes the numbers of a launch, and the evaluation of such steps.

use super::element::{CudaArgument, CudaElement};
use crate::element::ElementType;

/// A step of an expression in postfix order: `ceil_div(out.len(), 256)` is `[Len(1), Number(256), CeilDiv]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CudaStep {
    /// A constant.
    Number(u64),
    /// The number of elements of an array, by its index.
    Len(usize),
    /// Its rank.
    Rank(usize),
    /// Its extent along the axis on the stack.
    Extent(usize),
    /// The value of an integer argument.
    Argument(usize),
    /// The item, whose index is on the stack, of an argument that is an array.
    Item(usize),
    /// The bytes of a type.
    SizeOf(CudaElement),
    /// The sum of two.
    Add,
    /// Their difference.
    Subtract,
    /// Their product.
    Multiply,
    /// Their quotient, rounded down.
    Divide,
    /// What is left of a division.
    Remainder,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// Their quotient, rounded up.
    CeilDiv,
    /// How many blocks a loop over so many gets, with so many to a block: at least 1, at most 1,024.
    Blocks,
}

/// The most blocks of a kernel whose loops stride over the grid: `MAX_BLOCKS` of `dahl.cuh`.
pub(super) const MAX_BLOCKS: u64 = 1024;

/// What the names in expressions stand for.
pub(super) struct Values<'a> {
    pub(super) shapes: &'a [&'a [usize]],
    pub(super) types: &'a [ElementType],
    pub(super) arguments: &'a [CudaArgument],
    /// The encoding of each argument.
    pub(super) encoded: &'a [&'a [u8]],
}

impl Values<'_> {
    /// The value of an expression; a sentence if it has none.
    pub(super) fn evaluate(&self, steps: &[CudaStep]) -> Result<u64, String> {
        let mut stack = Vec::new();
        for step in steps {
            let value = match step {
                CudaStep::Number(number) => *number,
                CudaStep::Len(view) => self.shapes[*view].iter().map(|&extent| extent as u64).product(),
                CudaStep::Rank(view) => self.shapes[*view].len() as u64,
                CudaStep::Extent(view) => {
                    let (axis, shape) = (pop(&mut stack), self.shapes[*view]);
                    let extent = usize::try_from(axis).ok().and_then(|axis| shape.get(axis));
                    *extent.ok_or_else(|| format!("extent({axis}) of an array of shape {shape:?}"))? as u64
                }
                CudaStep::Argument(argument) => self.integer(*argument, 0),
                CudaStep::Item(argument) => {
                    let index = pop(&mut stack);
                    let size_bytes = self.arguments[*argument].element.size_bytes(self.types);
                    let len = self.encoded[*argument].len() / size_bytes;
                    let index = usize::try_from(index).ok().filter(|index| *index < len);
                    self.integer(
                        *argument,
                        index.ok_or_else(|| format!("an index outside of an array of {len}"))?,
                    )
                }
                CudaStep::SizeOf(element) => element.size_bytes(self.types) as u64,
                operator => {
                    let (right, left) = (pop(&mut stack), pop(&mut stack));
                    operator.of(left, right).ok_or_else(|| format!("{operator:?} of {left} and {right}"))?
                }
            };
            stack.push(value);
        }
        Ok(pop(&mut stack))
    }

    /// The value of an integer argument, or of an item of it; negative ones are huge.
    fn integer(&self, argument: usize, item: usize) -> u64 {
        let element = self.arguments[argument].element;
        let size_bytes = element.size_bytes(self.types);
        let bytes = &self.encoded[argument][item * size_bytes..][..size_bytes];
        let is_negative = matches!(element, CudaElement::Fixed(name) if name.starts_with('i'))
            && cfg!(target_endian = "little")
            && bytes.last().is_some_and(|byte| byte >> 7 == 1);
        let mut wide = [if is_negative { 0xff } else { 0 }; 8];
        if cfg!(target_endian = "little") {
            wide[..size_bytes].copy_from_slice(bytes);
        } else {
            wide[8 - size_bytes..].copy_from_slice(bytes);
        }
        u64::from_ne_bytes(wide)
    }
}

impl CudaStep {
    fn of(self, left: u64, right: u64) -> Option<u64> {
        match self {
            Self::Add => left.checked_add(right),
            Self::Subtract => left.checked_sub(right),
            Self::Multiply => left.checked_mul(right),
            Self::Divide => left.checked_div(right),
            Self::Remainder => left.checked_rem(right),
            Self::Min => Some(left.min(right)),
            Self::Max => Some(left.max(right)),
            Self::CeilDiv => (right > 0).then(|| left.div_ceil(right)),
            Self::Blocks => (right > 0).then(|| left.div_ceil(right).clamp(1, MAX_BLOCKS)),
            _ => None,
        }
    }
}

fn pop(stack: &mut Vec<u64>) -> u64 {
    stack.pop().expect("dahl-build writes expressions in which every step finds its operands")
}
