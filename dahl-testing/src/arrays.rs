//! [`Arrays`]: a tuple of arrays, made of buffers and read back into them, whole or as strided parts of larger arrays.
#![allow(unsafe_code, reason = "keeps parts beside the arrays that they are parts of")]

use dahl_core::ndarray::Axis;

use super::buffer::Buffer;
use dahl_core::__testing::OwnedArray;
use dahl_core::access::AccessMode;
use dahl_core::codelet::Codelet;
use dahl_core::element::{Element, ElementType};
use dahl_core::{__testing, Array, Result, Runtime};

/// A tuple of arrays `Array<'static, T, N>`.
pub trait Arrays: sealed::Tuple {}

mod sealed {
    use super::{Buffer, ElementType, OwnedArray, Result, Runtime, Surrounding};

    /// The implementation of [`Arrays`](super::Arrays).
    pub trait Tuple: Sized + 'static {
        fn elements() -> Vec<ElementType>;

        fn ranks() -> Vec<usize>;

        fn hold(
            runtime: &Runtime,
            buffers: &[Buffer],
            are_parts: &[bool],
            wholes: &mut Vec<Box<dyn Surrounding>>,
        ) -> Result<Self>;

        fn buffers(&self) -> Result<Vec<Buffer>>;

        fn wholes(&self) -> Vec<Option<OwnedArray>>;
    }
}

/// How arrays lie in memory: each in a buffer of its own, or as a part of a larger array, so that its rows are not
/// contiguous. (Arrays of rank 0 and 1 have no rows; a part of one only has another offset.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// None is a part.
    Whole,
    /// Each is a part.
    Parts,
    /// Those that are only read are parts.
    InputParts,
    /// Those that are written are parts.
    OutputParts,
}

impl Placement {
    /// All placements in which some array is a part.
    pub(super) const IN_PARTS: [Self; 3] = [Self::Parts, Self::InputParts, Self::OutputParts];

    /// Whether an array is a part, depending on whether it is written.
    fn is_part(self, is_written: bool) -> bool {
        match self {
            Self::Whole => false,
            Self::Parts => true,
            Self::InputParts => !is_written,
            Self::OutputParts => is_written,
        }
    }
}

/// The bytes around a part: NaN, so that reading them is noticed.
const AROUND: u8 = 0xFF;

/// Arrays of a tuple, with the larger arrays that they are parts of.
pub(super) struct Held<A> {
    /// The first field, so that it is dropped first.
    pub(super) arrays: A,
    wholes: Vec<Box<dyn Surrounding>>,
}

/// An array of which only a part is used.
pub trait Surrounding {
    /// Whether an element outside of the part has changed.
    fn has_changed(&self) -> Result<bool>;
}

struct Whole<T: Element, const N: usize> {
    array: Array<'static, T, N>,
    axis: usize,
    /// The length of the part along the axis: the second half.
    len: usize,
}

impl<T: Element, const N: usize> Surrounding for Whole<T, N> {
    fn has_changed(&self) -> Result<bool> {
        let elements = self.array.to_vec()?;
        let inner: usize = self.array.shape()[self.axis + 1..].iter().product();
        let around =
            elements.chunks_exact((2 * self.len * inner).max(1)).map(|block| &block[..self.len * inner]);
        Ok(around.flatten().any(|element| bytemuck::bytes_of(element).iter().any(|&byte| byte != AROUND)))
    }
}

/// An array with the content of `buffer`, a part of a larger one if possible.
fn hold<T: Element, const N: usize>(
    runtime: &Runtime,
    buffer: &Buffer,
    is_part: bool,
    wholes: &mut Vec<Box<dyn Surrounding>>,
) -> Result<Array<'static, T, N>> {
    let shape: [usize; N] = buffer.extents.as_slice().try_into().expect("the rank of the array's type");
    let elements = buffer.to_vec::<T>();
    if !is_part || N == 0 || elements.is_empty() {
        return runtime.from_vec(shape, elements);
    }
    let (axis, mut doubled) = (N - 1, shape);
    let len = shape[axis];
    doubled[axis] *= 2;
    let around: T = bytemuck::pod_read_unaligned(&vec![AROUND; size_of::<T>()]);
    let rows = elements.chunks_exact(len);
    let filled = rows.flat_map(|row| std::iter::repeat_n(around, len).chain(row.iter().copied())).collect();
    let mut array = runtime.from_vec(doubled, filled)?;
    // SAFETY: the whole array is moved to `wholes`, which `Held` keeps for longer than the part, and is not used before
    // the part is dropped (`Held::into_changes`).
    let part = unsafe { __testing::static_part(&mut array, Axis(axis), len, 1)? };
    wholes.push(Box::new(Whole { array, axis, len }));
    Ok(part)
}

