//! The description of each array of a comparison: a shape and the source of its values, or that it is an output.

use std::marker::PhantomData;

use super::arrays::Arrays;
use super::shrink::Range;
use dahl_core::Array;
use dahl_core::element::Element;

/// An input of shape `[usize; N]` and elements of type `T`, drawn from every distribution.
#[derive(Clone, Debug)]
pub struct Input<T, const N: usize> {
    shape: [usize; N],
    values: Values,
    exceptions: Vec<(usize, f64)>,
    element: PhantomData<T>,
}

/// An input of the tested element type with values in a range.
#[derive(Clone, Debug)]
pub struct Within<const N: usize> {
    shape: [usize; N],
    values: Values,
    exceptions: Vec<(usize, f64)>,
}

impl<const N: usize> Within<N> {
    /// The same, but for these values at these places, counted in row-major order, for every distribution: such as infinities
    /// and NaN.
    ///
    /// # Panics
    /// If the array has no such place.
    pub fn except(mut self, exceptions: &[(usize, f64)]) -> Self {
        let len = self.shape.iter().product();
        for (place, _) in exceptions {
            assert!(*place < len, "element {place} is none of the {len} elements of {:?}", self.shape);
        }
        self.exceptions.extend_from_slice(exceptions);
        self
    }
}

/// An input of integers.
#[derive(Clone, Debug)]
pub struct Below<const N: usize> {
    shape: [usize; N],
    count: u32,
}

/// An output whose shape `op_init` determines; `_` in [`numerics!`](crate::numerics).
#[derive(Clone, Debug)]
pub struct Output;

/// An output of a codelet without `op_init`.
#[derive(Clone, Debug)]
pub struct OutputOf<const N: usize> {
    shape: [usize; N],
}

/// An [`Output`] of another element type than the tested one.
#[derive(Clone, Debug)]
pub struct TypedOutput<T, const N: usize> {
    element: PhantomData<T>,
}

/// An input of the tested element type, of shape `shape`, with values from `low` to `high`.
pub fn within<const N: usize>(low: f64, high: f64, shape: [usize; N]) -> Within<N> {
    Within { shape, values: Values::Within(low, high), exceptions: Vec::new() }
}

/// An input of the tested element type with these `values`, for every distribution.
pub fn holding<const N: usize>(shape: [usize; N], values: &[f64]) -> Within<N> {
    assert_eq!(values.len(), shape.iter().product::<usize>(), "as many values as elements");
    Within { shape, values: Values::Given(values.to_vec()), exceptions: Vec::new() }
}

/// An input of integers from 0 to `count - 1`: labels, indices, masks.
pub fn below<const N: usize>(count: u32, shape: [usize; N]) -> Below<N> {
    Below { shape, count }
}

/// An input of elements of type `T`, for every tested type.
pub fn typed<T: Element, const N: usize>(shape: [usize; N]) -> Input<T, N> {
    Input { shape, values: Values::Drawn, exceptions: Vec::new(), element: PhantomData }
}

/// An output of shape `shape`, for a codelet without `op_init`.
pub fn output<const N: usize>(shape: [usize; N]) -> OutputOf<N> {
    OutputOf { shape }
}

/// An output whose shape `op_init` determines, of elements of type `T`: `typed_output::<<T as Real>::Compute, 3>()`, in
/// [`numerics!`](crate::numerics), for sums in the compute type.
pub fn typed_output<T: Element, const N: usize>() -> TypedOutput<T, N> {
    TypedOutput { element: PhantomData }
}

/// A description for the tested type `T`.
pub trait Describes<T> {
    /// The description for `T`.
    type Operand;

    /// The description for `T`.
    fn describe(self) -> Self::Operand;
}

impl<T: Element, const N: usize> Describes<T> for [usize; N] {
    type Operand = Input<T, N>;

    fn describe(self) -> Input<T, N> {
        typed(self)
    }
}

impl<T: Element, const N: usize> Describes<T> for Within<N> {
    type Operand = Input<T, N>;

    fn describe(self) -> Input<T, N> {
        Input { shape: self.shape, values: self.values, exceptions: self.exceptions, element: PhantomData }
    }
}

macro_rules! describes_itself {
    ($([$($generic:tt)*] $operand:ty),*) => {$(
        impl<T, $($generic)*> Describes<T> for $operand {
            type Operand = Self;

            fn describe(self) -> Self {
                self
            }
        }
    )*};
}

describes_itself!(
    [E, const N: usize] Input<E, N>,
    [const N: usize] Below<N>,
    [] Output,
    [E, const N: usize] TypedOutput<E, N>,
    [const N: usize] OutputOf<N>
);

