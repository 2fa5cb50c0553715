//! [`Parameters`]: the parameters of a CUDA kernel, read from its signature.

use super::element::{Element, ElementType, USIZE, without_namespace};
use super::kernel::TypeParameter;
use crate::error::Error;
use crate::token::Token;

/// The most arrays of a kernel: the limit of the runtime.
const MAX_VIEWS: usize = 16;

/// The highest rank of an array.
const MAX_RANK: usize = 8;

/// The parameters of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parameters {
    pub(crate) views: Vec<View>,
    pub(crate) arguments: Vec<Argument>,
    /// The last parameter.
    pub(crate) last: Last,
}

/// Memory that a kernel shares with its other passes, and with the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Last {
    #[default]
    Nothing,
    /// Memory.
    Scratch,
    /// Memory, and a place to report a failure.
    Task,
}

impl Last {
    /// The type in CUDA and the name of the parameter.
    fn cuda(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Nothing => None,
            Self::Scratch => Some(("dahl::Scratch", "scratch")),
            Self::Task => Some(("dahl::Task", "task")),
        }
    }
}

/// `View<const T, 2>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) name: String,
    pub(crate) is_const: bool,
    pub(crate) element: Element,
    /// `None` for any rank.
    pub(crate) rank: Option<usize>,
}

/// A plain value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Argument {
    pub(crate) name: String,
    pub(crate) element: Element,
    pub(crate) len: Len,
}

/// How many values an argument consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Len {
    /// One.
    One,
    /// `Extents<2>`.
    Items(usize),
    /// `Extents<ANY>`: as many as the declaration's constant parameter says.
    Any,
}

impl Len {
    /// A variant of `CudaLen`.
    pub(crate) fn rust(self) -> String {
        match self {
            Self::One => "One".to_owned(),
            Self::Items(len) => format!("Items({len})"),
            Self::Any => "Any".to_owned(),
        }
    }
}

/// The possible parameters, for errors.
const EXPECTED: &str = "expected `View<const T, RANK> name`, `View<T, ANY> name`, an argument `size_t name`, `double name`, `bool name`, `T name`, \
     `Extents<2> name`, `Extents<ANY> name`, .., or at the end `Scratch name` or `Task name`";

