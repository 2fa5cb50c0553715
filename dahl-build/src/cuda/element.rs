//! [`Element`]: the type of an array's elements or of an argument, as CUDA kernels spell it.

use super::kernel::TypeParameter;
use crate::token::Token;

/// An element type: its name in Rust and in CUDA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ElementType {
    pub(crate) rust: &'static str,
    pub(crate) cuda: &'static str,
    pub(crate) size_bytes: u64,
    compute: &'static str,
}

const fn element(rust: &'static str, cuda: &'static str, size_bytes: u64) -> ElementType {
    ElementType { rust, cuda, size_bytes, compute: cuda }
}

/// The element types of arrays.
pub(crate) const ELEMENTS: [ElementType; 12] = [
    ElementType { rust: "f16", cuda: "dahl::f16", size_bytes: 2, compute: "float" },
    ElementType { rust: "bf16", cuda: "dahl::bf16", size_bytes: 2, compute: "float" },
    element("f32", "float", 4),
    element("f64", "double", 8),
    element("u8", "uint8_t", 1),
    element("u16", "uint16_t", 2),
    element("u32", "uint32_t", 4),
    element("u64", "uint64_t", 8),
    element("i8", "int8_t", 1),
    element("i16", "int16_t", 2),
    element("i32", "int32_t", 4),
    element("i64", "int64_t", 8),
];

/// `usize`.
pub(crate) const USIZE: ElementType = element("usize", "size_t", 8);

/// Types of arguments only.
const OF_ARGUMENTS: [ElementType; 3] = [element("bool", "bool", 1), USIZE, element("isize", "ptrdiff_t", 8)];

/// Names of lists of types.
pub(crate) const SETS: [(&str, &[&str]); 4] = [
    ("real", &["f16", "bf16", "f32", "f64"]),
    ("integer", &["u8", "u32", "i32", "i64"]),
    ("label", &["u8", "u32", "i32", "i64"]),
    ("element", &["f16", "bf16", "f32", "f64", "u8", "u32", "i32", "i64"]),
];

impl ElementType {
    /// The element type of this name in Rust.
    pub(crate) fn named(rust: &str) -> Option<Self> {
        ELEMENTS.into_iter().find(|element| element.rust == rust)
    }

    /// The type in which numbers of this one are computed.
    pub(crate) fn compute_type(self) -> Self {
        ELEMENTS.into_iter().find(|element| element.cuda == self.compute).unwrap_or(self)
    }
}

/// The type of an array's elements or of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// A parameter of the template, by its index.
    Parameter(usize),
    /// `compute_t<T>` of a parameter.
    Compute(usize),
    Fixed(ElementType),
}

impl Element {
    /// The type that `tokens` name, of a kernel with these type parameters.
    pub(crate) fn read(tokens: &[Token<'_>], parameters: &[TypeParameter]) -> Option<Self> {
        let index = |name: &Token<'_>| parameters.iter().position(|parameter| name.is(&parameter.name));
        match without_namespace(tokens) {
            [name] => {
                if let Some(index) = index(name) {
                    return Some(Self::Parameter(index));
                }
                let known = ELEMENTS.into_iter().chain(OF_ARGUMENTS);
                let is_named = |element: &ElementType| name.is(element.cuda.trim_start_matches("dahl::"));
                known.into_iter().find(is_named).map(Self::Fixed)
            }
            [compute, open, name, close] if compute.is("compute_t") && open.is("<") && close.is(">") => {
                index(name).map(Self::Compute)
            }
            _ => None,
        }
    }

    /// Whether only arguments can have this type.
    pub(crate) fn is_of_arguments(self) -> bool {
        matches!(self, Self::Fixed(element) if OF_ARGUMENTS.contains(&element))
    }

    /// Whether the type is an integer or `bool`.
    pub(crate) fn is_integer(self) -> bool {
        matches!(self, Self::Fixed(element) if !["f16", "bf16", "f32", "f64"].contains(&element.rust))
    }

    /// The type, with these types for the parameters.
    pub(crate) fn of(self, types: &[ElementType]) -> Option<ElementType> {
        match self {
            Self::Parameter(index) => types.get(index).copied(),
            Self::Compute(index) => Some(types.get(index)?.compute_type()),
            Self::Fixed(element) => Some(element),
        }
    }

    /// The type in CUDA, with these types for the parameters.
    pub(crate) fn cuda(self, types: &[ElementType]) -> &'static str {
        match self {
            Self::Parameter(index) => types[index].cuda,
            Self::Compute(index) => types[index].compute,
            Self::Fixed(element) => element.cuda,
        }
    }

    /// The variant of `CudaElement`.
    pub(crate) fn rust(self) -> String {
        match self {
            Self::Parameter(index) => format!("Parameter({index})"),
            Self::Compute(index) => format!("Compute({index})"),
            Self::Fixed(element) => format!("Fixed(\"{}\")", element.rust),
        }
    }
}

/// The tokens without `dahl::`.
pub(crate) fn without_namespace<'t, 's>(tokens: &'t [Token<'s>]) -> &'t [Token<'s>] {
    match tokens {
        [namespace, first, second, rest @ ..] if namespace.is("dahl") && first.is(":") && second.is(":") => {
            rest
        }
        all => all,
    }
}
