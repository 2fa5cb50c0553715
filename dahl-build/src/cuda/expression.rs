//! [`Expression`]: a number that a launch depends on, such as `ceil_div(out.len(), 256)`, in postfix order.
//!
//! This crate does not evaluate it: the runtime does so for each task (`CudaStep` of dahl-core), from extents and
//! arguments.

use super::element::{Element, ElementType};
use super::kernel::TypeParameter;
use super::parameters::{Len, Parameters};
use crate::error::Error;
use crate::token::Token;

/// The steps of a stack machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expression(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Number(u64),
    /// `x.len()`, `x.rank()`, `x.extent(i)` of a view: the last takes `i` from the stack.
    Len(usize),
    Rank(usize),
    Extent(usize),
    /// An argument, or an item of it, whose index is on the stack.
    Argument(usize),
    Item(usize),
    /// `sizeof(T)`, `sizeof(compute_t<T>)`.
    SizeOf(Element),
    Operator(&'static str),
}

const OPERATORS: [(&str, u8, &str); 5] =
    [("+", 1, "Add"), ("-", 1, "Subtract"), ("*", 2, "Multiply"), ("/", 2, "Divide"), ("%", 2, "Remainder")];

const FUNCTIONS: [(&str, &str); 4] =
    [("min", "Min"), ("max", "Max"), ("ceil_div", "CeilDiv"), ("blocks", "Blocks")];

/// Whether this is a function of expressions.
pub(super) fn is_function(token: &Token<'_>) -> bool {
    token.is("sizeof") || FUNCTIONS.iter().any(|(name, _)| token.is(name))
}

/// The meanings of names in an expression.
pub(crate) struct Names<'a> {
    pub(crate) file: &'a str,
    pub(crate) types: &'a [TypeParameter],
    pub(crate) parameters: &'a Parameters,
    /// `constexpr` numbers of the file.
    pub(crate) constants: &'a [(String, u64)],
    /// `let(NAME = EXPR)` of the kernel, those so far.
    pub(crate) lets: &'a [(String, Expression)],
}

impl Expression {
    pub(crate) fn read(tokens: &[Token<'_>], line: usize, names: &Names<'_>) -> Result<Self, Error> {
        let mut parser = Parser { tokens, names, line, steps: Vec::new() };
        parser.sum(1)?;
        match parser.tokens {
            [] => Ok(Self(parser.steps)),
            [stray, ..] => Err(parser.error(&format!("`{}` is not expected here", stray.text))),
        }
    }

    /// The value, if it is constant.
    pub(crate) fn number(&self) -> Option<u64> {
        self.number_for(&[])
    }

    /// The value for these types of the template's parameters, if it depends on nothing else.
    pub(crate) fn number_for(&self, types: &[ElementType]) -> Option<u64> {
        let mut stack = Vec::new();
        for step in &self.0 {
            let value = match step {
                Step::Number(number) => *number,
                Step::SizeOf(element) => element.of(types)?.size_bytes,
                Step::Operator(operator) => {
                    let (right, left) = (stack.pop()?, stack.pop()?);
                    compute(operator, left, right)?
                }
                _ => return None,
            };
            stack.push(value);
        }
        stack.pop()
    }

    /// The steps as items of `CudaStep`.
    pub(crate) fn rust(&self) -> String {
        let step = |step: &Step| {
            let step = match step {
                Step::Number(number) => format!("Number({number})"),
                Step::Len(view) => format!("Len({view})"),
                Step::Rank(view) => format!("Rank({view})"),
                Step::Extent(view) => format!("Extent({view})"),
                Step::Argument(argument) => format!("Argument({argument})"),
                Step::Item(argument) => format!("Item({argument})"),
                Step::SizeOf(element) => format!("SizeOf(dahl_private::CudaElement::{})", element.rust()),
                Step::Operator(operator) => (*operator).to_owned(),
            };
            format!("dahl_private::CudaStep::{step}")
        };
        format!("&[{}]", self.0.iter().map(step).collect::<Vec<_>>().join(", "))
    }
}

fn compute(operator: &str, left: u64, right: u64) -> Option<u64> {
    match operator {
        "Add" => left.checked_add(right),
        "Subtract" => left.checked_sub(right),
        "Multiply" => left.checked_mul(right),
        "Divide" => left.checked_div(right),
        "Remainder" => left.checked_rem(right),
        "Min" => Some(left.min(right)),
        "Max" => Some(left.max(right)),
        "CeilDiv" => (right > 0).then(|| left.div_ceil(right)),
        // `blocks` depends on the device.
        _ => None,
    }
}

struct Parser<'t, 's, 'n> {
    tokens: &'t [Token<'s>],
    names: &'n Names<'n>,
    line: usize,
    steps: Vec<Step>,
}