impl<A: Arrays> Held<A> {
    /// Arrays with the contents of `buffers`, for the parameters of `codelet`.
    pub(super) fn new(
        runtime: &Runtime,
        codelet: &Codelet,
        buffers: &[Buffer],
        placement: Placement,
    ) -> Result<Self> {
        let modes = codelet.parameters.iter().map(|parameter| parameter.mode);
        let are_parts: Vec<bool> = modes
            .filter(|&mode| mode != AccessMode::SCRATCH)
            .map(|mode| placement.is_part(mode.writes()))
            .collect();
        let mut wholes = Vec::new();
        let arrays = A::hold(runtime, buffers, &are_parts, &mut wholes)?;
        Ok(Self { arrays, wholes })
    }

    /// The contents of the arrays, and whether something around them has changed.
    pub(super) fn into_buffers(self) -> Result<(Vec<Buffer>, bool)> {
        // The parts are dropped before the whole arrays, also after an error.
        let Self { wholes, arrays } = self;
        let buffers = arrays.buffers();
        drop(arrays);
        let buffers = buffers?;
        let mut changed = false;
        for whole in wholes {
            changed |= whole.has_changed()?;
        }
        Ok((buffers, changed))
    }
}

macro_rules! impl_arrays {
    ($($element:ident $rank:ident $index:tt),*) => {
        impl<$($element: Element, const $rank: usize),*> Arrays for ($(Array<'static, $element, $rank>,)*) {}

        impl<$($element: Element, const $rank: usize),*> sealed::Tuple for ($(Array<'static, $element, $rank>,)*) {
            fn elements() -> Vec<ElementType> {
                vec![$(ElementType::of::<$element>()),*]
            }

            fn ranks() -> Vec<usize> {
                vec![$($rank),*]
            }

            fn hold(
                runtime: &Runtime,
                buffers: &[Buffer],
                are_parts: &[bool],
                wholes: &mut Vec<Box<dyn Surrounding>>,
            ) -> Result<Self> {
                Ok(($(hold(runtime, &buffers[$index], are_parts[$index], wholes)?,)*))
            }

            fn buffers(&self) -> Result<Vec<Buffer>> {
                Ok(vec![$(Buffer::from_array(&self.$index)?),*])
            }

            fn wholes(&self) -> Vec<Option<OwnedArray>> {
                vec![$(OwnedArray::of(&self.$index)),*]
            }
        }
    };
}

impl_arrays!(A I 0);
impl_arrays!(A I 0, B J 1);
impl_arrays!(A I 0, B J 1, C K 2);
impl_arrays!(A I 0, B J 1, C K 2, D L 3);
impl_arrays!(A I 0, B J 1, C K 2, D L 3, E M 4);
impl_arrays!(A I 0, B J 1, C K 2, D L 3, E M 4, F N 5);
impl_arrays!(A I 0, B J 1, C K 2, D L 3, E M 4, F N 5, G O 6);
impl_arrays!(A I 0, B J 1, C K 2, D L 3, E M 4, F N 5, G O 6, H P 7);
impl_arrays!(A I 0, B J 1, C K 2, D L 3, E M 4, F N 5, G O 6, H P 7, S Q 8);
impl_arrays!(A I 0, B J 1, C K 2, D L 3, E M 4, F N 5, G O 6, H P 7, S Q 8, T R 9);
impl_arrays!(A I 0, B J 1, C K 2, D L 3, E M 4, F N 5, G O 6, H P 7, S Q 8, T R 9, U V 10);
