//! [`Pointwise`]: a derived map whose arrays all have one real element type.
//!
//! Its declaration has only what no other derived map has: its body and its names. What they have in common is here, once,
//! and not in the code of each: the loop, and the codelet. A crate has more derived maps than maps, so this is what keeps
//! it quick to compile.

use std::marker::PhantomData;

use super::encoded_arguments::EncodedArguments;
use super::{Codelet, Kernel, Parameter, Views};
use crate::access::AccessMode;
use crate::cuda::{
    CudaArgument, CudaElement, CudaImage, CudaKernel, CudaPass, CudaTypeParameter, CudaView, pass_of_map,
    views_of,
};
use crate::element::{ElementType, Real};
use dahl_element::__private::{At, Body, map, narrow_block, narrows_in_blocks, widen};

/// The derived map by the input of index `BY`: a map of `INPUTS` arrays to one. It computes in the type `C`, and takes the
/// plain arguments `A`.
pub trait Pointwise<C: Real, A, const INPUTS: usize, const BY: usize> {
    /// What is known of it without its types.
    const MAP: PointwiseMap;

    /// The body, for one element of each array.
    fn value(inputs: [C; INPUTS], arguments: A) -> C;

    /// The values of the leaves of its expression.
    fn leaves(_arguments: A) -> Leaves {
        Leaves::new()
    }
}

/// The values of an expression's leaves.
pub type Leaves = Vec<f64>;

/// What is known of a [`Pointwise`] without its types.
#[derive(Clone, Copy, Debug)]
pub struct PointwiseMap {
    /// Its name.
    pub name: &'static str,
    /// The module of the declaration.
    pub module: &'static str,
    /// A hash of the declaration.
    pub declaration: u64,
    /// The names of the arrays that it reads.
    pub parameters: &'static [&'static str],
    /// The names of the plain arguments.
    pub arguments: &'static [&'static str],
    /// Whether an input's extent of 1 is broadcast.
    pub broadcasts: bool,
    /// Its kernel in CUDA, or why there is none.
    pub cuda: Result<PointwiseCuda, &'static str>,
    /// The parameters of the declaration that it reads.
    pub inputs: &'static [usize],
    /// The map as an expression, if it can be given so.
    pub expression: Option<&'static str>,
}

/// A kernel in CUDA for a [`Pointwise`].
#[derive(Clone, Copy, Debug)]
pub struct PointwiseCuda {
    /// Where the declaration is.
    pub place: &'static str,
    /// The device code.
    pub image: &'static CudaImage,
    /// The text of its function of one element.
    pub text: &'static str,
    /// The function.
    pub function: &'static str,
    /// The type parameter, if there is one.
    pub types: &'static [CudaTypeParameter],
    /// The type of the elements.
    pub element: CudaElement,
    /// The plain arguments.
    pub arguments: &'static [CudaArgument],
}

/// The plain arguments of a declaration, for arrays of `T`.
pub trait PointwiseArguments<T: Real> {
    /// As bodies get them: real numbers in their compute type.
    type Passed: Copy + Sync;

    /// Takes them.
    fn decode(encoded: &mut EncodedArguments<'_>) -> Self::Passed;
}

/// That there are no plain arguments.
#[derive(Debug)]
pub struct NoArguments;

impl<T: Real> PointwiseArguments<T> for NoArguments {
    type Passed = ();

    fn decode(_: &mut EncodedArguments<'_>) {}
}

/// A [`Pointwise`] with its types: it has `ARRAYS` arrays with its output.
struct Declared<P, A, T, const INPUTS: usize, const ARRAYS: usize, const BY: usize>(PhantomData<(P, A, T)>);

impl<P, A, T, const INPUTS: usize, const ARRAYS: usize, const BY: usize> Declared<P, A, T, INPUTS, ARRAYS, BY>
where
    P: Pointwise<T::Compute, A::Passed, INPUTS, BY>,
    A: PointwiseArguments<T>,
    T: Real,
{
    /// The inputs, and the output `out`.
    const PARAMETERS: [Parameter; ARRAYS] = {
        let inputs = P::MAP.parameters;
        assert!(inputs.len() == INPUTS && INPUTS + 1 == ARRAYS, "the last array is the output");
        let mut parameters = [Parameter::new("out", AccessMode::W, ElementType::of::<T>()); ARRAYS];
        let mut i = 0;
        while i < INPUTS {
            parameters[i] = Parameter::new(inputs[i], AccessMode::R, ElementType::of::<T>());
            i += 1;
        }
        parameters
    };

    const KERNEL: Kernel = Kernel::new("rust", pointwise::<P, A, T, INPUTS, BY>);

    const CUDA: Result<CudaKernel, &'static str> = match P::MAP.cuda {
        Ok(cuda) => Ok(CudaKernel::new(P::MAP.name, cuda.place, cuda.image)
            .types(cuda.types)
            .takes(&Self::VIEWS, cuda.arguments)
            .passes(&Self::PASSES)
            .element(cuda.text)),
        Err(reason) => Err(reason),
    };

