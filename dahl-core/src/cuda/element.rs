//! The parameters of a CUDA kernel: [`CudaView`] for arrays, [`CudaArgument`] for plain values, and their types.

use crate::element::ElementType;

/// The type of an array's elements or of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CudaElement {
    /// A type parameter of the kernel, by its index.
    Parameter(usize),
    /// The compute type of a type parameter: `compute_t<T>`.
    Compute(usize),
    /// A type by its name in Rust: `u32`, `usize`.
    Fixed(&'static str),
}

/// A type parameter: its name, and the types by their names in Rust for which the kernel exists.
#[derive(Clone, Copy, Debug)]
pub struct CudaTypeParameter {
    /// `T`.
    pub name: &'static str,
    /// `["f16", "bf16", "f32", "f64"]`.
    pub types: &'static [&'static str],
}

/// `dahl::View<const T, 2>`.
#[derive(Clone, Copy, Debug)]
pub struct CudaView {
    /// Whether the elements may not be written.
    pub is_const: bool,
    /// Their type.
    pub element: CudaElement,
    /// The rank; nothing for `ANY`.
    pub rank: Option<usize>,
}

/// `size_t axis`, `dahl::Extents<2> stride` or `dahl::Extents<ANY> stride`.
#[derive(Clone, Copy, Debug)]
pub struct CudaArgument {
    /// The type of the value, or of its items.
    pub element: CudaElement,
    /// Whether it is an array, and of how many items.
    pub len: CudaLen,
}

/// How many values an argument consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CudaLen {
    /// One value.
    One,
    /// An array of so many.
    Items(usize),
    /// An array, of which the declaration has a constant parameter as length: at most 8, and as many as every
    /// other such argument of the kernel has.
    Any,
}

/// The most items of an argument of any length, which `dahl.cuh` calls `MAX_RANK`.
pub(crate) const MAX_ITEMS: usize = 8;

impl CudaElement {
    /// The name in Rust of the type, with these types for the type parameters.
    pub(crate) fn name(self, types: &[ElementType]) -> &'static str {
        match self {
            Self::Parameter(index) => types[index].name,
            Self::Compute(index) => compute_type(types[index].name),
            Self::Fixed(name) => name,
        }
    }

    /// The bytes of a value, with these types for the type parameters.
    pub(super) fn size_bytes(self, types: &[ElementType]) -> usize {
        match self {
            Self::Parameter(index) => types[index].size_bytes,
            Self::Compute(index) if compute_type(types[index].name) == "f32" => 4,
            Self::Compute(index) => types[index].size_bytes,
            Self::Fixed(name) => match name {
                "bool" | "u8" | "i8" => 1,
                "u16" | "i16" | "f16" | "bf16" => 2,
                "u32" | "i32" | "f32" => 4,
                _ => 8,
            },
        }
    }
}

/// The type in which kernels compute with numbers of the type of this name.
pub(super) const fn compute_type(name: &'static str) -> &'static str {
    match name.as_bytes() {
        b"f16" | b"bf16" => "f32",
        _ => name,
    }
}

impl CudaArgument {
    /// The bytes of its encoding, if arguments of any length have so many items.
    fn size_bytes(self, types: &[ElementType], items: usize) -> usize {
        let len = match self.len {
            CudaLen::One => 1,
            CudaLen::Items(len) => len,
            CudaLen::Any => items,
        };
        self.element.size_bytes(types) * len
    }
}

/// Splits the encodings of a kernel's arguments, which follow each other.
///
/// # Panics
/// If they are not those of such arguments.
pub(super) fn split<'e>(
    arguments: &[CudaArgument],
    types: &[ElementType],
    encoded: &'e [u8],
) -> Vec<&'e [u8]> {
    let size_bytes =
        |items| arguments.iter().map(|argument| argument.size_bytes(types, items)).sum::<usize>();
    // Every further item makes the encodings so much longer.
    let each = size_bytes(1) - size_bytes(0);
    let items = encoded.len().saturating_sub(size_bytes(0)).checked_div(each).unwrap_or(0);
    assert!(
        items <= MAX_ITEMS && encoded.len() == size_bytes(items),
        "{} bytes are no encoding of {arguments:?}",
        encoded.len()
    );
    let mut rest = encoded;
    let one = |argument: &CudaArgument| {
        let (bytes, others) = rest.split_at(argument.size_bytes(types, items));
        rest = others;
        bytes
    };
    arguments.iter().map(one).collect()
}