/// A description of an array of type `A`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not describe an array `{A}` of the codelet",
    note = "a shape has as many extents as the array has axes; `typed::<f32, 2>([..])` is an input of another element type, `below(count, [..])` of integers"
)]
pub trait Operand<A> {
    #[doc(hidden)]
    fn spec(&self) -> Spec;
}

/// A description, without its types.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Spec {
    /// None for an output whose shape `op_init` determines.
    pub(super) extents: Option<Vec<usize>>,
    pub(super) values: Values,
    /// Values of certain elements, wherever the others are from.
    pub(super) exceptions: Vec<(usize, f64)>,
}

impl Spec {
    /// Values from one source.
    fn new(extents: Option<Vec<usize>>, values: Values) -> Self {
        Self { extents, values, exceptions: Vec::new() }
    }

    /// `values`, with the exceptions in their places.
    pub(super) fn excepted(&self, mut values: Vec<f64>) -> Vec<f64> {
        self.exceptions.iter().for_each(|&(place, value)| values[place] = value);
        values
    }
}

/// The source of values.
#[derive(Clone, Debug)]
pub(super) enum Values {
    /// Drawn from the distribution.
    Drawn,
    /// Drawn from the distribution, within a range.
    Within(f64, f64),
    /// Uniform integers below a number.
    Below(u32),
    /// These.
    Given(Vec<f64>),
    /// None: the codelet writes them.
    Output,
}

impl Values {
    /// The range of simpler values for a failing case.
    pub(super) fn range(&self) -> Range {
        match self {
            Self::Drawn => Range::Any,
            Self::Within(low, high) => Range::Within(*low, *high),
            Self::Below(count) => Range::Within(0.0, f64::from(count.saturating_sub(1))),
            Self::Given(_) | Self::Output => Range::AsItIs,
        }
    }
}

impl<T: Element, const N: usize> Operand<Array<'static, T, N>> for Input<T, N> {
    fn spec(&self) -> Spec {
        let exceptions = self.exceptions.clone();
        Spec { extents: Some(self.shape.to_vec()), values: self.values.clone(), exceptions }
    }
}

impl<T: Element, const N: usize> Operand<Array<'static, T, N>> for Below<N> {
    fn spec(&self) -> Spec {
        Spec::new(Some(self.shape.to_vec()), Values::Below(self.count))
    }
}

impl<A> Operand<A> for Output {
    fn spec(&self) -> Spec {
        Spec::new(None, Values::Output)
    }
}

impl<T: Element, const N: usize> Operand<Array<'static, T, N>> for TypedOutput<T, N> {
    fn spec(&self) -> Spec {
        Spec::new(None, Values::Output)
    }
}

impl<T: Element, const N: usize> Operand<Array<'static, T, N>> for OutputOf<N> {
    fn spec(&self) -> Spec {
        Spec::new(Some(self.shape.to_vec()), Values::Output)
    }
}

/// Descriptions of a tuple of arrays, in order.
#[diagnostic::on_unimplemented(
    message = "these operands do not fit the codelet's arrays",
    label = "`{Self}` for `{A}`",
    note = "one operand for each array, in the order of the declaration: a shape for an input, `_` for an output that `op_init` makes"
)]
pub trait Operands<A: Arrays> {
    #[doc(hidden)]
    fn specs(&self) -> Vec<Spec>;
}

macro_rules! impl_operands {
    ($($operand:ident $array:ident $index:tt),*) => {
        #[diagnostic::do_not_recommend]
        impl<$($operand: Operand<$array>, $array),*> Operands<($($array,)*)> for ($($operand,)*)
        where
            ($($array,)*): Arrays,
        {
            fn specs(&self) -> Vec<Spec> {
                vec![$(self.$index.spec()),*]
            }
        }
    };
}

impl_operands!(A X 0);
impl_operands!(A X 0, B Y 1);
impl_operands!(A X 0, B Y 1, C Z 2);
impl_operands!(A X 0, B Y 1, C Z 2, D W 3);
impl_operands!(A X 0, B Y 1, C Z 2, D W 3, E V 4);
impl_operands!(A X 0, B Y 1, C Z 2, D W 3, E V 4, F U 5);
impl_operands!(A X 0, B Y 1, C Z 2, D W 3, E V 4, F U 5, G T 6);
impl_operands!(A X 0, B Y 1, C Z 2, D W 3, E V 4, F U 5, G T 6, H S 7);
impl_operands!(A X 0, B Y 1, C Z 2, D W 3, E V 4, F U 5, G T 6, H S 7, I R 8);
impl_operands!(A X 0, B Y 1, C Z 2, D W 3, E V 4, F U 5, G T 6, H S 7, I R 8, J Q 9);
impl_operands!(A X 0, B Y 1, C Z 2, D W 3, E V 4, F U 5, G T 6, H S 7, I R 8, J Q 9, K P 10);
