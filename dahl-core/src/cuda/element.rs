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

/// `size_t axis`, or `dahl::Extents<2> stride`.
#[derive(Clone, Copy, Debug)]
pub struct CudaArgument {
    /// The type of the value, or of its items.
    pub element: CudaElement,
    /// The number of items of an array.
    pub len: Option<usize>,
}

impl CudaElement {
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
    /// The bytes of the value, which are those of its encoding.
    pub fn size_bytes(self, types: &[ElementType]) -> usize {
        self.element.size_bytes(types) * self.len.unwrap_or(1)
    }
}
