//! [`Kernel`]: a `DAHL_KERNEL(..)` and the function after it.

use super::element::{ElementType, SETS};
use super::expression::{Expression, Names, is_function};
use super::parameters::{Last, Parameters, split, text};
use crate::error::Error;
use crate::token::{Token, tokens};

/// A kernel of a CUDA file.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// The operation's name.
    pub(crate) name: String,
    /// The line of the last pass, counted from 1.
    pub(crate) line: usize,
    pub(crate) types: Vec<TypeParameter>,
    pub(crate) parameters: Parameters,
    /// Bytes of device memory for all of its passes.
    pub(crate) scratch_bytes: Option<Expression>,
    /// The launches, in order.
    pub(crate) passes: Vec<Pass>,
}

/// A parameter of the template, and the types for which it is instantiated.
#[derive(Clone, Debug)]
pub(crate) struct TypeParameter {
    pub(crate) name: String,
    pub(crate) types: Vec<ElementType>,
    /// The parameter, by its index, whose compute type this one is: `L: compute(T)`.
    pub(crate) compute_of: Option<usize>,
}

/// One launch.
#[derive(Debug)]
pub(crate) struct Pass {
    pub(crate) function: String,
    pub(crate) grid: [Expression; 3],
    pub(crate) block: [u64; 3],
    pub(crate) shared_bytes: Option<Expression>,
    resident: Option<Expression>,
}

impl Kernel {
    /// The kernels in `source`, the text of `file`.
    pub(crate) fn read_all(file: &str, source: &str) -> Result<Vec<Self>, Error> {
        let tokens = tokens(file, source)?;
        let (marks, code) = marks(file, &tokens)?;
        if marks.is_empty() {
            let fact = "no `DAHL_KERNEL(NAME, ..)` in it: expected one for each kernel, before its function";
            return Err(Error::about(file, fact));
        }
        marks.into_iter().map(|mark| Self::read(file, mark, &code)).collect()
    }

