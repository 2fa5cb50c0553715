//! [`Convolution`]: a two-dimensional convolution, or one of its gradients, in the form that cuDNN expects.
//!
//! cuDNN's convolutions have three arrays: images, filters and outputs. Each direction computes one of the three from
//! the other two, so one description serves all of them.

use dahl_element::element::{Element, Real};

use super::precision::Precision;
use super::refusal::CudaCallError;
use super::view::CudaArray;

/// Which of the three arrays is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The output.
    Forward,
    /// The gradient by the input.
    BackwardData,
    /// The gradient by the filters.
    BackwardFilter,
}

/// A convolution of arrays on a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Convolution {
    /// All but where the arrays are.
    pub shape: ConvolutionShape,
    /// Of the input, the filters and the output.
    pub addresses: [u64; 3],
    /// By what the elements of the array that is computed are multiplied before the result is added to them; 0: they are of no meaning.
    pub beta: f64,
}

/// What is known of a convolution without its elements: by this, algorithms are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConvolutionShape {
    /// Which of the three arrays is computed.
    pub direction: Direction,
    /// Of all three arrays.
    pub element: Precision,
    /// In what sums are, and the type of `beta`.
    pub compute: Precision,
    /// `[batch, channels, rows, cols]`.
    pub input: TensorShape,
    /// `[out_channels, in_channels, rows, cols]`, contiguous.
    pub filters: TensorShape,
    /// `[batch, channels, rows, cols]`.
    pub output: TensorShape,
    /// `[rows, cols]`.
    pub stride: [i32; 2],
    /// `[rows, cols]`, on both sides.
    pub padding: [i32; 2],
}

/// Extents and strides, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TensorShape {
    /// The extents.
    pub extents: [i32; 4],
    /// The strides.
    pub strides: [i32; 4],
}

/// An array of a convolution, of any type of elements.
#[derive(Clone, Copy, Debug)]
pub struct Tensor {
    address: u64,
    extents: [usize; 4],
    strides: [isize; 4],
    element: &'static str,
    precision: Option<Precision>,
}

impl Tensor {
    /// Where an array is, and how it lies there.
    pub fn of<T: Element>(array: CudaArray<'_, T, 4>) -> Self {
        let (address, extents, strides) = (array.address(), array.extents(), array.strides());
        Self { address, extents, strides, element: T::NAME, precision: Precision::of::<T>() }
    }

    /// As cuDNN takes it: not more than 2^31 elements from the first to the last, none of them twice.
    fn shape(&self) -> Result<TensorShape, CudaCallError> {
        let mut strides = self.strides;
        // The elements that the axes behind span, and from where on the next axis may step.
        let mut span: i128 = 1;
        for axis in (0..4).rev() {
            let extent = self.extents[axis] as i128;
            if extent == 1 {
                // An axis of one element has a stride, but nobody goes along it: that of a contiguous array is right.
                strides[axis] = isize::try_from(span).unwrap_or(isize::MAX);
            } else if (strides[axis] as i128) < span {
                return unsupported(&format!("an array with strides of {:?}", self.strides));
            }
            span += (extent - 1) * strides[axis] as i128;
        }
        if span > i128::from(i32::MAX) {
            return unsupported(&format!("an array of {:?}: more than 2^31 elements", self.extents));
        }
        let narrow = |number: i128| i32::try_from(number).expect("no more than the span");
        Ok(TensorShape {
            extents: self.extents.map(|extent| narrow(extent as i128)),
            strides: strides.map(|stride| narrow(stride as i128)),
        })
    }
}

impl TensorShape {
    fn is_contiguous(&self) -> bool {
        let [_, channels, rows, cols] = self.extents.map(i64::from);
        self.strides.map(i64::from) == [channels * rows * cols, rows * cols, cols, 1]
    }
}

impl Convolution {
    /// The convolution of `input` with `filters`, which gives `output`: the one of them that `direction` says from the others.
    ///
    /// # Errors
    /// `Unsupported`, if cuDNN has no such convolution.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn new<T: Real>(
        direction: Direction,
        [input, filters, output]: [Tensor; 3],
        beta: f64,
        stride: [usize; 2],
        padding: [usize; 2],
    ) -> Result<Self, CudaCallError> {
        let all = [input, filters, output];
        if all.iter().any(|tensor| tensor.extents.contains(&0)) {
            return unsupported("a convolution of nothing");
        }
        assert!(
            expected(input.extents, filters.extents, stride, padding) == Some(output.extents),
            "a convolution of {:?} with {:?}, in steps of {stride:?} with a padding of {padding:?}, is not of shape {:?}",
            input.extents,
            filters.extents,
            output.extents
        );
        let (Some(element), Some(compute)) = (Precision::of::<T>(), Precision::of::<T::Compute>()) else {
            return unsupported(&format!("a convolution of {}", T::NAME));
        };
        if all.iter().any(|tensor| tensor.precision != Some(element)) {
            let types = all.map(|tensor| tensor.element).join(", ");
            return unsupported(&format!("arrays of different types ({types})"));
        }
        let addresses = all.map(|tensor| tensor.address);
        let [input, filters, output] = [input.shape()?, filters.shape()?, output.shape()?];
        if !filters.is_contiguous() {
            return unsupported(&format!("filters with strides of {:?}", filters.strides));
        }
        let narrow = |number: usize| i32::try_from(number);
        let [Ok(down), Ok(right), Ok(above), Ok(left)] =
            [stride[0], stride[1], padding[0], padding[1]].map(narrow)
        else {
            return unsupported("steps or a padding of more than 2^31");
        };
        let (stride, padding) = ([down, right], [above, left]);
        let shape = ConvolutionShape { direction, element, compute, input, filters, output, stride, padding };
        Ok(Self { shape, addresses, beta })
    }
}

