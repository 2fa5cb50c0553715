//! [`Buffer`]: the elements of an array whose element type is not known at compile time.

use half::{bf16, f16};

use super::digits::number;
use dahl_core::__testing::OwnedArray;
use dahl_core::element::{Element, ElementType, Real, to_f64};
use dahl_core::error::Result;
use dahl_core::print::Printed;
use dahl_core::{AnyArray, Runtime};

/// Elements in row-major order, and the shape.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub(super) element: ElementType,
    pub(super) extents: Vec<usize>,
    pub(super) bytes: Vec<u8>,
}

/// Evaluates `$body` with `$ty` as the element type, or `$otherwise` for a type of another crate.
macro_rules! with_type {
    ($element:expr, $ty:ident => $body:expr, otherwise $otherwise:expr) => {
        with_type!(@ $element, $ty, $body, $otherwise; f16, bf16, f32, f64, u8, u32, i32, i64)
    };
    (@ $element:expr, $ty:ident, $body:expr, $otherwise:expr; $($known:ty),*) => {
        $(if $element.is::<$known>() {
            type $ty = $known;
            $body
        } else)* {
            $otherwise
        }
    };
}

/// The nearest value of another type.
trait Nearest {
    fn nearest(value: f64) -> Self;
}

macro_rules! nearest {
    ($($real:ty),*; $($integer:ty),*) => {
        $(impl Nearest for $real {
            fn nearest(value: f64) -> Self {
                <$real as Real>::from_f64(value)
            }
        })*
        $(impl Nearest for $integer {
            fn nearest(value: f64) -> Self {
                value as $integer
            }
        })*
    };
}

nearest!(f16, bf16, f32, f64; u8, u32, i32, i64);

impl Buffer {
    /// The nearest numbers of the element type.
    ///
    /// # Panics
    /// If the element type is of another crate.
    pub(super) fn of(element: ElementType, extents: Vec<usize>, values: &[f64]) -> Self {
        let bytes = with_type!(element, T => {
            let values: Vec<T> = values.iter().map(|&value| T::nearest(value)).collect();
            bytemuck::cast_slice(&values).to_vec()
        }, otherwise panic!("numbers of {} cannot be drawn", element.name));
        Self { element, extents, bytes }
    }

    /// All zero.
    pub(super) fn zeros(element: ElementType, extents: Vec<usize>) -> Self {
        let len: usize = extents.iter().product();
        Self { element, extents, bytes: vec![0; len * element.size_bytes] }
    }

    /// The content of an array.
    pub(super) fn from_array(array: &dyn AnyArray) -> Result<Self> {
        Ok(Self { element: array.element(), extents: array.extents(), bytes: array.bytes()? })
    }

    /// The content of an array under a tape.
    ///
    /// # Panics
    /// If the element type is of another crate.
    pub(super) fn from_whole(array: &OwnedArray, extents: Vec<usize>) -> Result<Self> {
        let element = array.element();
        let bytes = with_type!(element, T => {
            bytemuck::cast_slice(&array.to_vec::<T>()?).to_vec()
        }, otherwise panic!("elements of {} cannot be read", element.name));
        Ok(Self { element, extents, bytes })
    }

    /// An array of rank 1 with these elements.
    ///
    /// # Panics
    /// If the element type is of another crate.
    pub(super) fn to_whole(&self, runtime: &Runtime) -> Result<OwnedArray> {
        with_type!(self.element, T => {
            let array = runtime.from_vec([self.len()], self.to_vec::<T>())?;
            Ok(OwnedArray::of(&array).expect("a new array is whole"))
        }, otherwise panic!("elements of {} cannot be written", self.element.name))
    }

    /// The elements as a vector of their type.
    pub(super) fn to_vec<T: Element>(&self) -> Vec<T> {
        debug_assert!(self.element.is::<T>());
        elements(&self.bytes)
    }

    /// The number of elements.
    pub(super) fn len(&self) -> usize {
        self.extents.iter().product()
    }

    /// The elements in `f64`; NaN for a type of another crate.
    pub(super) fn values(&self) -> Vec<f64> {
        with_type!(self.element, T => {
            self.to_vec::<T>().into_iter().map(|value| to_f64(value).unwrap_or(f64::NAN)).collect()
        }, otherwise vec![f64::NAN; self.len()])
    }

    /// Element `i` in the fewest digits that distinguish it from its neighbours.
    pub(super) fn text(&self, i: usize) -> String {
        with_type!(self.element, T => {
            let value = self.to_vec::<T>()[i];
            let exact = to_f64(value).unwrap_or(f64::NAN);
            // The shortest decimal that reads back as the element.
            (1..=17)
                .map(|digits| format!("{exact:.*e}", digits - 1))
                .find(|text| text.parse().is_ok_and(|parsed| T::nearest(parsed) == value))
                .and_then(|text| text.parse().ok())
                .map_or_else(|| format!("{exact}"), |shortest| number(shortest, &[]))
        }, otherwise format!("{:?}", self.bytes_of(i)))
    }