    const VIEWS: [CudaView; ARRAYS] = match P::MAP.cuda {
        Ok(cuda) => views_of(cuda.element),
        Err(_) => views_of(CudaElement::Parameter(0)),
    };

    const PASSES: [CudaPass; 1] = match P::MAP.cuda {
        Ok(cuda) => [pass_of_map::<INPUTS>(cuda.function)],
        Err(_) => [pass_of_map::<INPUTS>("")],
    };
}

/// The codelet of a [`Pointwise`].
pub(crate) fn pointwise_codelet<P, A, T, const INPUTS: usize, const ARRAYS: usize, const BY: usize>()
-> &'static Codelet
where
    P: Pointwise<T::Compute, A::Passed, INPUTS, BY>,
    A: PointwiseArguments<T>,
    T: Real,
{
    const {
        let map = P::MAP;
        let codelet = Codelet::new(map.name, map.module, map.declaration)
            .parameters(&Declared::<P, A, T, INPUTS, ARRAYS, BY>::PARAMETERS)
            .arguments(map.arguments)
            .kernels(const { &[Some(Declared::<P, A, T, INPUTS, ARRAYS, BY>::KERNEL)] })
            .map();
        let codelet = if map.broadcasts { codelet.broadcasts() } else { codelet };
        match &Declared::<P, A, T, INPUTS, ARRAYS, BY>::CUDA {
            Ok(kernel) => {
                let types: &[ElementType] = const { &[ElementType::of::<T>()] };
                // Without a type parameter the kernel is of one type.
                &codelet.cuda(kernel.instance(types.split_at(kernel.types.len()).0))
            }
            Err(reason) => &codelet.no_cuda(reason),
        }
    }
}

/// The kernel of a [`Pointwise`].
fn pointwise<P, A, T, const INPUTS: usize, const BY: usize>(views: &mut Views<'_>)
where
    P: Pointwise<T::Compute, A::Passed, INPUTS, BY>,
    A: PointwiseArguments<T>,
    T: Real,
{
    let arguments = A::decode(&mut EncodedArguments::new(views.arguments_left()));
    views.for_each_run(|run| {
        let inputs = std::array::from_fn(|_| run.slice::<T>());
        map(run.slice_mut::<T>(), Elements::<P, A, T, INPUTS, BY> { inputs, arguments, map: PhantomData });
    });
}

/// A run of elements.
struct Elements<'a, P, A: PointwiseArguments<T>, T: Real, const INPUTS: usize, const BY: usize> {
    inputs: [&'a [T]; INPUTS],
    arguments: A::Passed,
    map: PhantomData<fn(P)>,
}

impl<P, A, T, const INPUTS: usize, const BY: usize> Body<T> for Elements<'_, P, A, T, INPUTS, BY>
where
    P: Pointwise<T::Compute, A::Passed, INPUTS, BY>,
    A: PointwiseArguments<T>,
    T: Real,
{
    type Wide = T::Compute;

    #[inline(always)]
    fn narrows_in_blocks<const LEVEL: u8>(at: At<LEVEL>) -> bool {
        narrows_in_blocks::<T, LEVEL>(at)
    }

    #[inline(always)]
    fn compute<const LEVEL: u8>(&self, at: At<LEVEL>, begin: usize, out: &mut [T], wide: &mut [T::Compute]) {
        let len = out.len();
        let inputs = self.inputs.map(|input| &input[begin..][..len]);
        let arguments = self.arguments;
        if narrows_in_blocks::<T, LEVEL>(at) {
            let wide = &mut wide[..len];
            for i in 0..len {
                wide[i] = P::value(inputs.map(|input| widen(at, input[i])), arguments);
            }
            narrow_block(at, wide, out);
        } else {
            for i in 0..len {
                out[i] = T::narrow(P::value(inputs.map(|input| widen(at, input[i])), arguments));
            }
        }
    }
}
