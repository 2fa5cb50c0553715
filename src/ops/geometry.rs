//! How a kernel or a window moves over an image: [`Conv2dGeometry`], [`Pool2dGeometry`] and [`Conv2dPoolGeometry`]. All
//! extents are `[rows, cols]`.

use dahl::prelude::*;

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