/// The extents of a convolution's output, if the filters fit.
fn expected(
    input: [usize; 4],
    filters: [usize; 4],
    stride: [usize; 2],
    padding: [usize; 2],
) -> Option<[usize; 4]> {
    let positions = |axis: usize| {
        let padded = padding[axis].checked_mul(2)?.checked_add(input[axis + 2])?;
        Some(padded.checked_sub(filters[axis + 2])?.checked_div(stride[axis])? + 1)
    };
    (input[1] == filters[1]).then_some(())?;
    Some([input[0], filters[0], positions(0)?, positions(1)?])
}

fn unsupported<R>(what: &str) -> Result<R, CudaCallError> {
    Err(CudaCallError::Unsupported(format!("cuDNN does not have this: {what}")))
}

#[cfg(test)]
mod tests {
    use dahl_element::element::{Element, Real};
    use half::bf16;

    use super::super::view::at;
    use super::{Convolution, CudaCallError, Direction, Precision, Tensor};

    fn tensor<T: Element>(address: u64, extents: [usize; 4]) -> Tensor {
        let [_, channels, rows, cols] = extents.map(|extent| extent as isize);
        strided::<T>(address, extents, [channels * rows * cols, rows * cols, cols, 1])
    }

    fn strided<T: Element>(address: u64, extents: [usize; 4], strides: [isize; 4]) -> Tensor {
        Tensor::of(at::<T, 4>(address, extents, strides))
    }

    fn forward<T: Real>(tensors: [Tensor; 3], stride: [usize; 2]) -> Result<Convolution, CudaCallError> {
        Convolution::new::<T>(Direction::Forward, tensors, 0.0, stride, [1, 0])
    }

    fn refused<T: Real>(tensors: [Tensor; 3]) -> String {
        let refused = forward::<T>(tensors, [1, 1]).expect_err("cuDNN does not have it");
        assert!(matches!(refused, CudaCallError::Unsupported(_)), "{refused}");
        refused.to_string()
    }

    const INPUT: [usize; 4] = [2, 3, 6, 5];
    const FILTERS: [usize; 4] = [4, 3, 3, 2];
    const OUTPUT: [usize; 4] = [2, 4, 6, 4];

    #[test]
    fn extents_strides_and_types() {
        let tensors = [tensor::<bf16>(1, INPUT), tensor::<bf16>(2, FILTERS), tensor::<bf16>(3, [2, 4, 3, 2])];
        let found = forward::<bf16>(tensors, [2, 3]).expect("it can be said");
        assert_eq!(found.addresses, [1, 2, 3]);
        assert_eq!((found.shape.element, found.shape.compute), (Precision::Bf16, Precision::F32));
        assert_eq!(found.shape.input.extents, [2, 3, 6, 5]);
        assert_eq!(found.shape.input.strides, [90, 30, 5, 1]);
        assert_eq!((found.shape.stride, found.shape.padding), ([2, 3], [1, 0]));
    }

    #[test]
    fn axes_of_one_element_have_the_strides_of_contiguous_arrays() {
        let input = strided::<f32>(1, [1, 3, 1, 5], [7, 10, -3, 2]);
        let tensors = [input, tensor::<f32>(2, [4, 3, 1, 2]), tensor::<f32>(3, [1, 4, 3, 4])];
        let found = forward::<f32>(tensors, [1, 1]).expect("it can be said");
        assert_eq!(found.shape.input.strides, [29, 10, 9, 2]);
    }

    #[test]
    fn what_cudnn_cannot_say_is_refused() {
        let [input, filters, output] =
            [tensor::<f32>(1, INPUT), tensor::<f32>(2, FILTERS), tensor::<f32>(3, OUTPUT)];
        assert!(forward::<f32>([input, filters, output], [1, 1]).is_ok());
        for strides in [[0, 30, 5, 1], [90, 30, -5, 1], [90, 30, 4, 1], [90, 30, 5, 0]] {
            let said = refused::<f32>([strided::<f32>(1, INPUT, strides), filters, output]);
            assert!(said.contains("strides"), "{said}");
        }
        let turned = strided::<f32>(2, FILTERS, [36, 12, 4, 2]);
        assert!(refused::<f32>([input, turned, output]).contains("filters with strides"));
        let nothing = [tensor::<f32>(1, [0, 3, 6, 5]), filters, tensor::<f32>(3, [0, 4, 6, 4])];
        assert!(refused::<f32>(nothing).contains("nothing"));
        let large = [tensor::<f32>(1, [1 << 28, 3, 6, 5]), filters, tensor::<f32>(3, [1 << 28, 4, 6, 4])];
        assert!(refused::<f32>(large).contains("2^31"));
        let mixed = [tensor::<bf16>(1, INPUT), filters, tensor::<bf16>(3, OUTPUT)];
        assert!(refused::<bf16>(mixed).contains("(bf16, f32, bf16)"));
    }

    #[test]
    #[should_panic(expected = "is not of shape [2, 4, 5, 4]")]
    fn shapes_have_to_fit() {
        let tensors = [tensor::<f32>(1, INPUT), tensor::<f32>(2, FILTERS), tensor::<f32>(3, [2, 4, 5, 4])];
        drop(forward::<f32>(tensors, [1, 1]));
    }
}
