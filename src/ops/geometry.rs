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
    /// How far the kernel moves between two positions.
    pub stride: [usize; 2],
    /// Zeros around the image, on both sides.
    pub padding: [usize; 2],
}

/// The kernel moves by one, without padding.
impl Default for Conv2dGeometry {
    fn default() -> Self {
        Self { stride: [1; 2], padding: [0; 2] }
    }
}

impl Conv2dGeometry {
    /// How far the kernel moves between two positions: 1 if nothing is said.
    pub const fn stride(mut self, stride: [usize; 2]) -> Self {
        self.stride = stride;
        self
    }

    /// Zeros around the image, on both sides: none if nothing is said.
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
    /// How far the window moves between two positions.
    pub stride: [usize; 2],
    /// What surrounds the image, on both sides: at most half of the window.
    pub padding: [usize; 2],
}

impl Pool2dGeometry {
    /// A window that moves by its own size, without padding.
    pub const fn new(size: [usize; 2]) -> Self {
        Self { size, stride: size, padding: [0; 2] }
    }

    /// How far the window moves between two positions: its own size if nothing is said.
    pub const fn stride(mut self, stride: [usize; 2]) -> Self {
        self.stride = stride;
        self
    }

    /// What surrounds the image, on both sides: nothing if nothing is said.
    pub const fn padding(mut self, padding: [usize; 2]) -> Self {
        self.padding = padding;
        self
    }
}

/// How the kernel of a convolution that moves by one, and then a window of pooling that moves by its own size, move over
/// an image.
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

    /// Zeros around the image, on both sides: none if nothing is said.
    pub const fn padding(mut self, padding: [usize; 2]) -> Self {
        self.padding = padding;
        self
    }
}
