//! How a kernel or a window moves over an image: [`Conv2dGeometry`], [`Pool2dGeometry`] and [`Conv2dPoolGeometry`],
//! whose extents are `[rows, cols]`; and over any number of axes: [`ConvolutionGeometry`], [`PoolGeometry`].

use dahl::prelude::*;

/// The spatial extents of `[batch, channels, ..spatial]`; 0 for axes that are not there.
pub(super) fn spatial<const D: usize>(shape: &[usize]) -> [usize; D] {
    std::array::from_fn(|axis| shape.get(axis + 2).copied().unwrap_or(0))
}

/// `[batch, channels, ..spatial]` for an array `[batch, channels, ..]`; extents of 0 if it has another number of axes.
pub(super) fn with_spatial<const N: usize, const D: usize>(
    shape: [usize; N],
    spatial: [usize; D],
) -> [usize; N] {
    let is_ranked = N == D + 2;
    std::array::from_fn(|axis| match axis {
        0 | 1 if is_ranked => shape[axis],
        _ if is_ranked => spatial[axis - 2],
        _ => 0,
    })
}

/// How the kernel of a convolution moves over an image.
///
/// ```
/// use dahl::ops::Conv2dGeometry;
///
/// let geometry = Conv2dGeometry::default().padding([1, 1]);
/// assert_eq!((geometry.stride, geometry.padding), ([1, 1], [1, 1]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Argument)]
#[repr(C)]
pub struct Conv2dGeometry {
    /// The stride of the kernel.
    pub stride: [usize; 2],
    /// Zeros around the image, on both sides.
    pub padding: [usize; 2],
}

/// Stride 1, without padding.
impl Default for Conv2dGeometry {
    fn default() -> Self {
        Self { stride: [1; 2], padding: [0; 2] }
    }
}

impl Conv2dGeometry {
    /// Sets the stride of the kernel; the default is 1.
    pub const fn stride(mut self, stride: [usize; 2]) -> Self {
        self.stride = stride;
        self
    }

    /// Sets the zeros around the image, on both sides; the default is none.
    pub const fn padding(mut self, padding: [usize; 2]) -> Self {
        self.padding = padding;
        self
    }
}

/// How a window of pooling moves over an image.
///
/// ```
/// use dahl::ops::Pool2dGeometry;
///
/// let overlapping = Pool2dGeometry::new([3, 3]).stride([2, 2]).padding([1, 1]);
/// assert_eq!(overlapping.size, [3, 3]);
/// assert_eq!(Pool2dGeometry::new([2, 2]).stride, [2, 2]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Argument)]
#[repr(C)]
pub struct Pool2dGeometry {
    /// The extents of the window.
    pub size: [usize; 2],
    /// The stride of the window.
    pub stride: [usize; 2],
    /// The padding around the image, on both sides: at most half of the window.
    pub padding: [usize; 2],
}

impl Pool2dGeometry {
    /// A window whose stride is its size, without padding.
    pub const fn new(size: [usize; 2]) -> Self {
        Self { size, stride: size, padding: [0; 2] }
    }

    /// Sets the stride of the window; the default is its size.
    pub const fn stride(mut self, stride: [usize; 2]) -> Self {
        self.stride = stride;
        self
    }

    /// Sets the padding around the image, on both sides; the default is none.
    pub const fn padding(mut self, padding: [usize; 2]) -> Self {
        self.padding = padding;
        self
    }
}

/// How the kernel of a convolution with stride 1, followed by a pooling window whose stride is its size, moves over an
/// image.
///
/// ```
/// use dahl::ops::Conv2dPoolGeometry;
///
/// let geometry = Conv2dPoolGeometry::new([2, 2]).padding([1, 1]);
/// assert_eq!((geometry.size, geometry.padding), ([2, 2], [1, 1]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Argument)]
#[repr(C)]
pub struct Conv2dPoolGeometry {
    /// Zeros around the image, on both sides.
    pub padding: [usize; 2],
    /// The extents of the window.
    pub size: [usize; 2],
}

impl Conv2dPoolGeometry {
    /// A window of this size, without padding of the convolution.
    pub const fn new(size: [usize; 2]) -> Self {
        Self { padding: [0; 2], size }
    }

