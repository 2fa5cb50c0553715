//! [`Interpreter`]: a program for given types of elements, as a codelet.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::operand::{self, Operand};
use super::program::Program;
use super::steps::Steps;
use super::tile::{Registers, TILE, Tile};
use crate::access::AccessMode;
use crate::argument::Argument;
use crate::codelet::{Codelet, Kernel, Parameter, Views};
use crate::element::{ElementType, Real};
use crate::simd::dispatch;
use crate::{bf16, f16};

/// A program for arrays of given types of elements.
#[derive(Debug)]
pub(crate) struct Interpreter {
    /// Its index in the list of all.
    number: u64,
    program: &'static Program,
    steps: Steps,
    /// Those of the operands.
    elements: Vec<ElementType>,
    codelet: &'static Codelet,
}

/// All interpreters of the process.
#[derive(Default)]
struct All {
    list: Vec<&'static Interpreter>,
    known: HashMap<Key, Option<&'static Interpreter>>,
}

/// The name, the text of the program, and the names of the types of elements.
type Key = (&'static str, &'static str, Vec<&'static str>);

static ALL: Mutex<Option<All>> = Mutex::new(None);

fn with_all<R>(f: impl FnOnce(&mut All) -> R) -> R {
    f(ALL.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

impl Interpreter {
    /// The interpreter of a program whose operands have elements of these types, and then the result. `name` is the name
    /// for display. None if it cannot compute with them.
    pub(crate) fn of(
        program: &'static Program,
        name: &str,
        elements: &[ElementType],
    ) -> Option<&'static Self> {
        let (result, operands) = elements.split_last()?;
        if !is_real(*result) || !operands.iter().all(|element| Operand::can_be(*element)) {
            return None;
        }
        let types: Vec<_> = elements.iter().map(|element| element.name).collect();
        with_all(|all| {
            let known: &HashMap<(&str, &str, Vec<&'static str>), _> = &all.known;
            let key = (name, &*program.text, types);
            if let Some(interpreter) = known.get(&key) {
                return *interpreter;
            }
            let (name, text, types) = (&*name.to_owned().leak(), &*program.text, key.2);
            let interpreter = Self::new(program, name, elements, all.list.len() as u64);
            let interpreter = interpreter.map(|interpreter| &*Box::leak(Box::new(interpreter)));
            all.list.extend(interpreter);
            all.known.insert((name, text, types), interpreter);
            interpreter
        })
    }

    fn new(
        program: &'static Program,
        name: &'static str,
        elements: &[ElementType],
        number: u64,
    ) -> Option<Self> {
        let (&result, operands) = elements.split_last()?;
        let kernel: fn(&mut Views<'_>) = match () {
            () if result.is::<f16>() => kernel::<f16>,
            () if result.is::<bf16>() => kernel::<bf16>,
            () if result.is::<f32>() => kernel::<f32>,
            () => kernel::<f64>,
        };
        let steps = Steps::new(program, result.is::<f64>())?;
        let parameters = operands.iter().enumerate().map(|(index, element)| {
            let name = if index + 1 == operands.len() { "gradient" } else { "operand" };
            Parameter::new(name, AccessMode::R, *element)
        });
        let parameters: Vec<_> = parameters.chain([Parameter::new("out", AccessMode::W, result)]).collect();
        let arguments: Vec<_> =
            ["interpreter"].into_iter().chain((0..program.leaves).map(|_| "leaf")).collect();
        let codelet = Codelet::new(name, "dahl::expression", hash(&program.text))
            .parameters(parameters.leak())
            .arguments(arguments.leak())
            .kernels(vec![Some(Kernel::new("interpreter", kernel))].leak())
            .no_cuda("it is an expression that is known at run time only, and is interpreted")
            .broadcasts();
        let codelet = Box::leak(Box::new(codelet));
        Some(Self { number, program, steps, elements: operands.to_vec(), codelet })
    }

    /// Its codelet.
    pub(crate) fn codelet(&self) -> &'static Codelet {
        self.codelet
    }

    /// The arguments of its codelet, from the values of leaves.
    pub(crate) fn arguments(&self, leaves: &[f64]) -> Vec<u8> {
        let mut bytes = vec![0; (1 + self.program.leaves) * 8];
        let (number, values) = bytes.split_at_mut(8);
        self.number.encode(number);
        for (value, leaf) in values.chunks_exact_mut(8).zip(leaves) {
            leaf.encode(value);
        }
        bytes
    }

    /// The values of leaves among the arguments of an interpreter's codelet.
    pub(crate) fn leaves(arguments: &[u8]) -> Vec<f64> {
        arguments[8..].chunks_exact(8).map(f64::decode).collect()
    }

    #[cfg(test)]
    pub(super) fn steps(&self) -> &Steps {
        &self.steps
    }

    /// Computes the elements `out`.
    pub(super) fn evaluate<T: Real, S: Real>(
        &self,
        registers: &mut Registers<S>,
        operands: &[Operand<'_>],
        out: &mut [T],
    ) {
        for (index, out) in out.chunks_mut(TILE).enumerate() {
            let (begin, len) = (index * TILE, out.len());
            dispatch(Tile { steps: &self.steps.steps, registers, operands, begin, len });
            operand::store(registers.of(self.steps.result, len), out);
        }
    }

    /// Runs the program on all elements, in the type `S`.
    fn run<T: Real, S: Real>(&self, views: &mut Views<'_>) {
        let leaves: Vec<f64> = (0..self.program.leaves).map(|_| views.argument()).collect();
        let mut registers = Registers::<S>::new(&self.steps, &leaves);
        views.for_each_run(|run| {
            let operands = self.elements.iter().map(|element| Operand::of_run(run, *element));
            let operands: Vec<_> = operands.collect();
            self.evaluate::<T, S>(&mut registers, &operands, run.slice_mut());
        });
    }
}

/// The kernel of all interpreters whose result has elements of type `T`: the first argument says which one.
fn kernel<T: Real>(views: &mut Views<'_>) {
    let number = views.argument::<u64>() as usize;
    let interpreter = with_all(|all| all.list[number]);
    if interpreter.steps.wide {
        interpreter.run::<T, f64>(views);
    } else {
        interpreter.run::<T, f32>(views);
    }
}

/// Whether a program can have a result of such elements.
fn is_real(element: ElementType) -> bool {
    element.is::<f16>() || element.is::<bf16>() || element.is::<f32>() || element.is::<f64>()
}

/// FNV-1a, which is the same in each run: performance models are kept by it.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