impl Parameters {
    /// Reads the parameter list of a kernel in `file`, at `line`.
    pub(crate) fn read(
        (file, line): (&str, usize),
        tokens: &[Token<'_>],
        types: &[TypeParameter],
    ) -> Result<Self, Error> {
        let mut parameters = Self::default();
        for parameter in split(tokens) {
            parameters.add(file, parameter, types)?;
        }
        if parameters.views.is_empty() || parameters.views.len() > MAX_VIEWS {
            let fact = format!(
                "the kernel takes {} arrays: expected 1 to {MAX_VIEWS} parameters `View<..>`",
                parameters.views.len()
            );
            return Err(Error::at(file, line, fact));
        }
        Ok(parameters)
    }

    fn add(&mut self, file: &str, tokens: &[Token<'_>], types: &[TypeParameter]) -> Result<(), Error> {
        let text = text(tokens);
        let Some((name, ty)) = tokens.split_last().filter(|(name, ty)| name.is_word() && !ty.is_empty())
        else {
            let line = tokens.first().map_or(1, |token| token.line);
            return Err(Error::at(file, line, format!("`{text}`: {EXPECTED}")));
        };
        let refuse = |fact: &str| Err(Error::at(file, name.line, format!("`{text}`: {fact}")));
        if self.last != Last::Nothing {
            return refuse("`Scratch` or `Task` is the last parameter: nothing comes after it");
        }
        let ty: Vec<_> = strip_const(without_namespace(strip_const(ty))).to_vec();
        let name = name.text.to_owned();
        match &*ty {
            [view, open, inner @ .., close] if view.is("View") && open.is("<") && close.is(">") => {
                if !self.arguments.is_empty() {
                    return refuse("arrays come before plain arguments, as in a codelet");
                }
                let Some(view) = View::read(name, inner, types) else {
                    return refuse(
                        "expected `View<const T, RANK>` or `View<T, RANK>`, T being a parameter of the template, `compute_t<T>`, \
                         `float`, `double`, `f16`, `bf16` or an integer as `uint32_t`, and RANK 0 to 8 or `ANY`",
                    );
                };
                self.views.push(view);
            }
            [scratch] if scratch.is("Scratch") => self.last = Last::Scratch,
            [task] if task.is("Task") => self.last = Last::Task,
            [extents, open, inner @ .., close] if extents.is("Extents") && open.is("<") && close.is(">") => {
                let len = match without_namespace(inner) {
                    [any] if any.is("ANY") => Some(Len::Any),
                    [len] => len.text.parse().ok().map(Len::Items),
                    _ => None,
                };
                let Some(len) = len else {
                    return refuse("expected a number or `ANY`: `Extents<2>`, `Extents<ANY>`");
                };
                self.arguments.push(Argument { name, element: Element::Fixed(USIZE), len });
            }
            other => match Element::read(other, types) {
                Some(element) => self.arguments.push(Argument { name, element, len: Len::One }),
                None => return refuse(EXPECTED),
            },
        }
        Ok(())
    }

    /// Whether the parameters of another pass are the same except for names.
    pub(crate) fn fit(&self, other: &Self) -> bool {
        let views = |all: &Self| {
            all.views.iter().map(|view| (view.is_const, view.element, view.rank)).collect::<Vec<_>>()
        };
        let arguments = |all: &Self| {
            all.arguments.iter().map(|argument| (argument.element, argument.len)).collect::<Vec<_>>()
        };
        (views(self), arguments(self), self.last) == (views(other), arguments(other), other.last)
    }

    /// The list of parameters in CUDA, with these types for the template's parameters, each with its name.
    pub(crate) fn cuda(&self, types: &[ElementType]) -> Vec<(String, &str)> {
        let views = self.views.iter().map(|view| {
            let constant = if view.is_const { "const " } else { "" };
            let rank = view.rank.map_or("dahl::ANY".to_owned(), |rank| rank.to_string());
            (format!("dahl::View<{constant}{}, {rank}>", view.element.cuda(types)), &*view.name)
        });
        let arguments = self.arguments.iter().map(|argument| {
            let ty = match argument.len {
                Len::Items(len) => format!("dahl::Extents<{len}>"),
                Len::Any => "dahl::Extents<dahl::ANY>".to_owned(),
                Len::One => argument.element.cuda(types).to_owned(),
            };
            (ty, &*argument.name)
        });
        let last = self.last.cuda().map(|(ty, name)| (ty.to_owned(), name));
        views.chain(arguments).chain(last).collect()
    }
}

impl View {
    fn read(name: String, inner: &[Token<'_>], types: &[TypeParameter]) -> Option<Self> {
        let [element, rank] = split(inner)[..] else { return None };
        let [rank] = without_namespace(rank) else { return None };
        let rank = match rank.text {
            "ANY" => None,
            number => Some(number.parse().ok().filter(|rank| *rank <= MAX_RANK)?),
        };
        let is_const = element.first().is_some_and(|token| token.is("const"));
        let element = Element::read(strip_const(element), types)?;
        (!element.is_of_arguments()).then_some(Self { name, is_const, element, rank })
    }
}

fn strip_const<'t, 's>(tokens: &'t [Token<'s>]) -> &'t [Token<'s>] {
    match tokens {
        [constant, rest @ ..] if constant.is("const") => rest,
        all => all,
    }
}

/// The parts between commas outside of brackets.
pub(crate) fn split<'t, 's>(tokens: &'t [Token<'s>]) -> Vec<&'t [Token<'s>]> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (index, token) in tokens.iter().enumerate() {
        match token.text {
            "(" | "<" | "[" | "{" => depth += 1,
            ")" | ">" | "]" | "}" => depth = depth.saturating_sub(1),
            "," if depth == 0 => {
                parts.push(&tokens[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    if start < tokens.len() {
        parts.push(&tokens[start..]);
    }
    parts
}

/// The tokens as one line.
pub(crate) fn text(tokens: &[Token<'_>]) -> String {
    tokens.iter().map(|token| token.text).collect::<Vec<_>>().join(" ")
}
