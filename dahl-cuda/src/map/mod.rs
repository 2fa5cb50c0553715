//! Maps in CUDA: translates the body of a map, in the language subset that `#[codelet]` accepts, to the source text of
//! a kernel.
//!
//! `kind` has the kinds of values; `expression` and `statement` translate the body; `function` and `constant` translate
//! those of `Real`; `kernel` writes the surrounding text. A construct that CUDA cannot compute in the same way is a
//! [`Refusal`]: the map gets no CUDA kernel, and the refusal tells the reason.

mod constant;
mod declaration;
mod expression;
mod function;
mod kernel;
mod kind;
mod signature;
mod statement;

use std::sync::OnceLock;

use proc_macro2::Span;
use syn::ItemFn;

use crate::Stored;

pub use declaration::{Declaration, declarations};
pub use signature::Element;

/// A map in CUDA.
#[derive(Debug)]
pub struct Map {
    /// The name of the kernel's function. Entry points append the names of their types: `axpy_f32`.
    pub function: String,
    /// The type parameters, and the types for which there is an entry point.
    pub types: Vec<(String, &'static [Stored])>,
    /// The elements of the inputs, in order, and finally of the output.
    pub elements: Vec<Element>,
    /// The types of the arguments.
    pub arguments: Vec<Element>,
    /// The text of the function of one element, `axpy_element`.
    pub element: String,
    /// The whole text, which includes `map.cuh`.
    pub source: String,
}

/// The reason why a map has no kernel in CUDA, and the place.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The sentence.
    pub message: String,
    /// The expression that it refers to.
    pub span: Span,
}

impl Map {
    /// Translates a map of so many inputs; the parameters after them are plain arguments.
    pub fn translate(function: &ItemFn, inputs: usize) -> Result<Self, Refusal> {
        let signature = signature::Signature::of(function, inputs)?;
        let body = statement::body(&signature, &function.block)?;
        Ok(kernel::write(&signature, &body))
    }

    /// A file name for the compiled form of this text, by its hash.
    pub fn file_stem(source: &str) -> String {
        // FNV-1a, with which the macro hashes declarations.
        fn feed(hash: u64, part: &str) -> u64 {
            let bytes = part.bytes().chain([0]);
            bytes.fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
        }
        // The headers are long, and a crate may have hundreds of maps.
        static OF_HEADERS: OnceLock<u64> = OnceLock::new();
        let of_headers = OF_HEADERS
            .get_or_init(|| [crate::HEADER, crate::MAP_HEADER].into_iter().fold(0xcbf2_9ce4_8422_2325, feed));
        let hash = feed(*of_headers, source);
        format!("map_{hash:016x}")
    }
}

impl Refusal {
    fn new(at: &impl syn::spanned::Spanned, message: impl Into<String>) -> Self {
        Self { message: message.into(), span: at.span() }
    }
}