impl<'s> Parser<'_, 's, '_> {
    /// Operations with a precedence of at least `least`.
    fn sum(&mut self, least: u8) -> Result<(), Error> {
        self.operand()?;
        while let Some((_, binds, step)) = self
            .tokens
            .first()
            .and_then(|token| OPERATORS.into_iter().find(|(sign, ..)| token.is(sign)))
            .filter(|(_, binds, _)| *binds >= least)
        {
            self.next();
            self.sum(binds + 1)?;
            self.steps.push(Step::Operator(step));
        }
        Ok(())
    }

    fn operand(&mut self) -> Result<(), Error> {
        let Some(token) = self.next() else { return Err(self.error("an operand is missing")) };
        if token.is("(") {
            self.sum(1)?;
            return self.expect(")");
        }
        if let Ok(number) = token.text.parse() {
            self.steps.push(Step::Number(number));
            return Ok(());
        }
        if let Some((_, step)) = FUNCTIONS.into_iter().find(|(name, _)| token.is(name)) {
            self.expect("(")?;
            self.sum(1)?;
            self.expect(",")?;
            self.sum(1)?;
            self.expect(")")?;
            self.steps.push(Step::Operator(step));
            return Ok(());
        }
        if token.is("sizeof") {
            return self.size_of();
        }
        self.name(token)
    }

    fn size_of(&mut self) -> Result<(), Error> {
        self.expect("(")?;
        let end = self.tokens.iter().position(|token| token.is(")"));
        let element = end.and_then(|end| Element::read(&self.tokens[..end], self.names.types));
        let (Some(end), Some(element)) = (end, element) else {
            return Err(self.error("`sizeof(..)` is of a type parameter or `compute_t<..>` of one"));
        };
        self.tokens = &self.tokens[end + 1..];
        self.steps.push(match element {
            Element::Fixed(ElementType { size_bytes, .. }) => Step::Number(size_bytes),
            generic => Step::SizeOf(generic),
        });
        Ok(())
    }

    /// `out.len()`, `axis`, `size[0]`.
    fn name(&mut self, token: Token<'s>) -> Result<(), Error> {
        let Parameters { views, arguments, .. } = self.names.parameters;
        if let Some((_, number)) = self.names.constants.iter().find(|(name, _)| token.is(name)) {
            self.steps.push(Step::Number(*number));
            return Ok(());
        }
        if let Some((_, expression)) = self.names.lets.iter().find(|(name, _)| token.is(name)) {
            self.steps.extend_from_slice(&expression.0);
            return Ok(());
        }
        if let Some(view) = views.iter().position(|view| token.is(&view.name)) {
            self.expect(".")?;
            let method = self.next().map_or("", |token| token.text);
            self.expect("(")?;
            let step = match method {
                "len" => Step::Len(view),
                "rank" => Step::Rank(view),
                "extent" => {
                    self.sum(1)?;
                    Step::Extent(view)
                }
                other => {
                    let fact = format!(
                        "`{}.{other}` is unknown: a view has `len()`, `rank()` and `extent(i)`",
                        token.text
                    );
                    return Err(self.error(&fact));
                }
            };
            self.steps.push(step);
            return self.expect(")");
        }
        let Some(index) = arguments.iter().position(|argument| token.is(&argument.name)) else {
            let names =
                views.iter().map(|view| &view.name).chain(arguments.iter().map(|argument| &argument.name));
            let names = names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            return Err(
                self.error(&format!("`{}` is not a parameter of the kernel: these are {names}", token.text))
            );
        };
        if !arguments[index].element.is_integer() {
            return Err(
                self.error(&format!("`{}` is not an integer: a launch depends on integers", token.text))
            );
        }
        if arguments[index].len != Len::One {
            self.expect("[")?;
            self.sum(1)?;
            self.steps.push(Step::Item(index));
            return self.expect("]");
        }
        self.steps.push(Step::Argument(index));
        Ok(())
    }

    fn next(&mut self) -> Option<Token<'s>> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        self.line = first.line;
        Some(*first)
    }

    fn expect(&mut self, sign: &str) -> Result<(), Error> {
        match self.next() {
            Some(token) if token.is(sign) => Ok(()),
            Some(other) => Err(self.error(&format!("expected `{sign}`, not `{}`", other.text))),
            None => Err(self.error(&format!("expected `{sign}` at the end"))),
        }
    }

    fn error(&self, fact: &str) -> Error {
        let known = "expressions have numbers, + - * / %, parentheses, min(a, b), max(a, b), ceil_div(n, d), blocks(n, per_block), \
                     sizeof(T), the file's `constexpr` integers, the kernel's `let(..)`, `v.len()`, `v.rank()`, `v.extent(i)` of views, \
                     and integer arguments";
        Error::at(self.names.file, self.line, format!("{fact}; {known}"))
    }
}
