//! [`Kind`]: the kind of a value in a map's body, as far as the translation needs it.

use super::Refusal;
use crate::stored::Stored;

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A type parameter bounded by `Real`, in its compute type; its functions are those of `Real`.
    Real(usize),
    /// A type parameter that is only an element: it is copied, not computed with.
    Opaque(usize),
    /// `f32` and `f64`; their functions are Rust's own.
    Float(&'static str),
    /// An integer.
    Integer(Stored),
    Bool,
    /// A number without a suffix; the context determines its type.
    FloatLiteral,
    IntegerLiteral,
}

impl Kind {
    /// The kind of a concrete type in a body, where `f16` and `bf16` stand for their compute type.
    pub(super) fn named(name: &str) -> Option<Self> {
        Stored::named(name).map(Self::of)
    }

    /// The kind of what is stored with this type.
    pub(super) fn of(stored: Stored) -> Self {
        match stored {
            Stored::F16 | Stored::BF16 | Stored::F32 => Self::Float("f32"),
            Stored::F64 => Self::Float("f64"),
            Stored::BOOL => Self::Bool,
            integer => Self::Integer(integer),
        }
    }

    /// The type in CUDA.
    pub(super) fn cuda(self, compute: &[String]) -> String {
        match self {
            Self::Real(index) | Self::Opaque(index) => compute[index].clone(),
            Self::Float("f32") => "float".to_owned(),
            Self::Float(_) | Self::FloatLiteral => "double".to_owned(),
            Self::Integer(integer) => integer.cuda().to_owned(),
            Self::IntegerLiteral => "int32_t".to_owned(),
            Self::Bool => "bool".to_owned(),
        }
    }

    pub(super) fn is_float(self) -> bool {
        matches!(self, Self::Real(_) | Self::Float(_) | Self::FloatLiteral)
    }

    pub(super) fn is_integer(self) -> bool {
        matches!(self, Self::Integer(_) | Self::IntegerLiteral)
    }

    pub(super) fn is_literal(self) -> bool {
        matches!(self, Self::FloatLiteral | Self::IntegerLiteral)
    }
}

/// A translated expression.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) text: String,
    pub(super) kind: Kind,
    /// The precedence of its outermost operator.
    level: u8,
}

/// Precedences of operators.
pub(super) const SUM: u8 = 1;
pub(super) const PRODUCT: u8 = 2;
const ATOM: u8 = 3;

impl Value {
    pub(super) fn atom(text: impl Into<String>, kind: Kind) -> Self {
        Self { text: text.into(), kind, level: ATOM }
    }

    /// The result of an operator with a lower precedence than arithmetic.
    pub(super) fn loose(text: String, kind: Kind) -> Self {
        Self { text, kind, level: 0 }
    }

    /// `left sign right`.
    pub(super) fn binary(left: &Self, sign: &str, right: &Self, level: u8) -> Self {
        let text = format!("{} {sign} {}", left.within(level), right.within(level + 1));
        Self { text, kind: left.kind, level }
    }

    /// `-value`.
    pub(super) fn negated(self) -> Self {
        let operand = if self.text.starts_with('-') { format!("({})", self.text) } else { self.within(ATOM) };
        let level = if self.kind.is_literal() { ATOM } else { PRODUCT };
        Self { text: format!("-{operand}"), kind: self.kind, level }
    }

    /// The text, in parentheses if operators of this precedence around it require them.
    fn within(&self, level: u8) -> String {
        if self.level >= level { self.text.clone() } else { format!("({})", self.text) }
    }

    /// The text as an operand of any operator.
    pub(super) fn operand(&self) -> String {
        self.within(ATOM)
    }

    /// The same value for an expected kind: a literal adopts it.
    pub(super) fn expected_as(
        self,
        kind: Kind,
        at: &impl syn::spanned::Spanned,
        compute: &[String],
    ) -> Result<Self, Refusal> {
        if self.kind == kind {
            return Ok(self);
        }
        let fits = match self.kind {
            Kind::FloatLiteral => matches!(kind, Kind::Float(_)),
            Kind::IntegerLiteral => kind.is_integer(),
            _ => false,
        };
        if fits && self.level == ATOM {
            let ty = kind.cuda(compute);
            let text = match kind {
                Kind::Float("f32") => format!("{}f", self.text),
                Kind::Float(_) => self.text,
                _ if ty == "int32_t" => self.text,
                _ => format!("{ty}({})", self.text),
            };
            return Ok(Self::atom(text, kind));
        }
        Err(Refusal::new(
            at,
            "the type of this number is not clear here; give it a suffix, as in `0.5_f32` or `1_u8`",
        ))
    }
}