    /// Sets the zeros around the image, on both sides; the default is none.
    pub const fn padding(mut self, padding: [usize; 2]) -> Self {
        self.padding = padding;
        self
    }
}

/// How the kernel of a convolution moves over `D` spatial axes.
///
/// ```
/// use dahl::ops::ConvolutionGeometry;
///
/// let geometry = ConvolutionGeometry::default().stride([2, 1, 1]).dilation([1, 2, 2]).groups(4);
/// assert_eq!((geometry.padding, geometry.groups), ([0; 3], 4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Argument)]
#[repr(C)]
pub struct ConvolutionGeometry<const D: usize> {
    /// The stride of the kernel.
    pub stride: [usize; D],
    /// Zeros before and after the input, along each axis.
    pub padding: [usize; D],
    /// The distance of the kernel's elements.
    pub dilation: [usize; D],
    /// Groups of adjacent channels, each of which is convolved alone; with as many as channels, the convolution is
    /// depthwise.
    pub groups: usize,
}

/// Stride 1 and dilation 1, one group, without padding.
impl<const D: usize> Default for ConvolutionGeometry<D> {
    fn default() -> Self {
        Self { stride: [1; D], padding: [0; D], dilation: [1; D], groups: 1 }
    }
}

impl<const D: usize> ConvolutionGeometry<D> {
    /// Sets the stride of the kernel; the default is 1.
    pub const fn stride(mut self, stride: [usize; D]) -> Self {
        self.stride = stride;
        self
    }

    /// Sets the zeros before and after the input; the default is none.
    pub const fn padding(mut self, padding: [usize; D]) -> Self {
        self.padding = padding;
        self
    }

    /// Sets the distance of the kernel's elements; the default is 1.
    pub const fn dilation(mut self, dilation: [usize; D]) -> Self {
        self.dilation = dilation;
        self
    }

    /// Sets the number of groups of channels; the default is one.
    pub const fn groups(mut self, groups: usize) -> Self {
        self.groups = groups;
        self
    }
}

/// How a window of pooling moves over `D` spatial axes.
///
/// ```
/// use dahl::ops::PoolGeometry;
///
/// let overlapping = PoolGeometry::new([3, 3]).stride([2, 2]).padding([1, 1]).ceil();
/// assert_eq!((overlapping.size, overlapping.count_padding), ([3, 3], true));
/// assert_eq!(PoolGeometry::new([2]).stride, [2]);
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Argument)]
pub struct PoolGeometry<const D: usize> {
    /// The extents of the window.
    pub size: [usize; D],
    /// The stride of the window.
    pub stride: [usize; D],
    /// The padding before and after the input, along each axis.
    pub padding: [usize; D],
    /// The distance of the window's elements.
    pub dilation: [usize; D],
    /// Whether a window may end beyond the padding, as long as it begins on the input or before it.
    pub ceil: bool,
    /// Whether padding counts as zeros in a mean. What lies beyond the padding never counts.
    pub count_padding: bool,
}

impl<const D: usize> PoolGeometry<D> {
    /// A window whose stride is its size, without padding and dilation.
    pub const fn new(size: [usize; D]) -> Self {
        Self { size, stride: size, padding: [0; D], dilation: [1; D], ceil: false, count_padding: true }
    }

    /// Sets the stride of the window; the default is its size.
    pub const fn stride(mut self, stride: [usize; D]) -> Self {
        self.stride = stride;
        self
    }

    /// Sets the padding before and after the input; the default is none.
    pub const fn padding(mut self, padding: [usize; D]) -> Self {
        self.padding = padding;
        self
    }

    /// Sets the distance of the window's elements; the default is 1.
    pub const fn dilation(mut self, dilation: [usize; D]) -> Self {
        self.dilation = dilation;
        self
    }

    /// Rounds the number of positions up: windows may end beyond the padding, as long as they begin on the input or
    /// before it.
    pub const fn ceil(mut self) -> Self {
        self.ceil = true;
        self
    }

    /// Leaves padding out of means; by default it counts as zeros.
    pub const fn without_padding(mut self) -> Self {
        self.count_padding = false;
        self
    }
}
