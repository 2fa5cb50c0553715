//! Shapes: the extents of an array along its axes, the operations on them in the expressions of a declaration, and the
//! layouts of arrays that tasks access.

use std::fmt;

use arrayvec::ArrayVec;
use ndarray::{Dimension, ShapeBuilder, StrideShape};

/// The most axes that an array has.
pub const MAX_RANK: usize = 8;

/// The extents of an array in the expressions of a declaration (`shape(..)`, `check(..)`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Extents<const N: usize>([usize; N]);

/// The extents of an array with a rank that is known only at run time, in `flops = ..` and `bytes = ..`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DynExtents<'a>(&'a [usize]);

impl<const N: usize> Extents<N> {
    /// The extents `shape`.
    #[inline]
    pub const fn new(shape: [usize; N]) -> Self {
        Self(shape)
    }

    /// The extents, one for each axis.
    #[inline]
    pub const fn shape(&self) -> [usize; N] {
        self.0
    }
}

impl<'a> DynExtents<'a> {
    /// The extents `shape`.
    #[inline]
    pub const fn new(shape: &'a [usize]) -> Self {
        Self(shape)
    }

    /// The extents, one for each axis.
    #[inline]
    pub const fn shape(&self) -> &'a [usize] {
        self.0
    }
}

macro_rules! impl_extents {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $type {
            /// The number of elements.
            #[allow(clippy::len_without_is_empty, reason = "named as ndarray's; emptiness is `len() == 0`")]
            #[inline]
            pub fn len(&self) -> usize {
                self.0.iter().product()
            }
        }

        impl<$($generics)*> fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

impl_extents!([const N: usize] Extents<N>);
impl_extents!(['a] DynExtents<'a>);

impl<const N: usize> Extents<N> {
    /// The extent of the first axis. A compile error for rank 0.
    #[inline]
    pub const fn nrows(&self) -> usize {
        const { assert!(N >= 1, "`nrows` needs an array of rank 1 or more") };
        self.0[0]
    }

    /// The extent of the second axis. A compile error for a rank below 2.
    #[inline]
    pub const fn ncols(&self) -> usize {
        const { assert!(N >= 2, "`ncols` needs an array of rank 2 or more") };
        self.0[1]
    }
}

impl DynExtents<'_> {
    /// The extent of the first axis.
    ///
    /// # Panics
    /// If the rank is 0.
    #[inline]
    pub fn nrows(&self) -> usize {
        self.0[0]
    }

    /// The extent of the second axis.
    ///
    /// # Panics
    /// If the rank is below 2.
    #[inline]
    pub fn ncols(&self) -> usize {
        self.0[1]
    }
}

/// A value of `shape(out = EXPR)`: the extents of a parameter, or an array of extents.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape of {N} axes",
    label = "not a shape of {N} axes",
    note = "give the name of a parameter of {N} axes, or an array of {N} extents: `[a.nrows(), b.ncols()]`"
)]
pub trait IntoShape<const N: usize> {
    /// The extents.
    fn into_shape(self) -> [usize; N];
}

impl<const N: usize> IntoShape<N> for Extents<N> {
    fn into_shape(self) -> [usize; N] {
        self.0
    }
}

impl<const N: usize> IntoShape<N> for [usize; N] {
    fn into_shape(self) -> [usize; N] {
        self
    }
}

/// Extents and strides (in elements) of one access of a task.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    rank: u8,
    contiguous: bool,
    extents: [usize; MAX_RANK],
    /// Valid only if not `contiguous`: contiguous strides follow from the extents.
    strides: [isize; MAX_RANK],
    /// The number of elements from the start of the buffer to the first element.
    pub offset: usize,
}

impl Layout {
    /// The layout of a scalar at the start of its buffer.
    pub const EMPTY: Self =
        Self { rank: 0, contiguous: true, extents: [0; MAX_RANK], strides: [0; MAX_RANK], offset: 0 };

    /// Makes this the layout of a whole array in row-major order.
    #[inline]
    pub fn set_contiguous(&mut self, shape: &[usize]) {
        assert!(shape.len() <= MAX_RANK, "an array has at most {MAX_RANK} axes");
        self.rank = shape.len() as u8;
        self.contiguous = true;
        self.offset = 0;
        self.extents[..shape.len()].copy_from_slice(shape);
    }

