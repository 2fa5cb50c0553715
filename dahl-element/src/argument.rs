//! [`Argument`]: the plain values that a task carries beside its arrays.

use std::fmt::Debug;

/// A plain value that can be an argument of a codelet: printed, stored as bytes, replayed, passed to a device.
///
/// The encoding is the value's C layout with padding set to zero, so it is the same each time. `#[derive(Argument)]`
/// implements it for a `#[repr(C)]` struct whose fields are arguments.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an argument of tasks",
    label = "not plain data",
    note = "arguments are numbers, `bool`, arrays of arguments, and `#[repr(C)]` structs with `#[derive(Clone, Copy, Debug, Argument)]`"
)]
pub trait Argument: Copy + Debug + Send + Sync + 'static {
    /// Bytes of the encoding.
    const SIZE_BYTES: usize = size_of::<Self>();

    /// Writes the encoding into `bytes`, which are [`SIZE_BYTES`](Argument::SIZE_BYTES) long.
    fn encode(self, bytes: &mut [u8]);

    /// Reads back what [`encode`](Argument::encode) wrote.
    fn decode(bytes: &[u8]) -> Self;
}

macro_rules! impl_argument_number {
    ($($number:ty),*) => {$(
        impl Argument for $number {
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

impl_argument_number!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, f32, f64, half::f16, half::bf16);

impl Argument for bool {
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
    #[inline]
    fn encode(self, bytes: &mut [u8]) {
        for (i, value) in self.into_iter().enumerate() {
            value.encode(&mut bytes[i * size_of::<A>()..(i + 1) * size_of::<A>()]);
        }
    }

    #[inline]
    fn decode(bytes: &[u8]) -> Self {
        std::array::from_fn(|i| A::decode(&bytes[i * size_of::<A>()..(i + 1) * size_of::<A>()]))
    }
}
