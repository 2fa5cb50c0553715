//! [`Mode`]: an access mode in the mode row of a declaration.

use std::fmt;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{Expr, Path};

/// What a codelet does with one of its arrays: the counterpart of `dahl::AccessMode`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    ReadWrite,
    Reduce(Reduction),
    Commute,
    Scratch,
}

/// How contributions to a `REDUX` parameter combine.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reduction {
    Sum,
    Max,
    Min,
    /// By a [`Combination`].
    Custom,
}

/// `identity = EXPR, combine = PATH`: a reduction of the user's.
#[derive(Clone)]
pub(crate) struct Combination {
    /// The initial value of private buffers.
    pub(crate) identity: Expr,
    /// The function of the codelet that combines two partial results.
    pub(crate) combine: Path,
}

/// An entry of the mode row, with its tokens.
#[derive(Clone)]
pub(crate) struct Mode {
    pub(crate) access: Access,
    /// For a reduction of the user's; missing if it had an error.
    pub(crate) combination: Option<Combination>,
    pub(crate) tokens: TokenStream,
}

/// The keywords of the mode row.
pub(crate) const KEYWORDS: [&str; 6] = ["R", "W", "RW", "REDUX", "COMMUTE", "SCRATCH"];

impl Access {
    /// The access that `keyword` stands for, with `REDUX` as a sum.
    pub(crate) fn of_keyword(keyword: &Ident) -> Option<Self> {
        Some(match keyword.to_string().as_str() {
            "R" => Self::Read,
            "W" => Self::Write,
            "RW" => Self::ReadWrite,
            "REDUX" => Self::Reduce(Reduction::Sum),
            "COMMUTE" => Self::Commute,
            "SCRATCH" => Self::Scratch,
            _ => return None,
        })
    }

    /// Whether the kernel receives a mutable view.
    pub(crate) fn is_mutable(self) -> bool {
        self != Self::Read
    }

    /// Whether `_init` creates the array: its old value is not an input.
    pub(crate) fn is_made(self) -> bool {
        matches!(self, Self::Write | Self::Reduce(_))
    }

    /// The corresponding access mode of `dahl`.
    pub(crate) fn expand(self, root: &syn::Path) -> TokenStream {
        let mode = |name: &str| {
            let name = Ident::new(name, Span::call_site());
            quote!(#root::AccessMode::#name)
        };
        match self {
            Self::Reduce(reduction) => {
                let reduction = reduction.expand(root);
                quote!(#root::AccessMode::REDUX(#reduction))
            }
            other => mode(&other.to_string()),
        }
    }
}

impl Reduction {
    /// The corresponding reduction of `dahl`.
    pub(crate) fn expand(self, root: &syn::Path) -> TokenStream {
        match self {
            Self::Sum => quote!(#root::Reduction::Sum),
            Self::Max => quote!(#root::Reduction::Max),
            Self::Min => quote!(#root::Reduction::Min),
            Self::Custom => quote!(#root::Reduction::Custom),
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "R",
            Self::Write => "W",
            Self::ReadWrite => "RW",
            Self::Reduce(Reduction::Sum) => "REDUX",
            Self::Reduce(Reduction::Max) => "REDUX(max)",
            Self::Reduce(Reduction::Min) => "REDUX(min)",
            Self::Reduce(Reduction::Custom) => "REDUX(..)",
            Self::Commute => "COMMUTE",
            Self::Scratch => "SCRATCH",
        })
    }
}
