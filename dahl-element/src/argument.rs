//! [`Argument`]: the plain values that a task carries beside its arrays, and [`ArgumentLayout`]: how kernels in other
//! languages take them.

use std::fmt::Debug;

/// A plain value that can be an argument of a codelet: it can be printed, stored as bytes, replayed, and passed to a
/// device.
///
/// The encoding of a struct is that of its fields, one after the other, without the padding of its layout: equal values have
/// equal bytes, and a kernel in C or CUDA takes the fields one by one. `#[derive(Argument)]` implements the trait for a
/// `#[repr(C)]` struct whose fields are arguments, and for an enum without fields that is `#[repr(u8)]` or another integer.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an argument of tasks",
    label = "not plain data",
    note = "arguments are numbers, `bool`, arrays of arguments, and `#[repr(C)]` structs and `#[repr(u8)]` enums with `#[derive(Clone, Copy, Debug, Argument)]`"
)]
pub trait Argument: Copy + Debug + Send + Sync + 'static {
    /// Bytes of the encoding.
    const SIZE_BYTES: usize = size_of::<Self>();

    /// The parameters of a kernel in C or CUDA for it. By default, such kernels cannot take it.
    const LAYOUT: ArgumentLayout = ArgumentLayout::Opaque;

    /// Writes the encoding into `bytes`, which are [`SIZE_BYTES`](Argument::SIZE_BYTES) long.
    fn encode(self, bytes: &mut [u8]);

    /// Reads the value that [`encode`](Argument::encode) wrote.
    fn decode(bytes: &[u8]) -> Self;
}

/// The parameters of a kernel in C or CUDA for one argument, in order.
///
/// A kernel takes the fields of a struct one by one, as if each were an argument: `Window { size: [3, 3], stride: [1, 1] }`
/// as `dahl::Extents<2> size, dahl::Extents<2> stride`.
#[derive(Clone, Copy, Debug)]
pub enum ArgumentLayout {
    /// Such a kernel cannot take it.
    Opaque,
    /// One value, of the type with this name in Rust. An enum is a value of its integer type.
    Value(&'static str),
    /// An array of so many values.
    Array(&'static ArgumentLayout, usize),
    /// The fields of a struct, in order.
    Fields(&'static [ArgumentLayout]),
}

/// Stands for the length of an array that a declaration's constant parameter gives, where the declaration is compared with
/// a kernel: for the first of several parameters, and the numbers above for the others. No argument is so long.
pub const ANY_LEN: usize = 1 << 20;

/// An argument of a declaration, to be compared with the parameters of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredArgument<'a> {
    /// Its type, as written.
    pub written: &'a str,
    /// Its layout, unless the layout depends on type parameters.
    pub layout: Option<ArgumentLayout>,
}

impl<'a> DeclaredArgument<'a> {
    /// An argument of a type that depends on type parameters: its name is compared.
    pub const fn named(written: &'a str) -> Self {
        Self { written, layout: None }
    }

    /// An argument of type `A`.
    pub const fn of<A: Argument>(written: &'a str) -> Self {
        Self { written, layout: Some(A::LAYOUT) }
    }

    /// The fields of a struct.
    pub const fn fields(self) -> Option<&'static [ArgumentLayout]> {
        match self.layout {
            Some(ArgumentLayout::Fields(fields)) => Some(fields),
            _ => None,
        }
    }
}

macro_rules! impl_argument_number {
    ($($number:ident: $path:ty),*) => {$(
        impl Argument for $path {
            const LAYOUT: ArgumentLayout = ArgumentLayout::Value(stringify!($number));

            #[inline]
            fn encode(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_ne_bytes());
            }

            #[inline]
            fn decode(bytes: &[u8]) -> Self {
                Self::from_ne_bytes(bytes.try_into().expect("an argument is decoded from its own bytes"))
            }
        }
    )*};
}

impl_argument_number!(
    u8: u8, u16: u16, u32: u32, u64: u64, usize: usize, i8: i8, i16: i16, i32: i32, i64: i64, isize: isize,
    f32: f32, f64: f64, f16: half::f16, bf16: half::bf16
);

impl Argument for bool {
    const LAYOUT: ArgumentLayout = ArgumentLayout::Value("bool");

    #[inline]
    fn encode(self, bytes: &mut [u8]) {
        bytes[0] = u8::from(self);
    }

    #[inline]
    fn decode(bytes: &[u8]) -> Self {
        bytes[0] != 0
    }
}

impl<A: Argument, const LENGTH: usize> Argument for [A; LENGTH] {
    const SIZE_BYTES: usize = LENGTH * A::SIZE_BYTES;

    const LAYOUT: ArgumentLayout = ArgumentLayout::Array(&A::LAYOUT, LENGTH);

    #[inline]
    fn encode(self, bytes: &mut [u8]) {
        for (i, value) in self.into_iter().enumerate() {
            value.encode(&mut bytes[i * A::SIZE_BYTES..(i + 1) * A::SIZE_BYTES]);
        }
    }

    #[inline]
    fn decode(bytes: &[u8]) -> Self {
        std::array::from_fn(|i| A::decode(&bytes[i * A::SIZE_BYTES..(i + 1) * A::SIZE_BYTES]))
    }
}