    /// Makes this equal to `other`, without copying unused entries.
    #[inline]
    pub fn assign(&mut self, other: &Self) {
        (self.rank, self.contiguous, self.offset) = (other.rank, other.contiguous, other.offset);
        self.extents = other.extents;
        if !other.contiguous {
            self.strides = other.strides;
        }
    }

    /// Makes this a layout with the given strides.
    #[inline]
    pub fn set_strided(&mut self, shape: &[usize], strides: &[isize], offset: usize) {
        self.set_contiguous(shape);
        self.offset = offset;
        let row_major = row_major_strides(shape);
        // The stride of an axis of one element is arbitrary.
        self.contiguous = shape.contains(&0)
            || (0..shape.len()).all(|axis| shape[axis] == 1 || strides[axis] == row_major[axis]);
        self.strides[..strides.len()].copy_from_slice(strides);
    }

    /// The layout of `len` indices from `begin` on along `axis`.
    #[inline]
    pub fn part(&self, axis: usize, begin: usize, len: usize) -> Self {
        let strides = self.strides();
        let mut extents: ArrayVec<usize, MAX_RANK> = self.extents().iter().copied().collect();
        extents[axis] = len;
        let mut part = Self::EMPTY;
        part.set_strided(&extents, &strides, self.offset + begin * strides[axis] as usize);
        part
    }

    /// Whether both describe the same elements.
    #[inline]
    pub fn is_same(&self, other: &Self) -> bool {
        let is_same_box = self.extents().iter().eq(other.extents()) && self.offset == other.offset;
        is_same_box && (self.contiguous && other.contiguous || self.strides() == other.strides())
    }

    /// The number of axes.
    #[inline]
    pub fn rank(&self) -> usize {
        usize::from(self.rank)
    }

    /// The extent of each axis.
    #[inline]
    pub fn extents(&self) -> &[usize] {
        &self.extents[..self.rank()]
    }

    /// Whether the elements are contiguous in row-major order.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        self.contiguous
    }

    /// The number of elements.
    #[allow(clippy::len_without_is_empty, reason = "named as ndarray's; emptiness is `len() == 0`")]
    #[inline]
    pub fn len(&self) -> usize {
        self.extents().iter().product()
    }

    /// The layout as ndarray's.
    ///
    /// # Panics
    /// If `D` has another rank.
    #[inline]
    pub fn stride_shape<D: Dimension>(&self) -> StrideShape<D> {
        assert!(D::NDIM.is_none_or(|rank| rank == self.rank()), "the wrapper's rank is the kernel's");
        let mut shape = D::zeros(self.rank());
        shape.slice_mut().copy_from_slice(self.extents());
        if self.contiguous {
            return shape.into();
        }
        let mut strides = D::zeros(self.rank());
        for (stride, &own) in strides.slice_mut().iter_mut().zip(&self.strides) {
            // A part's strides are those of a row-major array, so they are never negative.
            *stride = own as usize;
        }
        shape.strides(strides)
    }

    /// The stride of each axis, in elements.
    #[inline]
    pub fn strides(&self) -> ArrayVec<isize, MAX_RANK> {
        if self.contiguous {
            row_major_strides(self.extents())
        } else {
            self.strides[..self.rank()].iter().copied().collect()
        }
    }
}

/// The strides, in elements, of an array in row-major order.
#[inline]
pub fn row_major_strides(shape: &[usize]) -> ArrayVec<isize, MAX_RANK> {
    let mut strides: ArrayVec<isize, MAX_RANK> = shape.iter().map(|_| 1).collect();
    for axis in (0..shape.len().saturating_sub(1)).rev() {
        strides[axis] = strides[axis + 1] * shape[axis + 1] as isize;
    }
    strides
}

/// The number of elements of `shape`, or none if it exceeds the address space.
#[inline]
pub fn checked_len(shape: &[usize]) -> Option<usize> {
    // A zero extent makes the array empty, however large the others.
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1_usize, |len, &extent| len.checked_mul(extent))
}

/// The shape to which `shapes` broadcast: for each axis the common extent; extents of 1 adapt.
#[inline]
pub fn broadcast_shape<const N: usize>(shapes: impl IntoIterator<Item = [usize; N]>) -> Option<[usize; N]> {
    let mut common = [1; N];
    for shape in shapes {
        for (common, extent) in common.iter_mut().zip(shape) {
            match (*common, extent) {
                (_, 1) => {}
                (1, extent) => *common = extent,
                (common, extent) if common == extent => {}
                _ => return None,
            }
        }
    }
    Some(common)
}
