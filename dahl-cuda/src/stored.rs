//! [`Stored`]: the types of elements and arguments in CUDA.

use std::fmt;

/// A type that elements of arrays and arguments of a kernel can have. A type without a counterpart in CUDA is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    rust: &'static str,
    cuda: &'static str,
}

impl Stored {
    pub(crate) const F16: Self = Self::new("f16", "f16");
    pub(crate) const BF16: Self = Self::new("bf16", "bf16");
    pub(crate) const F32: Self = Self::new("f32", "float");
    pub(crate) const F64: Self = Self::new("f64", "double");
    pub(crate) const BOOL: Self = Self::new("bool", "bool");
    pub(crate) const U8: Self = Self::new("u8", "uint8_t");
    pub(crate) const U32: Self = Self::new("u32", "uint32_t");
    pub(crate) const USIZE: Self = Self::new("usize", "size_t");
    pub(crate) const I32: Self = Self::new("i32", "int32_t");
    pub(crate) const I64: Self = Self::new("i64", "int64_t");
    pub(crate) const ISIZE: Self = Self::new("isize", "ptrdiff_t");
    const ALL: [Self; 15] = [
        Self::F16,
        Self::BF16,
        Self::F32,
        Self::F64,
        Self::BOOL,
        Self::U8,
        Self::new("u16", "uint16_t"),
        Self::U32,
        Self::new("u64", "uint64_t"),
        Self::USIZE,
        Self::new("i8", "int8_t"),
        Self::new("i16", "int16_t"),
        Self::I32,
        Self::I64,
        Self::ISIZE,
    ];

    const fn new(rust: &'static str, cuda: &'static str) -> Self {
        Self { rust, cuda }
    }

    /// The type of this name in Rust, if CUDA has it.
    ///
    /// ```
    /// use dahl_cuda::Stored;
    ///
    /// assert_eq!(Stored::named("u8").map(Stored::cuda), Some("uint8_t"));
    /// assert_eq!(Stored::named("i128"), None);
    /// ```
    pub fn named(rust: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stored| stored.rust == rust)
    }

    /// Its name in Rust.
    pub const fn rust(self) -> &'static str {
        self.rust
    }

    /// Its name in CUDA.
    pub const fn cuda(self) -> &'static str {
        self.cuda
    }
}

/// Its name in Rust.
impl fmt::Display for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rust)
    }
}