    fn read(file: &str, mark: Mark<'_, '_>, code: &[Token<'_>]) -> Result<Self, Error> {
        let mut parts = split(mark.inside).into_iter();
        let Some([name]) = parts.next() else {
            return Err(mark.error(file, "expected the operation's name first"));
        };
        if !is_name(name.text) {
            let fact = format!(
                "`{}` is not a name of an operation: expected lower-case letters, digits and `_`",
                name.text
            );
            return Err(mark.error(file, &fact));
        }
        let (mut written, mut scratch, mut passes, mut single) = (Vec::new(), None, Vec::new(), Vec::new());
        let mut given = Vec::new();
        for part in parts {
            match part {
                [word, open, inside @ .., close] if open.is("(") && close.is(")") => match word.text {
                    "types" => written = split(inside),
                    "let" => given.push((word.line, inside)),
                    "scratch" => scratch = Some(inside),
                    "pass" => passes.push(inside),
                    "grid" | "block" | "shared" | "resident" => single.push(part),
                    other => {
                        return Err(mark.error(file, &format!("`{other}(..)` is unknown: expected {PARTS}")));
                    }
                },
                other => return Err(mark.error(file, &format!("`{}`: expected {PARTS}", text(other)))),
            }
        }
        let mut types = Vec::new();
        for part in written {
            types.push(TypeParameter::read(file, part, &types)?);
        }
        let function = Function::find(file, name.text, code, &types)?;
        let constants = constants(file, code);
        let mut names =
            Names { file, types: &types, parameters: &function.parameters, constants: &constants, lets: &[] };
        let lets = lets(&given, &names)?;
        names.lets = &lets;
        let scratch_bytes = scratch.map(|tokens| Expression::read(tokens, mark.line, &names)).transpose()?;
        let passes = match (passes.is_empty(), single.is_empty()) {
            (true, false) => vec![Pass::read(&mark, name.text, &single, &names)?],
            (false, true) => passes
                .into_iter()
                .map(|inside| {
                    let parts = split(inside);
                    let Some(([pass], parts)) = parts.split_first() else {
                        return Err(mark.error(file, "expected `pass(KERNEL, grid(..), block(..))`"));
                    };
                    let other = Function::find(file, pass.text, code, &types)?;
                    if !other.parameters.fit(&function.parameters) {
                        let fact = format!(
                            "the pass `{}` takes other parameters than `{}`: expected the same",
                            pass.text, name.text
                        );
                        return Err(Error::at(file, other.line, fact));
                    }
                    Pass::read(&mark, pass.text, parts, &names)
                })
                .collect::<Result<_, _>>()?,
            _ => return Err(mark.error(file, "expected either `grid(..), block(..)` or `pass(..)`s")),
        };
        let Function { parameters, line } = function;
        if scratch_bytes.is_some() && parameters.last == Last::Nothing {
            return Err(Error::at(
                file,
                line,
                format!(
                    "`{}` has `scratch(..)`: add a last parameter `Scratch scratch`, or `Task task` if it can fail",
                    name.text
                ),
            ));
        }
        let kernel = Self { name: name.text.to_owned(), line, types, parameters, scratch_bytes, passes };
        match kernel.passes.iter().find(|pass| kernel.instances().iter().any(|of| pass.bounds(of).is_none()))
        {
            Some(pass) => Err(Error::at(
                file,
                line,
                format!(
                    "`resident(..)` of `{}`: expected a number that depends on types alone, of blocks with 2048 threads in all at most",
                    pass.function
                ),
            )),
            None => Ok(kernel),
        }
    }

    /// Every combination of types that it is instantiated for.
    pub(crate) fn instances(&self) -> Vec<Vec<ElementType>> {
        self.types.iter().fold(vec![Vec::new()], |instances: Vec<Vec<ElementType>>, parameter| {
            let extended = instances.iter().flat_map(|instance| {
                let of = parameter.compute_of.map(|of| instance[of].compute_type());
                let types = parameter.types.iter().filter(move |element| of.is_none_or(|of| of == **element));
                types.map(|element| [&**instance, &[*element]].concat())
            });
            extended.collect()
        })
    }
}

/// The parts of `DAHL_KERNEL`, for errors.
const PARTS: &str = "`types(T: real)`, `let(NAME = NUMBER)`, `scratch(BYTES)`, `grid(x, y, z)`, `block(x, y, z)`, `shared(BYTES)`, `resident(BLOCKS)` or `pass(KERNEL, grid(..), block(..))`";

/// The name of the entry point of a pass for these types: `sum_axis_f32`.
pub(crate) fn entry(function: &str, types: &[ElementType]) -> String {
    types.iter().fold(function.to_owned(), |name, element| name + "_" + element.rust)
}

/// Whether an operation can have this name.
pub(crate) fn is_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    name.starts_with(|letter: char| letter.is_ascii_lowercase()) && name.chars().all(is_letter)
}

impl TypeParameter {
    /// `T: real`, `T: f32 f64`, or `L: compute(T)` with a parameter of those `before`.
    fn read(file: &str, part: &[Token<'_>], before: &[Self]) -> Result<Self, Error> {
        let line = part.first().map_or(1, |token| token.line);
        let refuse = || {
            let sets = SETS.map(|(name, _)| format!("`{name}`")).join(", ");
            let fact = format!(
                "`{}`: expected `types(T: real)`, with {sets}, types as in `f32 f64`, or `compute(T)` of an earlier one behind the colon",
                text(part)
            );
            Error::at(file, line, fact)
        };
        let [name, colon, words @ ..] = part else { return Err(refuse()) };
        if !name.is_word() || !colon.is(":") || words.is_empty() {
            return Err(refuse());
        }
        if let [compute, open, of, close] = words
            && compute.is("compute")
            && open.is("(")
            && close.is(")")
        {
            let index = before.iter().position(|parameter| of.is(&parameter.name)).ok_or_else(refuse)?;
            let mut types = Vec::new();
            for element in &before[index].types {
                let compute = element.compute_type();
                if !types.contains(&compute) {
                    types.push(compute);
                }
            }
            return Ok(Self { name: name.text.to_owned(), types, compute_of: Some(index) });
        }
        let mut types = Vec::new();
        for word in words {
            match SETS.iter().find(|(set, _)| word.is(set)) {
                Some((_, names)) => types.extend(names.iter().filter_map(|name| ElementType::named(name))),
                None => types.push(ElementType::named(word.text).ok_or_else(refuse)?),
            }
        }
        Ok(Self { name: name.text.to_owned(), types, compute_of: None })
    }
}

impl Pass {
    /// What `__launch_bounds__` says of the instance for these types: the threads of a block, and how many blocks a
    /// multiprocessor is to hold. None if that is no number, or more than any holds.
    pub(crate) fn bounds(&self, types: &[ElementType]) -> Option<String> {
        let threads = self.block.iter().product::<u64>();
        let Some(resident) = &self.resident else { return Some(threads.to_string()) };
        let blocks = resident.number_for(types).filter(|blocks| (1..=2048 / threads).contains(blocks))?;
        Some(format!("{threads}, {blocks}"))
    }

