//! [`Tile`]: the steps of a program for a tile of elements, compiled for each level of vector instructions.

use dahl_expression::{Binary, Ternary, Unary};

use super::operand::Operand;
use super::steps::{Fixed, Operation, Step, Steps};
use crate::element::Real;
use crate::simd::Vectorised;

/// Elements of a tile: so few that some registers stay in the first-level cache, so many that the cost of a step is small.
pub(super) const TILE: usize = 512;

/// A register for each value that is needed at the same time. Truths are 0 and 1.
pub(super) struct Registers<S>(Vec<Box<[S]>>);

impl<S: Real> Registers<S> {
    /// Those of a program, with the values that are the same for all elements.
    pub(super) fn new(steps: &Steps, leaves: &[f64]) -> Self {
        let mut registers = vec![vec![S::ZERO; TILE].into_boxed_slice(); steps.registers];
        for &(value, register, rounds) in &steps.fixed {
            let value = match value {
                Fixed::Number(number) => number,
                Fixed::Leaf(index) => leaves[index],
            };
            let value = if rounds { f64::from(value as f32) } else { value };
            registers[register].fill(S::from_f64(value));
        }
        Self(registers)
    }

    /// The first elements of a register.
    pub(super) fn of(&self, register: usize, len: usize) -> &[S] {
        &self.0[register][..len]
    }
}

/// The elements from `begin` on, `len` of them.
pub(super) struct Tile<'a, S> {
    pub(super) steps: &'a [Step],
    pub(super) registers: &'a mut Registers<S>,
    pub(super) operands: &'a [Operand<'a>],
    pub(super) begin: usize,
    pub(super) len: usize,
}

impl<S: Real> Vectorised for Tile<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { steps, registers: Registers(registers), operands, begin, len } = self;
        for step in steps {
            let mut result = std::mem::take(&mut registers[step.result]);
            let out = &mut result[..len];
            let of = |register: usize| &registers[register][..len];
            match step.operation {
                Operation::Load(operand) => operands[operand].load(begin, out),
                Operation::Copy(a) => out.copy_from_slice(of(a)),
                Operation::IsNormal(a, smallest) => {
                    let smallest = S::from_f64(smallest);
                    map(of(a), out, |a| truth(a.abs() >= smallest && a.is_finite()));
                }
                Operation::Not(a) => map(of(a), out, |a| truth(a == S::ZERO)),
                Operation::Unary(function, a) => unary(function, of(a), out),
                Operation::Powi(a, exponent) => map(of(a), out, |a| a.powi(exponent)),
                Operation::Binary(function, a, b) => binary(function, of(a), of(b), out),
                Operation::Ternary(Ternary::MulAdd, [a, b, c]) => {
                    map3([of(a), of(b), of(c)], out, |a, b, c| a.mul_add(b, c));
                }
                Operation::Ternary(Ternary::Clamp, [a, b, c]) => {
                    map3([of(a), of(b), of(c)], out, |a, b, c| a.clamp(b, c));
                }
                Operation::Select([a, b, c]) => {
                    map3([of(a), of(b), of(c)], out, |a, b, c| if a != S::ZERO { b } else { c });
                }
            }
            if step.rounds {
                out.iter_mut().for_each(|value| *value = S::from_f64(f64::from(value.to_f64() as f32)));
            }
            registers[step.result] = result;
        }
    }
}

#[inline(always)]
fn truth<S: Real>(holds: bool) -> S {
    if holds { S::ONE } else { S::ZERO }
}

#[inline(always)]
fn map<S: Real>(a: &[S], out: &mut [S], f: impl Fn(S) -> S) {
    for (out, &a) in out.iter_mut().zip(a) {
        *out = f(a);
    }
}

#[inline(always)]
fn map2<S: Real>(a: &[S], b: &[S], out: &mut [S], f: impl Fn(S, S) -> S) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = f(a, b);
    }
}

#[inline(always)]
fn map3<S: Real>([a, b, c]: [&[S]; 3], out: &mut [S], f: impl Fn(S, S, S) -> S) {
    for (((out, &a), &b), &c) in out.iter_mut().zip(a).zip(b).zip(c) {
        *out = f(a, b, c);
    }
}

#[inline(always)]
fn unary<S: Real>(function: Unary, a: &[S], out: &mut [S]) {
    macro_rules! each {
        ($($function:ident: $name:ident),*; $($other:ident => $f:expr),*) => {
            match function {
                $(Unary::$function => map(a, out, |a| a.$name()),)*
                $(Unary::$other => map(a, out, $f),)*
            }
        };
    }
    each! {
        Abs: abs, Acos: acos, Acosh: acosh, Asin: asin, Asinh: asinh, Atan: atan, Atanh: atanh, Cbrt: cbrt,
        Ceil: ceil, Cos: cos, Cosh: cosh, Erf: erf, Erfc: erfc, Exp: exp, Exp2: exp2, ExpM1: exp_m1,
        Floor: floor, Fract: fract, Ln: ln, Ln1p: ln_1p, Log10: log10, Log2: log2, Recip: recip, Round: round,
        RoundTiesEven: round_ties_even, Signum: signum, Sin: sin, Sinh: sinh, Sqrt: sqrt, Tan: tan,
        Tanh: tanh, ToDegrees: to_degrees, ToRadians: to_radians, Trunc: trunc;
        Neg => |a| -a,
        Not => |a| truth(a == S::ZERO),
        IsFinite => |a| truth(a.is_finite()),
        IsInfinite => |a| truth(a.is_infinite()),
        IsNan => |a| truth(a.is_nan()),
        IsNormal => |a| truth(a.is_normal()),
        IsSignNegative => |a| truth(a.is_sign_negative()),
        IsSignPositive => |a| truth(a.is_sign_positive())
    }
}

#[inline(always)]
fn binary<S: Real>(function: Binary, a: &[S], b: &[S], out: &mut [S]) {
    let is_true = |a: S| a != S::ZERO;
    let bits = |a: S| a.to_f64() as i64;
    macro_rules! each {
        ($($function:ident => $f:expr),* $(,)?) => {
            match function {
                $(Binary::$function => map2(a, b, out, $f),)*
            }
        };
    }
    each! {
        Add => |a, b| a + b,
        Plus => |a, b| a + b,
        Sub => |a, b| a - b,
        Mul => |a, b| a * b,
        Div => |a, b| a / b,
        Rem => |a, b| a % b,
        And => |a, b| truth(is_true(a) && is_true(b)),
        Or => |a, b| truth(is_true(a) || is_true(b)),
        BitAnd => |a, b| S::from_f64((bits(a) & bits(b)) as f64),
        BitOr => |a, b| S::from_f64((bits(a) | bits(b)) as f64),
        BitXor => |a, b| S::from_f64((bits(a) ^ bits(b)) as f64),
        Equal => |a, b| truth(a == b),
        NotEqual => |a, b| truth(a != b),
        Less => |a, b| truth(a < b),
        LessEqual => |a, b| truth(a <= b),
        Greater => |a, b| truth(a > b),
        GreaterEqual => |a, b| truth(a >= b),
        Atan2 => |a, b| a.atan2(b),
        Copysign => |a, b| a.copysign(b),
        Hypot => |a, b| a.hypot(b),
        Log => |a, b| a.log(b),
        Maximum => |a, b| a.max(b),
        Minimum => |a, b| a.min(b),
        MaxNumber => |a, b| if a.is_nan() || b > a { b } else { a },
        MinNumber => |a, b| if a.is_nan() || b < a { b } else { a },
        Powf => |a, b| a.powf(b),
    }
}