    /// All elements, aligned; long arrays without their middle.
    pub(super) fn printed(&self) -> String {
        /// The most digits of any element.
        const DIGITS: usize = 17;
        /// The most elements that are printed.
        const ELEMENTS: usize = 200;
        with_type!(self.element, T => {
            Printed::from_slice(&self.extents, &self.to_vec::<T>()).precision(DIGITS).threshold(ELEMENTS).to_string()
        }, otherwise format!("{:?}", self.bytes))
    }

    fn bytes_of(&self, i: usize) -> &[u8] {
        &self.bytes[i * self.element.size_bytes..(i + 1) * self.element.size_bytes]
    }

    /// The first element whose bits differ from those in `other`; NaN equals NaN.
    pub(super) fn first_difference(&self, other: &Self) -> Option<usize> {
        let (ours, theirs) = (self.values(), other.values());
        let is_number = super::format::Format::of(self.element).is_some();
        (0..self.len()).find(|&i| {
            self.bytes_of(i) != other.bytes_of(i) && !(is_number && ours[i].is_nan() && theirs[i].is_nan())
        })
    }

    /// The part of shape `extents` at the first indices, or at the `last` ones.
    pub(super) fn corner(&self, extents: Vec<usize>, last: bool) -> Self {
        let size = self.element.size_bytes;
        let len: usize = extents.iter().product();
        let mut bytes = Vec::with_capacity(len * size);
        for i in 0..len {
            let (mut rest, mut from, mut stride) = (i, 0, 1);
            for axis in (0..extents.len()).rev() {
                let begin = if last { self.extents[axis] - extents[axis] } else { 0 };
                from += (begin + rest % extents[axis]) * stride;
                rest /= extents[axis];
                stride *= self.extents[axis];
            }
            bytes.extend_from_slice(self.bytes_of(from));
        }
        Self { element: self.element, extents, bytes }
    }

    /// The element that is broadcast to `index` of an array with `extents`.
    pub(super) fn stretched(&self, extents: &[usize], index: &[usize]) -> Option<(Vec<usize>, usize)> {
        let fits = |(&own, &other): (&usize, &usize)| own == other || own == 1;
        if self.extents.len() != extents.len() || !self.extents.iter().zip(extents).all(fits) {
            return None;
        }
        let own = self.extents.iter().zip(index).map(|(&extent, &at)| if extent == 1 { 0 } else { at });
        let own: Vec<usize> = own.collect();
        let place = own.iter().zip(&self.extents).fold(0, |place, (at, extent)| place * extent + at);
        Some((own, place))
    }

    /// The index along each axis of element `i`.
    pub(super) fn index(&self, mut i: usize) -> Vec<usize> {
        let mut index = vec![0; self.extents.len()];
        for (axis, &extent) in self.extents.iter().enumerate().rev() {
            index[axis] = i % extent;
            i /= extent;
        }
        index
    }
}

/// The elements in `bytes`, which need not be aligned.
pub(super) fn elements<T: Element>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corner_keeps_the_first_or_the_last_indices() {
        let values: Vec<f64> = (0..12).map(f64::from).collect();
        let whole = Buffer::of(ElementType::of::<f32>(), vec![3, 4], &values);
        assert_eq!(whole.corner(vec![2, 3], false).values(), [0.0, 1.0, 2.0, 4.0, 5.0, 6.0]);
        assert_eq!(whole.corner(vec![2, 3], true).values(), [5.0, 6.0, 7.0, 9.0, 10.0, 11.0]);
        assert_eq!(whole.index(7), [1, 3]);
    }

    #[test]
    fn elements_print_in_the_digits_of_their_type() {
        let tenth = |element| Buffer::of(element, vec![1], &[0.1]).text(0);
        assert_eq!(tenth(ElementType::of::<f16>()), "0.1");
        assert_eq!(tenth(ElementType::of::<f64>()), "0.1");
        assert_eq!(Buffer::of(ElementType::of::<f32>(), vec![1], &[1.0 / 3.0]).text(0), "0.33333334");
        assert_eq!(Buffer::of(ElementType::of::<f64>(), vec![1], &[f64::NAN]).text(0), "NaN");
    }

    #[test]
    fn nan_equals_nan_and_zeros_differ_by_sign() {
        let of = |values: &[f64]| Buffer::of(ElementType::of::<f32>(), vec![values.len()], values);
        assert_eq!(of(&[1.0, f64::NAN]).first_difference(&of(&[1.0, -f64::NAN])), None);
        assert_eq!(of(&[1.0, 0.0]).first_difference(&of(&[1.0, -0.0])), Some(1));
    }
}