    fn read(
        mark: &Mark<'_, '_>,
        function: &str,
        parts: &[&[Token<'_>]],
        names: &Names<'_>,
    ) -> Result<Self, Error> {
        const KNOWN: &str = "expected `grid(..)`, `block(..)`, `shared(..)` or `resident(..)`";
        let (mut grid, mut block, mut shared_bytes, mut resident) = (None, None, None, None);
        for part in parts {
            let [word, open, inside @ .., close] = part else {
                return Err(mark.error(names.file, &format!("`{}`: {KNOWN}", text(part))));
            };
            if !open.is("(") || !close.is(")") {
                return Err(mark.error(names.file, &format!("`{}`: {KNOWN}", text(part))));
            }
            let slot = match word.text {
                "grid" => &mut grid,
                "block" => &mut block,
                "shared" => {
                    shared_bytes = Some(Expression::read(inside, word.line, names)?);
                    continue;
                }
                "resident" => {
                    resident = Some(Expression::read(inside, word.line, names)?);
                    continue;
                }
                other => return Err(mark.error(names.file, &format!("`{other}(..)`: {KNOWN}"))),
            };
            *slot = Some(three(mark, names, word.line, inside)?);
        }
        let (Some(grid), Some(block)) = (grid, block) else {
            return Err(mark.error(names.file, &format!("`{function}` needs `grid(..)` and `block(..)`")));
        };
        let numbers = block.map(|part| part.number().unwrap_or(0));
        let threads = numbers.iter().product::<u64>();
        if threads == 0 || threads > 1024 || numbers[2] > 64 {
            return Err(mark.error(
                names.file,
                &format!(
                    "`block(..)` of `{function}`: expected numbers, 1 to 1024 threads in all, 64 along z"
                ),
            ));
        }
        Ok(Self { function: function.to_owned(), grid, block: numbers, shared_bytes, resident })
    }
}

/// One to three expressions; missing ones are 1.
fn three(
    mark: &Mark<'_, '_>,
    names: &Names<'_>,
    line: usize,
    inside: &[Token<'_>],
) -> Result<[Expression; 3], Error> {
    let parts = split(inside);
    if parts.is_empty() || parts.len() > 3 {
        return Err(mark.error(names.file, "expected one to three extents: x, y, z"));
    }
    let one = [Token { text: "1", line }];
    let read = |index: usize| Expression::read(parts.get(index).copied().unwrap_or(&one), line, names);
    Ok([read(0)?, read(1)?, read(2)?])
}

/// `let(NAME = EXPR)`s, each of which may name those before it.
fn lets(given: &[(usize, &[Token<'_>])], names: &Names<'_>) -> Result<Vec<(String, Expression)>, Error> {
    let mut lets = Vec::new();
    for &(line, inside) in given {
        let [name, equals, value @ ..] = inside else {
            return Err(Error::at(names.file, line, "expected `let(NAME = NUMBER)`"));
        };
        if !is_name(name.text) || !equals.is("=") {
            return Err(Error::at(names.file, line, "expected `let(NAME = NUMBER)`"));
        }
        let Parameters { views, arguments, .. } = names.parameters;
        let views = views.iter().map(|view| &view.name);
        let taken = views.chain(arguments.iter().map(|argument| &argument.name));
        let taken = taken.chain(names.constants.iter().map(|(name, _)| name));
        let mut taken = taken.chain(lets.iter().map(|(name, _)| name));
        if is_function(name) || taken.any(|taken| name.is(taken)) {
            let fact =
                format!("`let({} = ..)`: another number, parameter or function has this name", name.text);
            return Err(Error::at(names.file, line, fact));
        }
        let value = Expression::read(value, line, &Names { lets: &lets, ..*names })?;
        lets.push((name.text.to_owned(), value));
    }
    Ok(lets)
}

/// `DAHL_KERNEL( inside )`.
struct Mark<'t, 's> {
    line: usize,
    inside: &'t [Token<'s>],
}

impl Mark<'_, '_> {
    fn error(&self, file: &str, fact: &str) -> Error {
        Error::at(file, self.line, format!("DAHL_KERNEL: {fact}"))
    }
}

/// The marks of a file, and the remaining tokens.
fn marks<'t, 's>(file: &str, tokens: &'t [Token<'s>]) -> Result<(Vec<Mark<'t, 's>>, Vec<Token<'s>>), Error> {
    let (mut marks, mut code, mut index) = (Vec::new(), Vec::new(), 0);
    while let Some(token) = tokens.get(index) {
        if !token.is("DAHL_KERNEL") {
            code.push(*token);
            index += 1;
            continue;
        }
        let (line, mut depth, start) = (token.line, 0_usize, index + 2);
        index += 1;
        loop {
            match tokens.get(index).map(|token| token.text) {
                Some("(") => depth += 1,
                Some(")") if depth > 0 => depth -= 1,
                Some(_) if depth > 0 => {}
                _ => return Err(Error::at(file, line, "DAHL_KERNEL: expected `(..)` behind it")),
            }
            index += 1;
            if depth == 0 {
                break;
            }
        }
        marks.push(Mark { line, inside: &tokens[start..index - 1] });
    }
    Ok((marks, code))
}

/// `constexpr int TILE = 64;` of the file, if they are numbers.
fn constants(file: &str, code: &[Token<'_>]) -> Vec<(String, u64)> {
    let mut constants = Vec::new();
    let parameters = Parameters::default();
    for (index, _) in code.iter().enumerate().filter(|(_, token)| token.is("constexpr")) {
        let statement = code[index..].split(|token| token.is(";")).next().unwrap_or_default();
        let Some(equals) = statement.iter().position(|token| token.is("=")) else { continue };
        let name = &statement[equals - 1];
        let names = Names { file, types: &[], parameters: &parameters, constants: &constants, lets: &[] };
        let value = Expression::read(&statement[equals + 1..], name.line, &names);
        if let Some(number) = value.ok().and_then(|value| value.number()) {
            constants.push((name.text.to_owned(), number));
        }
    }
    constants
}

/// A `__global__` function.
struct Function {
    line: usize,
    parameters: Parameters,
}

impl Function {
    /// Finds the definition of `name`, a template over these types.
    fn find(file: &str, name: &str, code: &[Token<'_>], types: &[TypeParameter]) -> Result<Self, Error> {
        let template =
            types.iter().map(|parameter| format!("class {}", parameter.name)).collect::<Vec<_>>().join(", ");
        let template = if template.is_empty() { String::new() } else { format!("template <{template}> ") };
        let expected =
            format!("expected `{template}__global__ void {name}(..) {{ .. }}`, as its DAHL_KERNEL says");
        let start =
            code.windows(3).position(|three| three[0].is("void") && three[1].is(name) && three[2].is("("));
        let Some(start) = start else { return Err(Error::about(file, expected)) };
        let line = code[start].line;
        let before =
            code[..start].iter().rposition(|token| token.is("}") || token.is(";")).map_or(0, |end| end + 1);
        let before = text(&code[before..start]).replace("typename", "class").replace(' ', "");
        if before.replace("static", "") != format!("{}__global__", template.replace(' ', "")) {
            return Err(Error::at(file, line, format!("`{before}` stands before `void {name}`: {expected}")));
        }
        let inside = &code[start + 3..];
        let mut depth = 1_usize;
        let close = inside.iter().position(|token| {
            depth += usize::from(token.is("("));
            depth -= usize::from(token.is(")"));
            depth == 0
        });
        let close = close.filter(|close| inside.get(close + 1).is_some_and(|token| token.is("{")));
        let Some(close) = close else { return Err(Error::at(file, line, expected)) };
        Ok(Self { line, parameters: Parameters::read((file, line), &inside[..close], types)? })
    }
}
